//! A request's body, read completely and up to a limit.

use wire::http::{Body, Framing};

/// A body that is being received.
#[derive(Debug)]
pub struct Incoming {
    body: Body,
    content: Vec<u8>,
    /// Received bytes, including framing.
    received: usize,
}

impl Incoming {
    /// Begins to receive a body. Fails if the announced length exceeds `most` bytes.
    pub(crate) fn new(framing: Framing, most: usize) -> Result<Self, (&'static str, String)> {
        match framing {
            Framing::Length(length) if length > most as u64 => Err(too_large(most)),
            _ => Ok(Self { body: Body::new(framing), content: Vec::new(), received: 0 }),
        }
    }

    /// Consumes bytes; returns their number. An error consists of a status and a sentence. After an error,
    /// the client's further bytes cannot be interpreted.
    pub(crate) fn feed(&mut self, bytes: &[u8], most: usize) -> Result<usize, (&'static str, String)> {
        let mut consumed = 0;
        while !self.body.is_done() {
            let rest = bytes.get(consumed..).unwrap_or_default();
            let progress = self.body.feed(rest).map_err(|error| ("400 Bad Request", error.to_string()))?;
            let (start, end) = progress.content;
            self.content.extend_from_slice(rest.get(start..end).unwrap_or_default());
            self.received += progress.consumed;
            // `received` includes the framing. A body in chunks of two bytes takes 3.5 times the bytes of its
            // content.
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

    pub(crate) fn is_done(&self) -> bool {
        self.body.is_done()
    }

    /// The content, once the body is complete.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    pub fn into_content(self) -> Vec<u8> {
        self.content
    }
}

fn too_large(most: usize) -> (&'static str, String) {
    ("413 Content Too Large", format!("a body of over {most} bytes"))
}
