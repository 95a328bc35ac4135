//! Requests over connections that lanes share, and what holds such a connection.
//!
//! A lane asks as it does over its own, one request at a time; what differs is that it may have to wait for a
//! place, and that its request is sent with those of others ([`crate::drive::pool`]). The connection is held by
//! a lane of its own program, which opens it, secures it and binds on it as any lane does, and begins again
//! with the same pauses when it is lost.

use std::ops::Range;

use mio::Interest;

use super::{Fate, Lane, Operation, Phase};
use crate::connection::link::{ReadOutcome, WriteOutcome};
use crate::drive::context::{Context, Turn};
use crate::drive::pool::Seat;
use crate::drive::timers::NEVER;
use crate::program::{Backoff, Op, Share};
use crate::protocol::{Encoded, Protocol, Received};
use crate::record::failure::Failure;
use crate::record::recorder::End;

impl<P: Protocol> Lane<P> {
    /// Asks over a shared connection, or waits for a place on one; or says why there is nothing to ask.
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
        let waited = self.seat.take();
        let Some(seat) = waited.or_else(|| context.pools[share.pool].take(self.id)) else {
            return Ok(self.line_up(share.pool, wait, context));
        };
        let Context { pools, protocol, .. } = context;
        let pool = &mut pools[share.pool];
        let Some(out) = pool.out(seat) else {
            // A place is on a connection that stands.
            return Err(Encoded::Skip);
        };
        let start = out.len();
        protocol.number(&mut self.state, seat.id);
        let encoded = protocol.encode(request, &mut self.state, out);
        if encoded != Encoded::Send {
            out.truncate(start);
            pool.give_back(seat);
            return Err(encoded);
        }
        let bytes_out = (out.len() - start) as u64;
        pool.stage(seat, self.id);
        if waited.is_none() {
            self.record(wait, End::Right, context, now_ns);
        }
        self.seat = Some(seat);
        self.phase = Phase::Sharing;
        self.current = Operation { bytes_out, ..Operation::started(share.slot, now_ns) };
        Ok(Fate::Runs)
    }

    fn line_up(&mut self, pool: usize, wait: Operation, context: &mut Context<P>) -> Fate {
        self.phase = Phase::Queued;
        self.current = wait;
        self.sleep = context.next_serial();
        context.pools[pool].line_up(self.id, self.sleep);
        context.deadlines[self.id as usize] = wait.started_ns + context.timeout_ns;
        Fate::Runs
    }

    /// Whether this is the wait for a place that it is in.
    pub(crate) fn queues(&self, serial: u32) -> bool {
        self.phase == Phase::Queued && self.sleep == serial
    }

    /// Goes on with the place that it has waited for.
    pub(crate) fn sit_down(&mut self, seat: Seat, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        self.seat = Some(seat);
        self.record(self.current, End::Right, turn.context, now_ns);
        turn.context.deadlines[self.id as usize] = NEVER;
        self.resume(turn, now_ns)
    }

    /// Waits until one of a pool's connections stands, in no operation's time.
    pub(super) fn await_pool(&mut self, pool: usize, context: &mut Context<P>) -> Fate {
        self.phase = Phase::Sleeping;
        self.sleep = context.next_serial();
        context.pools[pool].wait(self.id, self.sleep);
        Fate::Runs
    }

    /// Its request is sent now; of what is already under way another part is.
    pub(crate) fn sends(&mut self, context: &mut Context<P>, now_ns: u64) {
        if self.phase != Phase::Sharing {
            return;
        }
        if self.current.bytes_in == 0 {
            self.current.started_ns = now_ns;
        }
        context.deadlines[self.id as usize] = now_ns + context.timeout_ns;
    }

    /// Takes a message that is for it. An error ends the connection.
    pub(crate) fn hear(
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
        let Some(seat) = self.seat else { return Ok(Fate::Runs) };
        self.current.bytes_in += message.len() as u64;
        match turn.context.protocol.receive(request, &mut self.state, message) {
            Received::Partial { .. } => Ok(Fate::Runs),
            Received::More { .. } => {
                let Context { pools, protocol, .. } = turn.context;
                let seat = pools[share.pool].renew(seat);
                self.seat = Some(seat);
                let Some(out) = pools[share.pool].out(seat) else { return Ok(Fate::Runs) };
                let start = out.len();
                protocol.number(&mut self.state, seat.id);
                protocol.encode_more(request, &mut self.state, out);
                self.current.bytes_out += (out.len() - start) as u64;
                pools[share.pool].stage(seat, self.id);
                Ok(Fate::Runs)
            }
            Received::Done { failure, fatal, .. } => {
                if failure.is_some() || turn.context.log.takes_all() {
                    self.look_into(failure, Some(message), turn, read_ns);
                }
                self.seat = None;
                turn.context.pools[share.pool].give_back(seat);
                Ok(self.answered(failure, fatal, turn, read_ns))
            }
            Received::Broken(failure) => Err(failure),
        }
    }

    /// The shared connection is lost that it has asked over.
    pub(crate) fn lose_seat(&mut self, failure: Failure, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        if self.seat.take().is_none() {
            return Fate::Runs;
        }
        self.fail_shared(failure, turn, now_ns)
    }

    /// Waits no more for a place, or for an answer.
    pub(super) fn give_seat_up(&mut self, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        if let (Some(seat), Some(Op::Share { share, .. })) =
            (self.seat.take(), turn.program.ops.get(self.cursor.pc))
        {
            let since_ns = now_ns.saturating_sub(turn.context.timeout_ns);
            turn.context.pools[share.pool].give_up(seat, since_ns);
        }
        self.fail_shared(Failure::Timeout, turn, now_ns)
    }

    /// Ends the pass. The connections of its own are kept that a pass does not open, and there is no pause: what
    /// it waits for is a shared connection, which has pauses of its own.
    fn fail_shared(&mut self, failure: Failure, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        self.look_into(Some(failure), None, turn, now_ns);
        self.record(self.current, End::Unanswered(failure), turn.context, now_ns);
        if !self.cursor.kept(turn.program).iter().any(|kept| self.uses(*kept)) {
            self.leave(turn.context);
        }
        self.break_off(failure, turn, now_ns);
        self.cursor.pc = 0;
        self.resume(turn, now_ns)
    }

    /// Makes it hold one of a pool's connections, which is to be opened.
    pub(crate) const fn hold(&mut self, connection: u32) {
        self.seat = Some(Seat { connection, id: 0 });
    }

    /// Which of the pool's connections it holds.
    pub(crate) fn held(&self) -> u32 {
        self.seat.map_or(u32::MAX, |seat| seat.connection)
    }

    /// Whether it holds a connection that stands.
    pub(crate) fn serves(&self) -> bool {
        self.phase == Phase::Serving
    }

    /// Whether it is opening a connection, or binding on it.
    pub(crate) const fn opens(&self) -> bool {
        matches!(self.phase, Phase::Opening | Phase::Asking)
    }

    /// The connection stands: others may ask over it.
    pub(super) fn serve(&mut self, turn: &mut Turn<'_, P>) -> Fate {
        self.phase = Phase::Serving;
        turn.context.deadlines[self.id as usize] = NEVER;
        self.link.send_at_once();
        if let Some(pool) = turn.program.serves {
            turn.context.pools[pool].rise(self.held());
        }
        Fate::Runs
    }

    /// Reads once into the context's buffer, behind what it has kept: how much is there now, and whether the
    /// socket is empty.
    pub(crate) fn gather(&mut self, context: &mut Context<P>) -> Result<Option<(usize, bool)>, Failure> {
        let kept = self.inbox.len();
        context.load(&self.inbox);
        match self.link.receive(&mut context.buffer[kept..])? {
            ReadOutcome::Bytes(0) => Err(Failure::Closed),
            ReadOutcome::Bytes(n) => Ok(Some((kept + n, kept + n < context.buffer.len()))),
            ReadOutcome::WouldBlock => Ok(None),
        }
    }

    /// Keeps the beginning of a message, of what is in a buffer that the context gets back.
    pub(crate) fn keep_rest(&mut self, buffer: Vec<u8>, rest: Range<usize>, context: &mut Context<P>) {
        self.inbox.clear();
        self.inbox.extend_from_slice(&buffer[rest]);
        context.buffer = buffer;
        if self.inbox.is_empty() {
            self.give_room_back(context);
        }
        self.backoff = Backoff::FIRST;
    }

    /// Sends what lanes have asked; returns how much of it the socket has taken.
    pub(crate) fn carry(&mut self, bytes: &[u8], context: &mut Context<P>) -> Result<usize, Failure> {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.link.send(&bytes[sent..])? {
                WriteOutcome::Bytes(n) => sent += n,
                WriteOutcome::WouldBlock => {
                    self.watch(Interest::READABLE | Interest::WRITABLE, context)?;
                    break;
                }
            }
        }
        Ok(sent)
    }

    /// The connection that it holds is lost: it is opened again after a pause.
    pub(crate) fn fall(&mut self, failure: Failure, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        // While it served it was no lane.
        self.since_ns = now_ns;
        self.start_over(failure, turn, now_ns)
    }

    /// Closes what it holds.
    pub(crate) fn resign(&mut self, context: &mut Context<P>) {
        self.leave(context);
        context.deadlines[self.id as usize] = NEVER;
    }
}
