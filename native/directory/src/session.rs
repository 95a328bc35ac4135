//! What one connection is in the middle of: who it is, and which searches are under way.

use wire::ber::{Reader, tag};
use wire::ldap::{DecodeError, Operation, Request, ResultCode, oid};

use crate::answer;
use crate::operation;
use crate::operation::scan::{Paged, Scan};
use crate::server::FLUSH_BYTES;
use crate::turn::Turn;

/// Who a client has shown to be.
#[derive(Debug, Default)]
pub(crate) enum Identity {
    /// Nobody in particular.
    #[default]
    Anonymous,
    /// The configured administrator.
    Admin,
    /// An entry, by its name.
    Entry(Box<[u8]>),
}

/// TLS as a session knows it.
#[derive(Debug)]
pub(crate) struct Secured {
    /// The client's certificate, if it has shown one.
    pub(crate) certificate: Option<Box<[u8]>>,
}

/// What becomes of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It goes on.
    Continue,
    /// The client has said goodbye.
    Close,
    /// The client has been told to begin with TLS.
    StartTls,
    /// The client has been told why it has to go.
    Disconnect,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) identity: Identity,
    /// Present where TLS protects what the client says. In a box: whoever does without carries little.
    pub(crate) secured: Option<Box<Secured>>,
    /// Whether a bind has succeeded, an anonymous one too.
    pub(crate) bound: bool,
    /// Searches that are under way, in the order they take turns.
    pub(crate) scans: Vec<Scan>,
    /// Searches whose next page has not been asked for.
    pub(crate) paged: Vec<Paged>,
    /// The cookie of the youngest of them.
    pub(crate) last_cookie: u64,
}

impl Session {
    /// The longest message it takes.
    pub(crate) fn message_limit(&self, turn: &Turn<'_>) -> usize {
        let limits = &turn.settings.limits;
        if self.bound { limits.message_bytes_after_bind } else { limits.message_bytes_before_bind }
    }

    /// Answers one message, or begins to.
    #[inline]
    pub(crate) fn handle(&mut self, message: &[u8], turn: &mut Turn<'_>) -> Flow {
        let request = match Request::decode(message) {
            Ok(request) => request,
            Err(error) => return undecodable(message, error, turn),
        };
        if request.id == 0 {
            // RFC 4511 section 4.1.1.1: zero is for the server's own notices.
            answer::notice_of_disconnection(turn.out, "a request with message id 0");
            return Flow::Disconnect;
        }
        if let Some((tag, refusal)) = operation::bounds::refusal(&request.operation, &turn.settings.limits) {
            answer::refusal(turn.out, request.id, tag, &refusal);
            return Flow::Continue;
        }
        match request.operation {
            Operation::Search(search) => operation::search::start(self, &request, &search, turn),
            Operation::Unbind => {
                turn.counters.unbinds += 1;
                return Flow::Close;
            }
            Operation::Abandon(id) => {
                turn.counters.abandons += 1;
                self.scans.retain(|scan| scan.id() != id);
            }
            Operation::Extended(extended) if extended.name == oid::START_TLS => {
                return operation::start_tls::run(self, &request, &extended, turn);
            }
            _ => operation::run(self, &request, turn),
        }
        Flow::Continue
    }

    /// Whether a search is under way.
    #[inline]
    pub(crate) fn is_searching(&self) -> bool {
        !self.scans.is_empty()
    }

    /// Goes on with the searches under way, in turns, until there are enough answers for one write
    /// or the turn's time is used up.
    pub(crate) fn step(&mut self, turn: &mut Turn<'_>) {
        let mut at = 0;
        while !self.scans.is_empty() && turn.out.len() < FLUSH_BYTES && !turn.is_over() {
            at %= self.scans.len();
            let Some(scan) = self.scans.get_mut(at) else { break };
            if scan.step(turn) {
                at += 1;
            } else {
                let scan = self.scans.remove(at);
                scan.finish(self, turn);
            }
        }
        // Who comes last in this step comes first in the next.
        let count = self.scans.len();
        if count > 1 {
            self.scans.rotate_left(at % count);
        }
    }

    /// Lets go of every search.
    pub(crate) fn end(&mut self) {
        self.scans = Vec::new();
        self.paged = Vec::new();
    }
}

/// RFC 4511 section 4.1.1: what cannot be parsed ends the connection. A message whose frame is
/// sound and that says something undefined is answered, so that the client learns which it was.
fn undecodable(message: &[u8], error: DecodeError, turn: &mut Turn<'_>) -> Flow {
    let answerable = match error {
        DecodeError::BadValue { .. }
        | DecodeError::FilterTooDeep
        | DecodeError::UnknownFilter(_)
        | DecodeError::BadSubstrings => answer_address(message),
        DecodeError::Ber(_) | DecodeError::UnknownOperation(_) | DecodeError::BadMessageId(_) => None,
    };
    match answerable {
        Some((id, tag)) => {
            let code = match error {
                DecodeError::FilterTooDeep => ResultCode::ADMIN_LIMIT_EXCEEDED,
                _ => ResultCode::PROTOCOL_ERROR,
            };
            answer::result(turn.out, id, tag, code, &error.to_string());
            Flow::Continue
        }
        None => {
            answer::notice_of_disconnection(turn.out, &error.to_string());
            Flow::Disconnect
        }
    }
}

/// The id and the tag that an answer to this message carries.
fn answer_address(message: &[u8]) -> Option<(i32, u8)> {
    let mut fields = Reader::new(message).sequence().ok()?;
    let id = i32::try_from(fields.integer(tag::INTEGER).ok()?).ok().filter(|id| *id > 0)?;
    Some((id, answer::tag_for(fields.peek()?)?))
}
