//! Appends HTML piece by piece.

use std::io::Write as _;

use super::escape::push_escaped;

/// A page that is being written at the end of a buffer.
pub(super) struct Html<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
}

impl<'o> Html<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        let start = out.len();
        Self { out, start }
    }

    /// Appends markup, or text that needs no escape.
    #[inline]
    pub(super) fn raw(&mut self, html: &str) -> &mut Self {
        self.out.extend_from_slice(html.as_bytes());
        self
    }

    /// Appends a person's text, escaped, in at most this many bytes.
    #[inline]
    pub(super) fn text(&mut self, text: &str, most: usize) -> &mut Self {
        push_escaped(self.out, text, most);
        self
    }

    pub(super) fn number(&mut self, number: impl std::fmt::Display) -> &mut Self {
        // Writing to a Vec cannot fail.
        let _ = write!(self.out, "{number}");
        self
    }

    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Bytes written so far.
    pub(super) fn len(&self) -> usize {
        self.out.len() - self.start
    }
}
