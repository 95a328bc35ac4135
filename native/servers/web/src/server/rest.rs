//! An answer's body, of which only one piece at a time is in memory.

use std::io::{self, ErrorKind};
use std::rc::Rc;

use http::Outgoing;
use net::{FLUSH_BYTES, FilePiece};

use crate::cgi::Output;
use crate::dynamic::Text;
use crate::files::OpenedFile;

/// The unsent rest of a body.
#[derive(Debug)]
pub(super) enum Rest {
    /// Bytes of a file.
    File {
        file: Rc<OpenedFile>,
        at: u64,
        end: u64,
    },
    /// Text that is generated while it is sent.
    Text(Text),
    /// A page that was generated completely.
    Page {
        page: Vec<u8>,
        at: usize,
    },
    Output {
        output: Output,
        at: usize,
    },
}

// Boxed, so that a connection without an answer is small.
impl Outgoing for Box<Rest> {
    fn file(&mut self) -> Option<FilePiece<'_>> {
        match &mut **self {
            Rest::File { file, at, end } => Some(FilePiece { file: file.descriptor(), at, end: *end }),
            Rest::Text(_) | Rest::Page { .. } | Rest::Output { .. } => None,
        }
    }

    fn push(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        (**self).push(out)
    }
}

impl Rest {
    /// Appends a piece. Returns whether the piece was the last; fails if a file ends too early or cannot be
    /// read.
    #[inline]
    pub(super) fn push(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        match self {
            Self::File { file, at, end } => {
                while *at < *end {
                    let count = file.push(out, *at, *end, FLUSH_BYTES)?;
                    if count == 0 {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                    *at += count as u64;
                    if out.len() >= FLUSH_BYTES {
                        break;
                    }
                }
                Ok(at == end)
            }
            Self::Text(text) => Ok(text.push(out, FLUSH_BYTES)),
            Self::Page { page, at } => Ok(slice(page, at, out)),
            Self::Output { output, at } => Ok(slice(output.document().unwrap_or_default(), at, out)),
        }
    }
}

fn slice(bytes: &[u8], at: &mut usize, out: &mut Vec<u8>) -> bool {
    let end = bytes.len().min(*at + FLUSH_BYTES);
    out.extend_from_slice(bytes.get(*at..end).unwrap_or_default());
    *at = end;
    end == bytes.len()
}
