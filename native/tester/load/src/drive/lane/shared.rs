//! Requests over connections that lanes share, and the carriers of these connections.
//!
//! A lane sends one request at a time, as over its own connection. It may have to wait for a ticket, and its
//! request is written together with requests of other lanes ([`crate::drive::pool`]). A lane of the pool's
//! own program, the carrier, holds the connection. Like any lane, it opens, secures and binds the connection,
//! and restarts with the same pauses when the connection is lost.

use std::ops::Range;

use mio::Interest;

use super::{Fate, Lane, Operation, Phase};
use crate::connection::link::{ReadOutcome, WriteOutcome};
use crate::drive::context::{Context, Turn};
use crate::drive::pool::Ticket;
use crate::drive::timers::NEVER;
use crate::program::{Backoff, Op, Share};
use crate::protocol::{Encoded, Protocol, Received};
use crate::record::failure::Failure;
use crate::record::recorder::End;

impl<P: Protocol> Lane<P> {
    /// Sends a request over a shared connection, or waits for a ticket. An error says why there is no request
    /// to send.
    pub(super) fn ask_shared(
        &mut self,
        share: Share,
        request: &P::Request,
        context: &mut Context<P>,
        now_ns: u64,
    ) -> Result<Fate, Encoded> {
        if !context.protocol.can_ask(request, &self.state) {
            return Err(Encoded::Missing);
        }
        let wait = Operation::started(share.wait, now_ns);
        let waited = self.ticket.take();
        let Some(ticket) = waited.or_else(|| context.pools[share.pool].take(self.id)) else {
            return Ok(self.enqueue(share.pool, wait, context));
        };
        let Context { pools, protocol, .. } = context;
        let pool = &mut pools[share.pool];
        let Some(out) = pool.out(ticket) else {
            // Tickets are for open connections only.
            return Err(Encoded::Skip);
        };
        let start = out.len();
        protocol.number(&mut self.state, ticket.id);
        let encoded = protocol.encode(request, &mut self.state, out);
        if encoded != Encoded::Send {
            out.truncate(start);
            pool.release(ticket);
            return Err(encoded);
        }
        let bytes_out = (out.len() - start) as u64;
        pool.stage(ticket, self.id);
        if waited.is_none() {
            self.record(wait, End::Right, context, now_ns);
        }
        self.ticket = Some(ticket);
        self.phase = Phase::Sharing;
        self.current = Operation { bytes_out, ..Operation::started(share.slot, now_ns) };
        Ok(Fate::Runs)
    }

    fn enqueue(&mut self, pool: usize, wait: Operation, context: &mut Context<P>) -> Fate {
        self.phase = Phase::Queued;
        self.current = wait;
        self.sleep = context.next_serial();
        context.pools[pool].queue.push_back((self.id, self.sleep));
        context.deadlines[self.id as usize] = wait.started_ns + context.timeout_ns;
        Fate::Runs
    }

    /// Whether `serial` is the current wait for a ticket.
    pub(crate) fn is_queued(&self, serial: u32) -> bool {
        self.phase == Phase::Queued && self.sleep == serial
    }

    /// Continues with the ticket that the lane has waited for.
    pub(crate) fn acquired(&mut self, ticket: Ticket, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        self.ticket = Some(ticket);
        self.record(self.current, End::Right, turn.context, now_ns);
        turn.context.deadlines[self.id as usize] = NEVER;
        self.resume(turn, now_ns)
    }

    /// Called when the request, or the request for the next page, is written. Only the first write starts the
    /// clock.
    pub(crate) fn on_sent(&mut self, context: &mut Context<P>, now_ns: u64) {
        if self.phase != Phase::Sharing {
            return;
        }
        if self.current.bytes_in == 0 {
            self.current.started_ns = now_ns;
        }
        context.deadlines[self.id as usize] = now_ns + context.timeout_ns;
    }

    /// Takes an answer to the lane's request. An error ends the connection.
    pub(crate) fn on_message(
        &mut self,
        message: &[u8],
        read_ns: u64,
        turn: &mut Turn<'_, P>,
    ) -> Result<Fate, Failure> {
        let (Phase::Sharing, Some(Op::Share { share, request })) =
            (self.phase, turn.program.ops.get(self.cursor.pc))
        else {
            return Ok(Fate::Runs);
        };
        let Some(ticket) = self.ticket else { return Ok(Fate::Runs) };
        self.current.bytes_in += message.len() as u64;
        match turn.context.protocol.receive(request, &mut self.state, message) {
            Received::Partial { .. } => Ok(Fate::Runs),
            Received::More { .. } => {
                let Context { pools, protocol, .. } = turn.context;
                let ticket = pools[share.pool].renew(ticket);
                self.ticket = Some(ticket);
                let Some(out) = pools[share.pool].out(ticket) else { return Ok(Fate::Runs) };
                let start = out.len();
                protocol.number(&mut self.state, ticket.id);
                protocol.encode_more(request, &mut self.state, out);
                self.current.bytes_out += (out.len() - start) as u64;
                pools[share.pool].stage(ticket, self.id);
                Ok(Fate::Runs)
            }
            Received::Done { failure, fatal, .. } => {
                self.ticket = None;
                turn.context.pools[share.pool].release(ticket);
                Ok(self.answered(message, failure, fatal, turn, read_ns))
            }
            Received::Broken(failure) => Err(failure),
        }
    }

    /// Called when the shared connection of the request is lost.
    pub(crate) fn pool_connection_lost(
        &mut self,
        failure: Failure,
        turn: &mut Turn<'_, P>,
        now_ns: u64,
    ) -> Fate {
        if self.ticket.take().is_none() {
            return Fate::Runs;
        }
        self.fail_shared(failure, turn, now_ns)
    }

    /// Gives up waiting for a ticket or for an answer.
    pub(super) fn abandon_request(&mut self, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        if let (Some(ticket), Some(Op::Share { share, .. })) =
            (self.ticket.take(), turn.program.ops.get(self.cursor.pc))
        {
            let since_ns = now_ns.saturating_sub(turn.context.timeout_ns);
            turn.context.pools[share.pool].abandon(ticket, since_ns);
        }
        self.fail_shared(Failure::Timeout, turn, now_ns)
    }

    /// Ends the pass. The connections that the program does not open in its passes are kept. There is no
    /// pause: the lane waits for a shared connection, and the carrier pauses before it reconnects.
    fn fail_shared(&mut self, failure: Failure, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        self.log_request(Some(failure), None, turn, now_ns);
        self.record(self.current, End::Unanswered(failure), turn.context, now_ns);
        if !self.cursor.kept(turn.program).iter().any(|connection| self.uses(*connection)) {
            self.close_unrecorded(turn.context);
        }
        self.abort_pass(failure, turn, now_ns);
        self.cursor.pc = 0;
        self.resume(turn, now_ns)
    }

    /// Makes the lane the carrier of a connection that is to be opened.
    pub(crate) const fn attach(&mut self, connection: u32) {
        self.ticket = Some(Ticket { connection, id: 0 });
    }

    /// The connection that the lane is the carrier of.
    pub(crate) fn attached(&self) -> u32 {
        self.ticket.map_or(u32::MAX, |ticket| ticket.connection)
    }

    /// Whether the lane is the carrier of an open connection.
    pub(crate) fn is_serving(&self) -> bool {
        self.phase == Phase::Serving
    }

    /// Whether the lane is opening a connection, or binding on it.
    pub(crate) const fn is_connecting(&self) -> bool {
        matches!(self.phase, Phase::Opening | Phase::Asking)
    }

    /// Reads once into the context's buffer, behind the kept bytes. Returns the number of bytes in the
    /// buffer, and whether the socket is empty.
    pub(crate) fn receive(&mut self, context: &mut Context<P>) -> Result<Option<(usize, bool)>, Failure> {
        let start = self.connection.inbox.len();
        context.load(&self.connection.inbox);
        match self.connection.link.receive(&mut context.buffer[start..])? {
            ReadOutcome::Bytes(0) => Err(Failure::Closed),
            ReadOutcome::Bytes(n) => Ok(Some((start + n, start + n < context.buffer.len()))),
            ReadOutcome::WouldBlock => Ok(None),
        }
    }

    /// Keeps the incomplete message at the end of `buffer`, and gives the buffer back to the context.
    pub(crate) fn keep_rest(&mut self, buffer: Vec<u8>, rest: Range<usize>, context: &mut Context<P>) {
        self.connection.inbox.clear();
        self.connection.inbox.extend_from_slice(&buffer[rest]);
        context.buffer = buffer;
        if self.connection.inbox.is_empty() {
            self.shrink_buffers(context);
        }
        self.connection.backoff = Backoff::FIRST;
    }

    /// Writes requests of lanes. Returns the number of bytes that the socket has taken.
    pub(crate) fn write(&mut self, bytes: &[u8], context: &mut Context<P>) -> Result<usize, Failure> {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.connection.link.send(&bytes[sent..])? {
                WriteOutcome::Bytes(n) => sent += n,
                WriteOutcome::WouldBlock => {
                    self.watch(Interest::READABLE | Interest::WRITABLE, context)?;
                    break;
                }
            }
        }
        Ok(sent)
    }

    /// Called on a carrier whose connection is lost. The carrier opens the connection again after a pause.
    pub(crate) fn carrier_lost(&mut self, failure: Failure, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        // The time in which the lane carried the connection does not count as lane time.
        self.since_ns = now_ns;
        self.restart(failure, turn, now_ns)
    }

    /// Closes the connection for good.
    pub(crate) fn shut_down(&mut self, context: &mut Context<P>) {
        self.close_unrecorded(context);
        context.deadlines[self.id as usize] = NEVER;
    }
}
