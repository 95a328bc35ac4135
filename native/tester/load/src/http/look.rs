//! Looking for texts in answers.

use memchr::memmem;

use crate::compile_error::Result;

/// A text to look for, prepared.
pub(super) type Finder = Box<memmem::Finder<'static>>;

pub(super) fn finder(text: &str) -> Result<Finder> {
    if text.is_empty() {
        return Err("\"before\" and \"until\" must not be empty".into());
    }
    Ok(Box::new(memmem::Finder::new(text.as_bytes()).into_owned()))
}

/// What an answer lacks: the number of an expected header line, of a text, or of a capture.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lacks {
    Header(usize),
    Owner,
    Text(usize),
    Fresh(usize),
    Capture(usize),
    Length,
    /// Its end: more came than its head says.
    End,
}

/// What stands between two texts.
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
