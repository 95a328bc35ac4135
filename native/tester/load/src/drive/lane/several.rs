//! Users with several connections, of which they use one at a time.
//!
//! The one in use lies in the lane itself, where a lane's only connection lies, too: reading, writing and
//! waiting know of no others. They are parked beside it, and change places with it when a step goes over
//! another. A parked connection has no request in flight, so all that can come of it is its end, or something
//! that was not asked for.
//!
//! The poller knows them by the lane's number and their own: `lane | (connection + 1) << 32`. A lane's only
//! connection has the lane's number alone, so news of it are not looked at twice.

use super::{Lane, Operation};
use crate::connection::link::{Link, ReadOutcome, WriteOutcome};
use crate::drive::context::Context;
use crate::program::{Backoff, MAIN, Program};
use crate::protocol::Protocol;
use crate::record::failure::Failure;

/// Unsolicited bytes that are kept until the next request looks at them. A notice of disconnection has about a
/// hundred.
pub(super) const UNSOLICITED_BYTES: usize = 16 << 10;

/// The connections of a lane that has more than one.
pub(super) struct Several {
    /// Which of them is in the lane. Its place among the parked holds nothing.
    active: usize,
    parked: Box<[Parked]>,
}

/// A connection that is not in use: what a lane has of its own, see there.
struct Parked {
    endpoint: usize,
    link: Link,
    watched: bool,
    connect: Operation,
    used: u64,
    backoff: Backoff,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
}

impl Several {
    pub(super) fn of<R>(program: &Program<R>) -> Option<Box<Self>> {
        let parked = || Parked {
            endpoint: MAIN,
            link: Link::Down(None),
            watched: false,
            connect: Operation::started(program.sequence, 0),
            used: 0,
            backoff: Backoff::FIRST,
            inbox: Vec::new(),
            outbox: Vec::new(),
        };
        let several = || Self { active: 0, parked: (0..program.connections).map(|_| parked()).collect() };
        (program.connections > 1).then(|| Box::new(several()))
    }
}

impl Parked {
    /// Keeps what came, and notices an end. A server may send faster than this reads, but not more than is kept.
    fn listen(&mut self, room: &mut [u8]) -> Result<(), Failure> {
        while !self.outbox.is_empty() {
            // The answer came before all of the request was sent.
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

/// The lane and, of one with several, the connection that the poller tells of.
pub(crate) const fn of_token(token: usize) -> (usize, Option<usize>) {
    (token & u32::MAX as usize, (token >> u32::BITS).checked_sub(1))
}

impl<P: Protocol> Lane<P> {
    /// What the poller calls its connection.
    pub(super) fn token(&self) -> usize {
        let number = self.several.as_ref().map_or(0, |several| several.active + 1);
        self.id as usize | number << u32::BITS
    }

    /// Whether this is the connection in use.
    pub(crate) fn uses(&self, connection: usize) -> bool {
        self.several.as_ref().is_none_or(|several| several.active == connection)
    }

    pub(super) fn is_down(&self, connection: usize) -> bool {
        let parked = self.several.as_ref().filter(|several| several.active != connection);
        let link = parked.map_or(&self.link, |several| &several.parked[connection].link);
        matches!(link, Link::Down(_))
    }

    /// Goes on with this connection.
    pub(super) fn switch(&mut self, to: usize) {
        let Some(mut several) = self.several.take() else { return };
        if several.active != to {
            self.swap_with(&mut several.parked[several.active]);
            self.swap_with(&mut several.parked[to]);
            several.active = to;
        }
        self.several = Some(several);
    }

    fn swap_with(&mut self, parked: &mut Parked) {
        use std::mem::swap;
        swap(&mut self.endpoint, &mut parked.endpoint);
        swap(&mut self.link, &mut parked.link);
        swap(&mut self.watched, &mut parked.watched);
        swap(&mut self.connect, &mut parked.connect);
        swap(&mut self.used, &mut parked.used);
        swap(&mut self.backoff, &mut parked.backoff);
        swap(&mut self.inbox, &mut parked.inbox);
        swap(&mut self.outbox, &mut parked.outbox);
    }

    /// Hears of a connection that is not in use. If it has ended, the next step that needs it finds out.
    #[cold]
    pub(crate) fn read_parked(&mut self, connection: usize, room: &mut [u8]) {
        let Some(several) = &mut self.several else { return };
        let Some(parked) = several.parked.get_mut(connection) else { return };
        if let Err(failure) = parked.listen(room) {
            parked.link.close();
            parked.link = Link::Down(Some(failure));
            parked.watched = false;
            parked.inbox.clear();
            parked.outbox.clear();
        }
    }

    /// Closes the connections that are not in use, but for some.
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
