//! How a lane's connections begin and end.

use mio::Interest;

use super::phases::PhaseTimes;
use super::{Fate, Lane, Operation, Phase};
use crate::connection::link::{Link, WriteOutcome};
use crate::drive::context::{Context, Turn};
use crate::drive::timers::NEVER;
use crate::protocol::Protocol;
use crate::record::clock::now_ns;
use crate::record::failure::Failure;
use crate::record::recorder::{End, Slot};

impl<P: Protocol> Lane<P> {
    pub(super) fn open(
        &mut self,
        slot: Slot,
        endpoint: usize,
        context: &mut Context<P>,
    ) -> Result<(), Failure> {
        self.connection.close(None);
        self.connection.connect = Operation::started(slot, now_ns());
        self.began = PhaseTimes { connect_ns: self.connection.connect.started_ns, ..PhaseTimes::default() };
        self.connection.endpoint = endpoint;
        self.connection.used = 0;
        self.connection.link = Link::open(&mut context.addresses[self.address][endpoint])?;
        context.protocol.connected(&mut self.state);
        Ok(())
    }

    /// Waits until the poller reports whether the connection is open. The next step sends nothing, so no
    /// write would show whether the connection is open.
    pub(super) fn wait_for_link(&mut self, turn: &mut Turn<'_, P>) -> Fate {
        self.phase = Phase::Opening;
        turn.context.deadlines[self.id as usize] =
            self.connection.connect.started_ns + turn.context.connect_timeout_ns;
        match self.watch(Interest::READABLE | Interest::WRITABLE, turn.context) {
            Ok(()) => Fate::Runs,
            Err(failure) => self.connect_failed(failure, turn, now_ns()),
        }
    }

    /// Handles an event of a connection that is being opened.
    pub(super) fn finish_connecting(&mut self, turn: &mut Turn<'_, P>) -> Fate {
        let shaken = self.connection.link.check().and_then(|()| {
            self.begin_handshake(turn.program);
            self.connection.link.continue_handshake()
        });
        let now_ns = now_ns();
        match shaken {
            Ok(true) => {
                self.end_handshake(End::Right, turn, now_ns);
                self.link_is_up(turn.context, now_ns);
            }
            Ok(false) => return Fate::Runs,
            Err(failure) => return self.connect_failed(failure, turn, now_ns),
        }
        if self.connection.link.uses_tls() && self.watch(Interest::READABLE, turn.context).is_err() {
            return self.connect_failed(Failure::Io, turn, now_ns);
        }
        turn.context.deadlines[self.id as usize] = NEVER;
        let goes_on = self.reconnects();
        if !goes_on {
            if self.connection.outbox.is_empty() || (self.cursor.stopping && !self.has_arrival()) {
                return self.resume(turn, now_ns);
            }
            self.current.started_ns = now_ns;
        }
        self.phase = Phase::Asking;
        turn.context.deadlines[self.id as usize] = now_ns + turn.context.timeout_ns;
        match self.flush(turn.context) {
            Ok(()) => Fate::Runs,
            Err(failure) => self.lost(failure, turn),
        }
    }

    pub(super) fn link_is_up(&mut self, context: &mut Context<P>, now_ns: u64) {
        self.connection.link.promote();
        if !self.reconnects() {
            self.record(self.connection.connect, End::Right, context, now_ns);
        }
    }

    pub(super) fn connect_failed(&mut self, failure: Failure, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        self.end_handshake(End::Unanswered(failure), turn, now_ns);
        if !self.reconnects() {
            self.current = self.connection.connect;
            turn.context.protocol.unsent(&mut self.state);
        }
        self.unanswered(failure, turn, now_ns)
    }

    /// Sends the protocol's farewell (such as an unbind request), closes, and returns the time
    /// after closing.
    pub(super) fn close(&mut self, slot: Slot, context: &mut Context<P>) -> u64 {
        let started_ns = now_ns();
        let outcome = self.say_farewell(context);
        self.connection.close(None);
        let ended_ns = now_ns();
        let bytes_out = outcome.map_or(0, |n| n as u64);
        let end = outcome.err().map_or(End::Right, End::Unanswered);
        self.record(Operation { bytes_out, ..Operation::started(slot, started_ns) }, end, context, ended_ns);
        ended_ns
    }

    pub(super) fn say_farewell(&mut self, context: &mut Context<P>) -> Result<usize, Failure> {
        if let Link::Down(reason) = self.connection.link {
            // Without a failure, this side closed the connection after its last answer.
            return reason.map_or(Ok(0), Err);
        }
        // The buffer may hold requests of a batch in front of the farewell.
        let start = context.out.len();
        context.protocol.farewell(&mut self.state, &mut context.out);
        let sent = if start == context.out.len() {
            Ok(WriteOutcome::WouldBlock)
        } else {
            self.connection.link.send(&context.out[start..])
        };
        context.out.truncate(start);
        match sent? {
            WriteOutcome::Bytes(n) => Ok(n),
            WriteOutcome::WouldBlock => Ok(0),
        }
    }

    pub(super) fn end(&mut self, context: &mut Context<P>, now_ns: u64) -> Fate {
        self.abandon_arrival(Failure::Timeout, context, now_ns);
        if self.due_ns != NEVER {
            let end = End::Unanswered(self.pass.failure.unwrap_or(Failure::Timeout));
            self.record_pass(end, context, now_ns);
        }
        self.close_unrecorded(context);
        self.close_parked(&[], context);
        context.deadlines[self.id as usize] = NEVER;
        Fate::Ended
    }

    /// Closes the connection without a record.
    pub(super) fn close_unrecorded(&mut self, context: &mut Context<P>) {
        if matches!(self.connection.link, Link::Up(_)) {
            // The farewell is a courtesy: its failure changes nothing.
            let _ = self.say_farewell(context);
        }
        self.connection.close(None);
    }

    pub(super) fn watch(&mut self, how: Interest, context: &mut Context<P>) -> Result<(), Failure> {
        self.connection.link.watch(&context.registry, self.token(), how, self.connection.watched)?;
        self.connection.watched = true;
        Ok(())
    }
}
