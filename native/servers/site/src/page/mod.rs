//! The personalized page, which has exactly the size given in paper 002 for every person.

mod articles;
mod colour;
mod date;
mod escape;
mod form;
mod html;
mod welcome;

use self::articles::{ARCHIVE, SECTIONS, Section};
use self::colour::ink_on;
pub(crate) use self::colour::is_colour;
use self::date::push_day;
pub use self::escape::push_escaped;
use self::html::Html;
pub(crate) use self::welcome::{push_joined, push_welcome};
use crate::upd::{Person, strings};

/// "Each .asp file accessed will be 8,290 bytes long" (paper 002, Table 12).
pub const PAGE_BYTES: usize = 8_290;

/// The most sections on a page, and so the most that a person may choose.
pub(crate) const MOST_SECTIONS: usize = 10;
/// The most interests, and the most stocks, on a page.
pub(crate) const MOST_ITEMS: usize = 8;

/// The room of each property on the page, in bytes of HTML. Longer values are cut on the page, not in the
/// database.
mod room {
    pub(super) const GIVEN: usize = 192;
    pub(super) const NAME: usize = 256;
    pub(super) const CITY: usize = 128;
    pub(super) const COUNTRY: usize = 8;
    pub(super) const LANGUAGE: usize = 16;
    pub(super) const OCCUPATION: usize = 128;
    pub(super) const COMPANY: usize = 128;
    pub(super) const ITEM: usize = 24;
}

const STYLE: &str = include_str!("style.css");

/// The end of a page; the archive text before it fills the remaining space.
const END: &str = "</article></div></main></body></html>\n";
/// The mark of a cut in the archive text.
const MORE: &str = "&hellip;";

/// Appends the page of `person`: exactly [`PAGE_BYTES`] bytes of UTF-8.
pub fn push_page(out: &mut Vec<u8>, person: &Person<'_>) {
    let background = colour_or(person.background, "#ffffff");
    let accent = colour_or(person.accent, "#444444");
    let chosen = Chosen::of(person);
    let mut html = Html::new(out);
    head(&mut html, person, background, accent);
    facts(&mut html, person, &chosen);
    html.raw("<nav>");
    for image in ["1", "2", "3", "4"] {
        html.raw("<img src=/image/").raw(image).raw(".gif width=200 height=112 alt=\"\">");
    }
    // The right column comes first: the archive, which fills the page, has to be last.
    html.raw("</nav>\n<main><div>");
    items(&mut html, "Watch list", person.stocks);
    items(&mut html, "Interests", person.interests);
    form::push(&mut html, person, background, accent, &chosen);
    html.raw("</div>\n<div>");
    for section in chosen.sections() {
        html.raw("<article id=").raw(section.key).raw("><h2>").raw(section.title).raw("</h2><p>");
        html.raw(section.text).raw("</article>\n");
    }
    html.raw("<article><h2>From the archive</h2><p>");
    fill(&mut html);
    html.raw(END);
}

fn colour_or<'a>(colour: &'a str, other: &'a str) -> &'a str {
    if is_colour(colour) { colour } else { other }
}

fn head(html: &mut Html<'_>, person: &Person<'_>, background: &str, accent: &str) {
    html.raw("<!doctype html>\n<html lang=\"").text(person.language, room::LANGUAGE);
    html.raw("\"><head><meta charset=utf-8><meta name=viewport content=\"width=device-width\"><title>");
    html.text(person.given, room::GIVEN).raw("</title><style>\n").raw(STYLE).raw("</style></head>\n");
    html.raw("<body data-user=\"").number(person.id);
    html.raw("\" data-background=\"").raw(background).raw("\" data-accent=\"").raw(accent);
    html.raw("\" data-city=\"").text(person.city, room::CITY);
    html.raw("\" data-language=\"").text(person.language, room::LANGUAGE);
}

/// Writes the person's properties as HTML attributes, by which clients verify the page, and as a greeting.
fn facts(html: &mut Html<'_>, person: &Person<'_>, chosen: &Chosen) {
    html.raw("\" data-sections=\"");
    for (n, section) in chosen.sections().enumerate() {
        html.raw(if n > 0 { " " } else { "" }).raw(section.key);
    }
    let accent = colour_or(person.accent, "#444444");
    html.raw("\" data-newsletter=\"").raw(if person.newsletter { "1" } else { "0" });
    html.raw("\" style=\"--ground:").raw(colour_or(person.background, "#ffffff"));
    html.raw(";--accent:").raw(accent).raw(";--ink:").raw(ink_on(accent)).raw("\">\n");
    html.raw("<header><h1>Hello, ").text(person.given, room::GIVEN).raw("</h1>\n<p>");
    html.raw(articles::welcome(person.language)).raw("</p><p>");
    html.text(person.name, room::NAME).raw(" &middot; ");
    if !person.occupation.is_empty() {
        html.text(person.occupation, room::OCCUPATION).raw(" &middot; ");
    }
    if !person.company.is_empty() {
        html.text(person.company, room::COMPANY).raw(" &middot; ");
    }
    html.text(person.city, room::CITY);
    if !person.country.is_empty() {
        html.raw(", ").text(person.country, room::COUNTRY);
    }
    html.raw(" &middot; ").number(person.visits).raw(" visits, the last on ");
    push_day(html.bytes(), person.last_visit);
    html.raw("</p></header>\n");
}

fn items(html: &mut Html<'_>, title: &str, json: &str) {
    html.raw("<section><h2>").raw(title).raw("</h2>");
    let mut none = true;
    for item in strings(json).take(MOST_ITEMS) {
        none = false;
        html.raw("<i>").text(&item, room::ITEM).raw("</i>");
    }
    html.raw(if none { "<p>Nothing yet.</p></section>\n" } else { "</section>\n" });
}

/// Fills the page with archive text: whole words, then spaces.
fn fill(html: &mut Html<'_>) {
    let full = PAGE_BYTES.saturating_sub(END.len());
    // The text is repeated if there is space for all of it.
    while html.len() + ARCHIVE.len() + MORE.len() <= full {
        html.raw(ARCHIVE);
    }
    let room = full.saturating_sub(html.len() + MORE.len());
    let words = ARCHIVE.get(..room).and_then(|text| text.rfind(' ')).unwrap_or(0);
    html.raw(ARCHIVE.get(..words).unwrap_or_default());
    if html.len() + MORE.len() <= full {
        html.raw(MORE);
    }
    let spaces = full.saturating_sub(html.len());
    let end = html.bytes().len() + spaces;
    html.bytes().resize(end, b' ');
}

/// The sections a person has chosen, in their order, each once.
#[derive(Debug, Default)]
struct Chosen {
    places: [u8; MOST_SECTIONS],
    count: usize,
}

impl Chosen {
    fn of(person: &Person<'_>) -> Self {
        let mut chosen = Self::default();
        for key in strings(person.sections) {
            let Some(place) = SECTIONS.iter().position(|section| section.key == key) else { continue };
            let Some(free) = chosen.places.get_mut(chosen.count) else { break };
            *free = place as u8;
            if !chosen.has(place) {
                chosen.count += 1;
            }
        }
        chosen
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        self.places.iter().take(self.count).map(|&place| usize::from(place))
    }

    fn has(&self, place: usize) -> bool {
        self.places().any(|chosen| chosen == place)
    }

    fn sections(&self) -> impl Iterator<Item = &'static Section> {
        self.places().filter_map(|place| SECTIONS.get(place))
    }

    /// The chosen sections, then all other sections.
    fn all(&self) -> impl Iterator<Item = (&'static Section, bool)> {
        let others = (0..SECTIONS.len()).filter(|&place| !self.has(place));
        let others = others.filter_map(|place| SECTIONS.get(place)).map(|section| (section, false));
        self.sections().map(|section| (section, true)).chain(others)
    }
}

#[cfg(test)]
mod tests;
