//! Users with several connections, of which they use one at a time.
//!
//! The connection in use lies in the lane itself, like a lane's only connection, so the code that reads,
//! writes and waits handles one connection. The other connections are parked. When a step uses a parked
//! connection, it changes places with the active connection. A parked connection has no request in flight.
//! Therefore the only possible events are its end and unsolicited bytes.
//!
//! The poller's token of a connection holds the lane's number and the connection's: `lane | (connection + 1)
//! << 32`. For a lane with one connection the token is the lane's number alone, so its events need no second
//! look-up.

use super::{Lane, Operation};
use crate::connection::link::{Link, ReadOutcome, WriteOutcome};
use crate::drive::context::Context;
use crate::program::{Backoff, MAIN, Program};
use crate::protocol::Protocol;
use crate::record::failure::Failure;
use crate::record::recorder::Slot;

/// Unsolicited bytes that are kept for the next request. A notice of disconnection has about a hundred bytes.
pub(super) const UNSOLICITED_BYTES: usize = 16 << 10;

/// The connections of a lane with several connections.
pub(super) struct Several {
    /// The index of the connection in the lane. Its place in `parked` is unused.
    active: usize,
    parked: Box<[Connection]>,
}

/// A connection of a lane.
pub(super) struct Connection {
    /// The index of the address's endpoint.
    pub(super) endpoint: usize,
    pub(super) link: Link,
    pub(super) watched: bool,
    /// The opening of the connection, which may not have ended when the first request is sent.
    pub(super) connect: Operation,
    /// The number of operations since the connection was opened.
    pub(super) used: u64,
    pub(super) backoff: Backoff,
    /// Bytes received and not yet consumed.
    pub(super) inbox: Vec<u8>,
    /// Bytes that the socket has not taken yet.
    pub(super) outbox: Vec<u8>,
}

impl Several {
    pub(super) fn of<R>(program: &Program<R>) -> Option<Box<Self>> {
        let parked = || Connection::new(program.sequence);
        let several = || Self { active: 0, parked: (0..program.connections).map(|_| parked()).collect() };
        (program.connections > 1).then(|| Box::new(several()))
    }
}

impl Connection {
    pub(super) const fn new(slot: Slot) -> Self {
        Self {
            endpoint: MAIN,
            link: Link::Down(None),
            watched: false,
            connect: Operation::started(slot, 0),
            used: 0,
            backoff: Backoff::FIRST,
            inbox: Vec::new(),
            outbox: Vec::new(),
        }
    }

    pub(super) fn close(&mut self, reason: Option<Failure>) {
        self.link.close();
        self.link = Link::Down(reason);
        self.watched = false;
        self.inbox.clear();
        self.outbox.clear();
    }

    /// Keeps received bytes, and notices the end of the stream. Fails if more than [`UNSOLICITED_BYTES`] are
    /// received: a server may send faster than this thread reads.
    fn receive_unsolicited(&mut self, room: &mut [u8]) -> Result<(), Failure> {
        while !self.outbox.is_empty() {
            // An answer may come before the whole request was sent.
            match self.link.send(&self.outbox)? {
                WriteOutcome::Bytes(n) => drop(self.outbox.drain(..n)),
                WriteOutcome::WouldBlock => break,
            }
        }
        while self.inbox.len() <= UNSOLICITED_BYTES {
            match self.link.receive(room)? {
                ReadOutcome::Bytes(0) => return Err(Failure::Closed),
                ReadOutcome::Bytes(n) => self.inbox.extend_from_slice(&room[..n]),
                ReadOutcome::WouldBlock => return Ok(()),
            }
        }
        Err(Failure::Malformed)
    }
}

/// Splits a poller's token into the lane and, for a lane with several connections, the connection.
pub(crate) const fn of_token(token: usize) -> (usize, Option<usize>) {
    (token & u32::MAX as usize, (token >> u32::BITS).checked_sub(1))
}

impl<P: Protocol> Lane<P> {
    /// The poller's token of the active connection.
    pub(super) fn token(&self) -> usize {
        let number = self.several.as_ref().map_or(0, |several| several.active + 1);
        self.id as usize | number << u32::BITS
    }

    /// Whether this connection is in use.
    pub(crate) fn uses(&self, connection: usize) -> bool {
        self.several.as_ref().is_none_or(|several| several.active == connection)
    }

    pub(super) fn is_down(&self, connection: usize) -> bool {
        let parked = self.several.as_ref().filter(|several| several.active != connection);
        let link = parked.map_or(&self.connection.link, |several| &several.parked[connection].link);
        matches!(link, Link::Down(_))
    }

    /// Makes this connection the active one.
    pub(super) fn switch(&mut self, to: usize) {
        let Some(mut several) = self.several.take() else { return };
        if several.active != to {
            std::mem::swap(&mut self.connection, &mut several.parked[several.active]);
            std::mem::swap(&mut self.connection, &mut several.parked[to]);
            several.active = to;
        }
        self.several = Some(several);
    }

    /// Handles an event of a connection that is not in use. If the connection has ended, the next step that
    /// needs the connection notices this.
    #[cold]
    pub(crate) fn read_parked(&mut self, connection: usize, room: &mut [u8]) {
        let Some(several) = &mut self.several else { return };
        let Some(parked) = several.parked.get_mut(connection) else { return };
        if let Err(failure) = parked.receive_unsolicited(room) {
            parked.close(Some(failure));
        }
    }

    /// Closes the connections that are not in use, except those in `keep`.
    #[cold]
    pub(super) fn close_parked(&mut self, keep: &[usize], context: &mut Context<P>) {
        let Some((active, all)) = self.several.as_ref().map(|several| (several.active, several.parked.len()))
        else {
            return;
        };
        for connection in (0..all).filter(|other| *other != active && !keep.contains(other)) {
            self.switch(connection);
            self.close_unrecorded(context);
        }
        self.switch(active);
    }
}
