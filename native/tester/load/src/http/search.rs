//! Searches texts in answers.

use memchr::memmem;

use crate::compile_error::Result;

/// A text to search for, prepared.
pub(super) type Finder = Box<memmem::Finder<'static>>;

pub(super) fn finder(text: &str) -> Result<Finder> {
    if text.is_empty() {
        return Err("\"before\" and \"until\" must not be empty".into());
    }
    Ok(Box::new(memmem::Finder::new(text.as_bytes()).into_owned()))
}

/// The missing part of an answer; numbers are indexes of expected header lines, texts or captures.
#[derive(Debug, Clone, Copy)]
pub(super) enum Missing {
    Header(usize),
    Owner,
    Text(usize),
    Fresh(usize),
    Capture(usize),
    Length,
    /// The end of the body: more bytes arrived than the head announces.
    End,
}

/// The bytes between two texts.
#[inline]
pub(super) fn between<'b>(
    body: &'b [u8],
    before: &memmem::Finder<'_>,
    until: &memmem::Finder<'_>,
) -> Option<&'b [u8]> {
    let start = before.find(body)? + before.needle().len();
    let end = until.find(&body[start..])?;
    Some(&body[start..start + end])
}
