//! Splits received bytes into answers.

use wire::ldap::frame::message_length;
use wire::ldap::{Reply, Response};

use super::SeedingError;

/// Longer than any answer to a write, whose only long part is a diagnostic message.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// The buffer size: a few hundred answers.
const SPACE: usize = 64 << 10;

/// Received bytes that have not been read.
#[derive(Debug)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    filled: usize,
    /// The maximum length of an answer.
    longest: usize,
}

impl Default for Inbox {
    fn default() -> Self {
        Self { bytes: Vec::new(), filled: 0, longest: MAX_ANSWER_BYTES }
    }
}

impl Inbox {
    /// Allows answers that are `bytes` longer, for a group with all its members.
    pub(super) fn expect(&mut self, bytes: usize) {
        self.longest = MAX_ANSWER_BYTES.saturating_add(bytes);
    }

    /// The room for received bytes, which is never empty.
    pub(super) fn space(&mut self) -> &mut [u8] {
        if self.bytes.len() - self.filled < SPACE {
            self.bytes.resize(self.filled + SPACE, 0);
        }
        &mut self.bytes[self.filled..]
    }

    /// Whether all received bytes have been read.
    pub(super) fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Notes the number of bytes that were written to [`Self::space`].
    pub(super) fn came(&mut self, count: usize) {
        self.filled += count;
    }

    /// Reads every complete answer.
    pub(super) fn take(
        &mut self,
        server: &str,
        mut read: impl FnMut(&Response<'_>) -> Result<(), SeedingError>,
    ) -> Result<(), SeedingError> {
        let mut at = 0;
        loop {
            let rest = &self.bytes[at..self.filled];
            let length = message_length(rest, self.longest);
            let Some(length) = length.map_err(|error| not_ldap(server, &error.to_string()))? else {
                break;
            };
            let response = Response::decode(&rest[..length]);
            let response = response.map_err(|error| not_ldap(server, &error.to_string()))?;
            if response.id == 0 {
                return Err(disconnection_notice(server, &response));
            }
            read(&response)?;
            at += length;
        }
        self.bytes.copy_within(at..self.filled, 0);
        self.filled -= at;
        Ok(())
    }
}

pub(super) fn not_ldap(server: &str, what: &str) -> SeedingError {
    SeedingError::NotLdap { server: server.to_owned(), what: what.to_owned() }
}

/// A notice of disconnection (RFC 4511 section 4.4.1), the only unsolicited message.
fn disconnection_notice(server: &str, response: &Response<'_>) -> SeedingError {
    let notice = match response.reply {
        Reply::Done { outcome, .. } => format!(", saying {}", super::error::answer(&outcome)),
        _ => String::new(),
    };
    SeedingError::Closed { server: server.to_owned(), notice }
}
