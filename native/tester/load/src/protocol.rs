//! The interface between lanes and a protocol.
//!
//! Lanes, schedules, recorders and the driver handle connections, times and bytes; a [`Protocol`] gives the
//! bytes their meaning. Each thread has its own protocol, which may keep scratch space and caches.

use crate::fill::Preparation;
use crate::record::failure::Failure;
use crate::record::report::Report;

/// The protocol of an engine's lanes. A lane has one request in flight.
pub trait Protocol: Send + 'static {
    /// Whether answers are processed in batches, which pays off for small answers ([`crate::drive::batch`]).
    const BATCHES: bool = true;
    /// Whether programs may have [`crate::program::Phases`]; lanes of other protocols skip the check.
    const PHASES: bool = false;

    /// A compiled request step.
    type Request: Send + Sync + 'static;
    /// A lane's state between requests.
    type Lane: Default + Send;

    /// Resets a lane's state for a new connection.
    fn connected(&mut self, lane: &mut Self::Lane);

    /// Whether the request can be encoded, so that it is worth waiting for a ticket.
    fn can_ask(&self, _request: &Self::Request, _lane: &Self::Lane) -> bool {
        true
    }

    /// Draws rows and values for the next requests; nothing is sent.
    fn prepare(&mut self, preparation: &Preparation, lane: &mut Self::Lane) -> Encoded;

    /// Appends a request.
    fn encode(&mut self, request: &Self::Request, lane: &mut Self::Lane, out: &mut Vec<u8>) -> Encoded;

    /// Sets the number of a lane's next request, unique on a shared connection.
    fn number(&mut self, _lane: &mut Self::Lane, _number: u8) {}

    /// The first message in `bytes`, on a shared connection; `None` if it is incomplete.
    fn next_message(&self, _bytes: &[u8]) -> Result<Option<Message>, Failure> {
        Err(Failure::Malformed)
    }

    /// Rewinds the list of a repeat; returns the number of its values.
    fn count(&mut self, list: usize, lane: &mut Self::Lane) -> u64;

    /// Called when the connection for the current request could not be opened. The request was not sent.
    fn unsent(&mut self, _lane: &mut Self::Lane) {}

    /// Appends the next part of a request, possibly for a new connection: see [`Received::More`].
    fn encode_more(&mut self, _request: &Self::Request, _lane: &mut Self::Lane, _out: &mut Vec<u8>) {}

    /// Reads the received bytes that are not consumed yet.
    fn receive(&mut self, request: &Self::Request, lane: &mut Self::Lane, bytes: &[u8]) -> Received;

    /// Called when the connection has ended before the answer to `request` was complete.
    fn ended(&mut self, _request: &Self::Request, _lane: &mut Self::Lane) -> Received {
        Received::Broken(Failure::Closed)
    }

    /// Whether the connection can be used again after a complete answer.
    fn keeps_connection(&self, _lane: &Self::Lane) -> bool {
        true
    }

    /// Describes the request in flight and its answer, if there is one.
    fn describe(&mut self, _request: &Self::Request, _lane: &Self::Lane, _answer: Option<&[u8]>) -> Report {
        Report::default()
    }

    /// Exclusive rows that are lost: a change to them was never answered, so they are not dealt again.
    fn lost_rows(&self) -> u64 {
        0
    }

    /// Exclusive rows that were released, or lost for good, since the last call.
    fn take_returned_rows(&mut self) -> u64 {
        0
    }

    /// Releases the exclusive rows of a lane that has ended.
    fn leave(&mut self, _lane: &mut Self::Lane) {}

    /// Appends the message that announces a close, if the protocol has one.
    fn farewell(&mut self, lane: &mut Self::Lane, out: &mut Vec<u8>);
}

/// One message on a shared connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    pub length: usize,
    /// The id of the request that the message answers.
    pub number: i32,
    /// Whether this is the last message for the request.
    pub last: bool,
    /// Whether the message announces that the target is about to close the connection.
    pub goodbye: bool,
}

/// The result of encoding a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoded {
    Send,
    /// There is no request this time, and no operation takes place.
    Skip,
    /// The request cannot be encoded: a captured value is missing.
    Missing,
    Exhausted,
    /// Other lanes hold all rows that are left.
    Held,
}

/// The result of reading received bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// The answer is incomplete; the first `consumed` bytes are processed.
    Partial { consumed: usize },
    /// This part of the answer is complete; the next part needs a request.
    More { consumed: usize },
    Done {
        consumed: usize,
        /// The failure, if the answer is wrong.
        failure: Option<Failure>,
        /// Whether the rest of the pass depends on a right answer: the lane restarts.
        fatal: bool,
    },
    /// The connection cannot be used any more.
    Broken(Failure),
}
