//! LDAP as a service of the socket layer: answers messages, and does periodic work of the store.

use std::net::IpAddr;

use net::{ConnectionId, OUT_BYTES, Rejection, Service, Step, TimeSlice};
use wire::ldap::ResultCode;
use wire::ldap::frame::message_length;

use super::Shared;
use super::upkeep::Upkeep;
use crate::answer;
use crate::operation;
use crate::session::Session;
use crate::slow_binds::Outcome;
use crate::stats::{Counters, Published};
use crate::store;
use crate::turn::{Access, Scratch, Turn};

/// The LDAP service of one thread.
pub(super) struct LdapService<'t> {
    turn: Turn<'t>,
    shared: &'t Shared,
    published: &'t Published,
    upkeep: Upkeep,
}

impl<'t> LdapService<'t> {
    /// The service of one thread, with its published counters. One thread of the server expires entries for
    /// all threads.
    pub(super) fn new(shared: &'t Shared, published: &'t Published, expires: bool) -> Self {
        let turn = Turn {
            settings: &shared.settings,
            access: Access::new(&shared.store),
            out: Vec::with_capacity(OUT_BYTES),
            counters: Counters::default(),
            scratch: Scratch::default(),
            slow_binds: &shared.slow_binds,
            now: shared.clock.now(),
            slice: TimeSlice::default(),
        };
        Self { turn, shared, published, upkeep: Upkeep::new(expires) }
    }

    /// Tells the client that its bytes cannot be split into messages.
    #[cold]
    fn refuse(&mut self, bytes: &[u8], reason: &str) -> (usize, Step) {
        answer::notice(&mut self.turn.out, ResultCode::PROTOCOL_ERROR, reason);
        (bytes.len(), Step::Abort)
    }
}

impl Service for LdapService<'_> {
    type Session = Session;
    type Outcome = Outcome;

    /// The most messages whose lookups are prefetched together. CPU time of a lookup among 10,000 entries
    /// with 64 connections: 7.3 us with groups of one message, 6.6 us with 4, 6.4 us with 8, 6.3 us with 16,
    /// 6.2 us with 32 and with 64 (the kernel alone takes 5.3 us). If a group has the messages of half the
    /// connections, the other half can be on the network at the same time.
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
        store::trim(&mut self.turn.out);
        self.published.take(&mut self.turn.counters);
        busy
    }

    #[inline]
    fn out(&mut self) -> &mut Vec<u8> {
        &mut self.turn.out
    }

    #[inline]
    fn slice(&mut self) -> &mut TimeSlice {
        &mut self.turn.slice
    }

    fn connect(&mut self, id: ConnectionId, from: IpAddr) -> Session {
        Session::new(id, from)
    }

    fn secured(session: &mut Session, peer: Option<&[u8]>) {
        session.secure(peer.map(Into::into));
    }

    fn reject(&self, why: Rejection, notice: &mut Vec<u8>) {
        match why {
            Rejection::Full(full) => answer::notice(notice, ResultCode::UNAVAILABLE, &full.to_string()),
            Rejection::NotTls => {
                answer::notice(
                    notice,
                    ResultCode::PROTOCOL_ERROR,
                    "this port speaks TLS; connect with ldaps://",
                );
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
        let length = match message_length(bytes, session.message_limit(&self.turn)) {
            Ok(Some(length)) => length,
            Ok(None) => return (0, Step::More),
            Err(error) => return self.refuse(bytes, &error.to_string()),
        };
        let message = bytes.get(..length).unwrap_or_default();
        match operation::handle(session, message, &mut self.turn) {
            Step::Later => (0, Step::Later),
            // RFC 4511 section 4.14.1; plaintext bytes must not be treated as sent under TLS.
            Step::Upgrade if length < bytes.len() => {
                self.refuse(bytes, "bytes behind a StartTLS whose answer was not waited for")
            }
            step => (length, step),
        }
    }

    #[inline]
    fn has_output(session: &Session) -> bool {
        !session.searches.is_idle()
    }

    fn poll_output(&mut self, session: &mut Session) -> Step {
        match session.searches.step(&mut self.turn) {
            Step::Later => Step::Later,
            _ if session.waiting.is_some() => Step::Wait,
            _ => Step::Next,
        }
    }

    fn resume(&mut self, session: &mut Session, outcome: Outcome) -> Step {
        operation::resume(session, outcome, &mut self.turn)
    }

    /// A client that has sent its last byte is treated as disconnected, as most of these clients are.
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
