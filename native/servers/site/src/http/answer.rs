//! Writes the answers of the site: status line, header lines, body.

use http::Answer;

use crate::page::{PAGE_BYTES, push_joined};

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// An answer with a body of known length that `write` appends.
#[inline]
fn sized(answer: &mut Answer<'_>, status: &str, kind: &str, length: usize, write: impl FnOnce(&mut Vec<u8>)) {
    answer.head(status, &[("Content-Type: ", kind), ("Cache-Control: ", "private, no-store")]);
    answer.length(length as u64);
    if !answer.options.head_only {
        write(answer.out);
    }
}

/// The personalized page; `page` must append exactly the fixed size.
#[inline]
pub(crate) fn page(answer: &mut Answer<'_>, page: impl FnOnce(&mut Vec<u8>)) {
    sized(answer, "200 OK", HTML, PAGE_BYTES, page);
}

/// A page of any size.
pub(crate) fn html(answer: &mut Answer<'_>, status: &str, write: impl FnOnce(&mut Vec<u8>)) {
    let mut body = Vec::new();
    write(&mut body);
    sized(answer, status, HTML, body.len(), |out| out.extend_from_slice(&body));
}

/// A picture, which clients may cache for a day.
pub(crate) fn image(answer: &mut Answer<'_>, image: &[u8], tag: &str) {
    answer.head(
        "200 OK",
        &[("Content-Type: ", "image/gif"), ("Cache-Control: ", "public, max-age=86400"), ("ETag: ", tag)],
    );
    answer.length(image.len() as u64);
    if !answer.options.head_only {
        answer.out.extend_from_slice(image);
    }
}

/// The client has the picture already (RFC 9110 section 15.4.5).
pub(crate) fn not_modified(answer: &mut Answer<'_>, tag: &str) {
    answer.head("304 Not Modified", &[("Cache-Control: ", "public, max-age=86400"), ("ETag: ", tag)]);
    answer.end();
}

/// Tells the client the number of its new user; a browser gets a page.
pub(crate) fn created(answer: &mut Answer<'_>, id: u64, browser: bool) {
    let cookie = cookie(id);
    let mut body = Vec::new();
    let kind = if browser {
        push_joined(&mut body, id);
        HTML
    } else {
        body.extend_from_slice(format!("user {id}\n").as_bytes());
        TEXT
    };
    answer.head("201 Created", &[("Content-Type: ", kind), ("Location: ", "/"), ("Set-Cookie: ", &cookie)]);
    answer.length(body.len() as u64);
    answer.out.extend_from_slice(&body);
}

/// Redirects a browser to `/`, with the cookie of this user.
pub(crate) fn entered(answer: &mut Answer<'_>, id: u64) {
    answer.head("303 See Other", &[("Location: ", "/"), ("Set-Cookie: ", &cookie(id))]);
    answer.length(0);
}

/// The update is stored. A browser is redirected to its page, so that reloading does not send the form again
/// (RFC 9110 section 15.4.4).
pub(crate) fn updated(answer: &mut Answer<'_>, browser: bool) {
    if browser {
        answer.head("303 See Other", &[("Location: ", "/")]);
        answer.length(0);
    } else {
        answer.head("204 No Content", &[]);
        answer.end();
    }
}

fn cookie(id: u64) -> String {
    format!("user={id}; Path=/; HttpOnly; SameSite=Lax")
}
