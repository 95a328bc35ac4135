//! A request's body, taken in whole and up to a limit.

use wire::http::{Body, Framing};

/// A body on its way.
#[derive(Debug)]
pub struct Incoming {
    body: Body,
    content: Vec<u8>,
    /// Bytes so far, framing included.
    received: usize,
}

impl Incoming {
    /// A body about to begin; refused where it says that it has more than `most` bytes.
    pub(crate) fn new(framing: Framing, most: usize) -> Result<Self, (&'static str, String)> {
        match framing {
            Framing::Length(length) if length > most as u64 => Err(too_large(most)),
            _ => Ok(Self { body: Body::new(framing), content: Vec::new(), received: 0 }),
        }
    }

    /// Takes the next bytes and says how many; [`is_done`](Self::is_done) says whether that was all. An
    /// error is a status and a sentence: the client cannot be followed any further.
    pub(crate) fn feed(&mut self, bytes: &[u8], most: usize) -> Result<usize, (&'static str, String)> {
        let mut consumed = 0;
        while !self.body.is_done() {
            let rest = bytes.get(consumed..).unwrap_or_default();
            let progress = self.body.feed(rest).map_err(|error| ("400 Bad Request", error.to_string()))?;
            let (start, end) = progress.content;
            self.content.extend_from_slice(rest.get(start..end).unwrap_or_default());
            self.received += progress.consumed;
            // A chunked body may come in four times as many bytes: room for chunks of two.
            if self.content.len() > most || self.received > 4 * most {
                return Err(too_large(most));
            }
            if progress.consumed == 0 {
                break;
            }
            consumed += progress.consumed;
        }
        Ok(consumed)
    }

    /// Whether all of it is there.
    pub(crate) fn is_done(&self) -> bool {
        self.body.is_done()
    }

    /// What it says, once it is all there.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// The same, to keep.
    pub fn into_content(self) -> Vec<u8> {
        self.content
    }
}

fn too_large(most: usize) -> (&'static str, String) {
    ("413 Content Too Large", format!("a body of over {most} bytes"))
}
