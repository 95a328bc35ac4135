//! The form for changing preferences.

use super::articles::LANGUAGES;
use super::html::Html;
use super::{Chosen, room};
use crate::upd::Person;

/// A browser sends nothing for a box that is not ticked. So a hidden field precedes the boxes, and the last
/// value counts.
pub(super) fn push(
    html: &mut Html<'_>,
    person: &Person<'_>,
    background: &str,
    accent: &str,
    chosen: &Chosen,
) {
    html.raw("<form method=post action=/preferences><h2>Your page</h2>\n<label>Ground <input type=color name=background value=");
    html.raw(background).raw("></label><label>Accent <input type=color name=accent value=").raw(accent);
    html.raw("></label>\n<label>City <input name=city maxlength=60 value=\"").text(person.city, room::CITY);
    html.raw("\"></label>\n<label>Language <select name=language>");
    languages(html, person.language);
    html.raw(
        "</select></label><p>Sections, in the order of your choice</p><input type=hidden name=sections>\n",
    );
    for (section, ticked) in chosen.all() {
        html.raw("<label><input type=checkbox name=sections value=").raw(section.key);
        html.raw(if ticked { " checked>" } else { ">" }).raw(section.title).raw("</label>");
    }
    html.raw(
        "\n<input type=hidden name=newsletter value=0><p><label><input type=checkbox name=newsletter value=1",
    );
    html.raw(if person.newsletter { " checked>" } else { ">" });
    html.raw("Newsletter</label></p><button>Save</button></form>\n");
}

fn languages(html: &mut Html<'_>, language: &str) {
    if !LANGUAGES.iter().any(|(code, _)| *code == language) {
        html.raw("<option selected>").text(language, room::LANGUAGE);
    }
    for (code, name) in LANGUAGES {
        html.raw("<option value=").raw(code).raw(if code == language { " selected>" } else { ">" }).raw(name);
    }
}
