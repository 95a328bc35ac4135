//! LDAP as a service of the socket layer: answers messages, and does periodic work of the store.

use std::net::IpAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Receiver;

use net::{ConnectionId, OUT_BYTES, Rejection, Service, Step, TimeSlice};
use tls::Acceptor;
use wire::ldap::frame::message_length;

use super::shared::Shared;
use super::upkeep::Upkeep;
use crate::answer;
use crate::flow::Flow;
use crate::operation;
use crate::session::Session;
use crate::slow_binds::Outcome;
use crate::stats::{Counters, Published};
use crate::store;
use crate::turn::{Access, Scratch, Turn};

/// Buffers of a thread, reused for every message.
pub(super) struct WorkerBuffers {
    out: Vec<u8>,
    counters: Counters,
    scratch: Scratch,
}

impl WorkerBuffers {
    pub(super) fn new() -> Self {
        Self {
            out: Vec::with_capacity(OUT_BYTES),
            counters: Counters::default(),
            scratch: Scratch::default(),
        }
    }
}

/// The LDAP service of one thread.
pub(super) struct LdapService<'t> {
    turn: Turn<'t>,
    shared: &'t Shared,
    published: &'t Published,
    outcomes: Receiver<(ConnectionId, Outcome)>,
    upkeep: Upkeep,
}

impl<'t> LdapService<'t> {
    /// The service of one thread, with its published counters. One thread of the server expires entries for
    /// all.
    pub(super) fn new(
        shared: &'t Shared,
        published: &'t Published,
        buffers: &'t mut WorkerBuffers,
        outcomes: Receiver<(ConnectionId, Outcome)>,
        expires: bool,
    ) -> Self {
        let turn = Turn {
            settings: &shared.settings,
            access: Access::new(&shared.store),
            out: &mut buffers.out,
            counters: &mut buffers.counters,
            scratch: &mut buffers.scratch,
            slow_binds: &shared.slow_binds,
            now: shared.clock.now(),
            slice: TimeSlice::default(),
        };
        Self { turn, shared, published, outcomes, upkeep: Upkeep::new(expires) }
    }

    /// Tells the client that its bytes cannot be split into messages.
    #[cold]
    fn refuse(&mut self, bytes: &[u8], reason: &str) -> (usize, Step) {
        answer::notice_of_disconnection(self.turn.out, reason);
        (bytes.len(), Step::Abort)
    }
}

impl Service for LdapService<'_> {
    type Session = Session;
    type Outcome = Outcome;

    /// CPU time of a lookup among 10,000 entries with 64 connections, by the size of the group: 7.3 us alone,
    /// 6.6 with 4, 6.4 with 8, 6.3 with 16, 6.2 with 32 and with 64 (the kernel's part alone: 5.3). The
    /// lookups of a group wait for memory together. With groups of half the connections, the other half can
    /// be on the network meanwhile.
    const GROUP: usize = 32;

    #[inline]
    fn begin_turn(&mut self) -> u64 {
        self.turn.now = self.shared.clock.now();
        self.turn.access.wrote = false;
        self.turn.now.ms
    }

    fn end_turn(&mut self) -> bool {
        let busy = self.upkeep.run(&mut self.turn);
        self.turn.access.release();
        self.turn.scratch.trim();
        store::trim(self.turn.out);
        self.published.take(self.turn.counters);
        busy
    }

    #[inline]
    fn out(&mut self) -> &mut Vec<u8> {
        self.turn.out
    }

    #[inline]
    fn slice(&mut self) -> &mut TimeSlice {
        &mut self.turn.slice
    }

    #[inline]
    fn acceptor(&self) -> Option<&Acceptor> {
        self.turn.settings.greeter()
    }

    fn upgrade(&self) -> Option<&Acceptor> {
        self.turn.settings.upgrader()
    }

    fn connect(&mut self, id: ConnectionId, from: IpAddr) -> Session {
        Session::new(id, from)
    }

    fn secured(session: &mut Session, peer: Option<&[u8]>) {
        session.secure(peer.map(Into::into));
    }

    fn reject(&self, why: Rejection, notice: &mut Vec<u8>) {
        match why {
            Rejection::Full(full) => answer::notice_of_unavailability(notice, &full.to_string()),
            Rejection::NotTls => {
                answer::notice_of_disconnection(notice, "this port speaks TLS; connect with ldaps://");
            }
        }
    }

    fn prefetch<'m>(&mut self, received: impl Iterator<Item = &'m [u8]>) {
        let store = self.turn.access.read();
        let prefetch = &mut self.turn.scratch.prefetch;
        for messages in received {
            prefetch.note(store, messages);
        }
        prefetch.fetch(store);
    }

    #[inline]
    fn feed(&mut self, session: &mut Session, bytes: &[u8]) -> (usize, Step) {
        // Relaxed: if the flag is read late, one more message is answered.
        if self.shared.stopping.load(Relaxed) {
            return (bytes.len(), Step::Close);
        }
        let length = match message_length(bytes, session.message_limit(&self.turn)) {
            Ok(Some(length)) => length,
            Ok(None) => return (0, Step::More),
            Err(error) => return self.refuse(bytes, &error.to_string()),
        };
        let message = bytes.get(..length).unwrap_or_default();
        let step = match operation::handle(session, message, &mut self.turn) {
            Flow::Continue => Step::Next,
            Flow::Later => return (0, Step::Later),
            Flow::Wait => Step::Wait,
            Flow::Close => Step::Close,
            Flow::StartTls if length == bytes.len() => Step::Upgrade,
            // RFC 4511 section 4.14.1; plaintext bytes must not be treated as sent under TLS.
            Flow::StartTls => {
                return self.refuse(bytes, "bytes behind a StartTLS whose answer was not waited for");
            }
            Flow::Disconnect => Step::Abort,
        };
        (length, step)
    }

    #[inline]
    fn has_output(session: &Session) -> bool {
        !session.searches.is_idle()
    }

    fn poll_output(&mut self, session: &mut Session) -> Step {
        // Relaxed: if the flag is read late, one more piece is sent.
        if self.shared.stopping.load(Relaxed) {
            return Step::Close;
        }
        match session.searches.step(&mut self.turn) {
            Flow::Later => Step::Later,
            _ if session.waiting.is_some() => Step::Wait,
            _ => Step::Next,
        }
    }

    fn next_outcome(&mut self) -> Option<(ConnectionId, Outcome)> {
        self.outcomes.try_recv().ok()
    }

    fn resume(&mut self, session: &mut Session, outcome: Outcome) -> Step {
        match operation::resume(session, outcome, &mut self.turn) {
            Flow::Close => Step::Close,
            _ => Step::Next,
        }
    }

    /// A client that has sent its last byte is treated as disconnected, as most are.
    fn client_ended(session: &mut Session) {
        if let Some(waiting) = session.waiting.take() {
            waiting.place.give_up();
        }
    }

    fn close(session: &mut Session) {
        session.searches.clear();
        session.waiting = None;
    }

    #[inline]
    fn release_locks(&mut self) {
        self.turn.access.release();
    }
}
