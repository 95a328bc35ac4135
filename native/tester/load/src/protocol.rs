//! The interface between lanes and a protocol.
//!
//! Lanes, schedules, recorders and the driver handle connections, times and bytes; a [`Protocol`] gives
//! the bytes their meaning. Each thread has a protocol of its own, so it may keep scratch space and caches.

use crate::fill::Preparation;
use crate::record::failure::Failure;
use crate::record::told::Told;

/// The protocol of an engine's lanes: one request of each at a time.
pub trait Protocol: Send + 'static {
    /// Whether lanes are served together: worth it where answers are small ([`crate::drive::batch`]).
    const BATCHES: bool = true;
    /// Whether programs may have [`crate::program::Phases`]; lanes of other protocols do not look.
    const PHASES: bool = false;

    /// One compiled request step.
    type Request: Send + Sync + 'static;
    /// What a lane remembers between requests.
    type Lane: Default + Send;

    /// Resets what a lane remembers of its connection: this one is new.
    fn connected(&mut self, lane: &mut Self::Lane);

    /// Whether the request can be made, so that it is worth waiting for a ticket.
    fn can_ask(&self, _request: &Self::Request, _lane: &Self::Lane) -> bool {
        true
    }

    /// Chooses what the requests after it are about; nothing is sent.
    fn prepare(&mut self, preparation: &Preparation, lane: &mut Self::Lane) -> Encoded;

    /// Appends a request.
    fn encode(&mut self, request: &Self::Request, lane: &mut Self::Lane, out: &mut Vec<u8>) -> Encoded;

    /// Gives the next request of a lane this number: others have numbers of their own on the same connection.
    fn number(&mut self, _lane: &mut Self::Lane, _number: u8) {}

    /// The first message in `bytes`, where connections are shared; `None` while it is not all there.
    fn next_message(&self, _bytes: &[u8]) -> Result<Option<Message>, Failure> {
        Err(Failure::Malformed)
    }

    /// How many values the list of a repeat has, which come from the first on now.
    fn count(&mut self, list: usize, lane: &mut Self::Lane) -> u64;

    /// Called when the connection for the current request could not be opened. The request was not sent.
    fn unsent(&mut self, _lane: &mut Self::Lane) {}

    /// Appends the next part of a request that goes on, over a new connection where this one ended: see
    /// [`Received::More`].
    fn encode_more(&mut self, _request: &Self::Request, _lane: &mut Self::Lane, _out: &mut Vec<u8>) {}

    /// Reads what has come for `request` so far and has not been consumed.
    fn receive(&mut self, request: &Self::Request, lane: &mut Self::Lane, bytes: &[u8]) -> Received;

    /// The connection has ended while `request` waited for the rest of its answer.
    fn ended(&mut self, _request: &Self::Request, _lane: &mut Self::Lane) -> Received {
        Received::Broken(Failure::Closed)
    }

    /// Whether the connection can be used again after a complete answer.
    fn keeps_connection(&self, _lane: &Self::Lane) -> bool {
        true
    }

    /// Tells the request in flight and its answer, if there was one.
    fn tell(&mut self, _request: &Self::Request, _lane: &Self::Lane, _answer: Option<&[u8]>) -> Told {
        Told::default()
    }

    /// Exclusive rows that are lost: a change to them was never answered, so they are not dealt again.
    fn lost_rows(&self) -> u64 {
        0
    }

    /// Exclusive rows that were released, or lost for good, since the last call.
    fn take_rows_back(&mut self) -> u64 {
        0
    }

    /// Releases the exclusive rows of a lane that has ended.
    fn leave(&mut self, _lane: &mut Self::Lane) {}

    /// Appends the message that announces a close, if the protocol has one.
    fn farewell(&mut self, lane: &mut Self::Lane, out: &mut Vec<u8>);
}

/// One message of a connection that several lanes ask over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    pub length: usize,
    /// The request that it answers.
    pub number: i32,
    /// Whether it is the last for that request.
    pub last: bool,
    /// Whether it announces that the target is about to close.
    pub goodbye: bool,
}

/// Whether a step sends a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoded {
    /// It is to be sent.
    Send,
    /// There is nothing to ask this time; no operation took place.
    Skip,
    /// It cannot be made: a value that it needs was not captured.
    Missing,
    UsedUp,
    /// Other lanes hold all rows that are left.
    Held,
}

/// The result of reading received bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// More has to come; the first `consumed` bytes are done with.
    Partial { consumed: usize },
    /// This part of the answer is complete; the next has to be asked for.
    More { consumed: usize },
    Done {
        consumed: usize,
        /// What is wrong with it.
        failure: Option<Failure>,
        /// Whether the rest of the pass depends on a right answer: the lane starts over.
        fatal: bool,
    },
    /// The connection cannot be used any more.
    Broken(Failure),
}
