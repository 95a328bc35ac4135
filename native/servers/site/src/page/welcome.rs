//! Small pages for clients without a user. They do not count as personalized pages.

use super::STYLE;
use super::html::Html;

const GROUND: &str = "--ground:#eef3f8;--accent:#1f4e79;--ink:#ffffff";

/// Asks a client to join. `unknown` is the user in the browser's cookie, if there is one.
pub(crate) fn push_welcome(out: &mut Vec<u8>, unknown: Option<&str>) {
    let mut html = Html::new(out);
    head(&mut html, "Welcome");
    html.raw("<header><h1>Welcome</h1><p>");
    match unknown {
        Some(user) => {
            html.raw("There is no user ").text(user, 40).raw(" here. Join, or come back as another.")
        }
        None => html.raw("This site makes a page for you alone. It does not know you yet."),
    };
    html.raw(
        "</p></header>\n<main><form method=post action=/users><h2>Join</h2>\
         <p><label>Name <input name=name maxlength=80 required></label></p>\
         <p><label>City <input name=city maxlength=60></label></p><button>Join</button></form>\n\
         <form method=get action=/enter><h2>Come back</h2>\
         <p><label>Your number <input name=user type=number min=0 required></label></p>\
         <button>Enter</button></form></main></body></html>\n",
    );
}

/// Tells a browser the number of its user.
pub(crate) fn push_joined(out: &mut Vec<u8>, id: u64) {
    let mut html = Html::new(out);
    head(&mut html, "Welcome");
    html.raw("<header><h1>Welcome</h1><p>You are user ").number(id);
    html.raw(".</p></header>\n<main><section><p><a href=\"/\">To your page</a></p></section></main></body></html>\n");
}

fn head(html: &mut Html<'_>, title: &str) {
    html.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=utf-8>");
    html.raw("<meta name=viewport content=\"width=device-width\"><title>").raw(title);
    html.raw("</title><style>\n").raw(STYLE).raw("</style></head>\n<body style=\"").raw(GROUND).raw("\">\n");
}
