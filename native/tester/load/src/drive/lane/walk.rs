//! A lane as a [`Walker`]: opening, sending, pausing and ending on a thread of lanes.

use super::phases::PhaseTimes;
use super::{Fate, Lane, Operation, Pass, Phase};
use crate::choose::schedule::Think;
use crate::connection::link::Link;
use crate::drive::batch::Staged;
use crate::drive::context::{Context, Turn};
use crate::drive::timers::NEVER;
use crate::fill::Preparation;
use crate::program::{Backoff, Cursor, Op, Program, SILENT_PAUSE_NS, Share, Walker};
use crate::protocol::{Encoded, Protocol};
use crate::record::clock::now_ns;
use crate::record::failure::Failure;
use crate::record::recorder::{Sample, Slot};

/// A lane in its turn on the thread.
pub(super) struct Walk<'l, 't, 'p, P: Protocol> {
    pub(super) lane: &'l mut Lane<P>,
    pub(super) turn: &'t mut Turn<'p, P>,
    pub(super) now_ns: u64,
}

impl<P: Protocol> Walker for Walk<'_, '_, '_, P> {
    type Request = P::Request;
    type Stop = Fate;

    fn cursor(&mut self) -> &mut Cursor {
        &mut self.lane.cursor
    }

    #[cold]
    fn has_arrival(&self) -> bool {
        self.lane.has_arrival()
    }

    fn is_opening(&self) -> bool {
        self.lane.connection.link.is_opening()
    }

    /// Whether a request may begin before the connection is open: on loopback the request is written right
    /// after connect returns. With TLS the handshake comes first.
    fn may_begin_before_open(&self, op: Option<&Op<P::Request>>) -> bool {
        match op {
            Some(Op::Exchange { .. } | Op::Prepare(_)) => !self.lane.connection.link.uses_tls(),
            Some(Op::Ensure { endpoint, .. }) => self.has_endpoint(*endpoint),
            Some(Op::Switch(to)) => self.lane.uses(*to),
            Some(Op::Loop { .. } | Op::Each { .. } | Op::Again { .. } | Op::Deal { .. } | Op::Jump(_)) => {
                true
            }
            _ => false,
        }
    }

    fn wait_for_connection(&mut self) -> Fate {
        self.lane.wait_for_link(self.turn)
    }

    fn is_down(&self) -> bool {
        matches!(self.lane.connection.link, Link::Down(_))
    }

    fn is_closed(&self) -> bool {
        matches!(self.lane.connection.link, Link::Down(None))
    }

    fn has_endpoint(&self, endpoint: usize) -> bool {
        self.lane.connection.endpoint == endpoint
    }

    fn any_is_down(&self, connections: &[usize]) -> bool {
        connections.iter().any(|connection| self.lane.is_down(*connection))
    }

    fn switch(&mut self, connection: usize) {
        self.lane.switch(connection);
    }

    fn open(&mut self, slot: Slot, endpoint: usize) -> Option<Fate> {
        let failure = self.lane.open(slot, endpoint, self.turn.context).err()?;
        let began_ns = self.lane.connection.connect.started_ns;
        Some(self.lane.connect_failed(failure, self.turn, began_ns))
    }

    fn close(&mut self, slot: Slot) {
        self.now_ns = self.lane.close(slot, self.turn.context);
    }

    fn use_connection(&mut self) -> u64 {
        self.lane.connection.used += 1;
        self.lane.connection.used
    }

    fn backoff(&mut self) -> &mut Backoff {
        &mut self.lane.connection.backoff
    }

    fn deal(&mut self, deck: usize) -> usize {
        self.turn.context.decks[deck].deal(&mut self.turn.context.rng)
    }

    fn count(&mut self, list: usize) -> u64 {
        self.turn.context.protocol.count(list, &mut self.lane.state)
    }

    fn think_ns(&mut self, think: &Think) -> u64 {
        self.lane.began = PhaseTimes::default();
        think.draw_ns(self.turn.context.rng.f64())
    }

    fn begin_pass(&mut self, program: &Program<P::Request>) {
        self.lane.pass = Pass::begun(0, self.now_ns);
        self.lane.cursor.whole = program.is_whole.then_some(program.sequence);
    }

    fn begin_operation(&mut self) {
        let due_ns = if self.lane.due_ns == NEVER { 0 } else { self.lane.due_ns };
        self.lane.pass = Pass::begun(due_ns, self.now_ns);
    }

    fn has_sent(&self) -> bool {
        self.lane.pass.bytes_out > 0
    }

    fn fail(&mut self, failure: Failure) {
        self.lane.pass.failure.get_or_insert(failure);
    }

    fn end_operation(&mut self) {
        self.lane.end_operation(self.turn.context, self.now_ns);
    }

    fn prepare(&mut self, preparation: &Preparation) -> Encoded {
        self.turn.context.protocol.prepare(preparation, &mut self.lane.state)
    }

    #[inline]
    fn ask(&mut self, slot: Slot, request: &P::Request) -> Result<Fate, Encoded> {
        let Self { lane, turn, .. } = self;
        let Context { protocol, out, staging, staged, .. } = turn.context;
        if !*staging {
            out.clear();
        }
        let start = out.len();
        match protocol.encode(request, &mut lane.state, out) {
            Encoded::Send => {}
            unsent => return Err(unsent),
        }
        let end = out.len();
        lane.phase = Phase::Asking;
        lane.current = Operation { bytes_out: (end - start) as u64, ..Operation::started(slot, 0) };
        if *staging {
            staged.push(Staged { lane: lane.id, start, end });
            return Ok(Fate::Runs);
        }
        Ok(lane.launch(start..end, turn))
    }

    fn ask_shared(&mut self, share: Share, request: &P::Request) -> Result<Fate, Encoded> {
        self.lane.ask_shared(share, request, self.turn.context, self.now_ns)
    }

    /// Skips a request. If the request is the counted step of an arrival, the arrival is recorded as failed.
    #[cold]
    fn skip(&mut self, slot: Slot, request: &P::Request) {
        let (lane, failure) = (&mut *self.lane, Failure::NothingCaptured);
        let Context { protocol, log, recorders, .. } = self.turn.context;
        if log.takes(Some(failure), lane.pass.failure.is_some()) {
            log.keep(slot, Some(failure), 0, protocol.describe(request, &lane.state, None));
        }
        lane.pass.failure.get_or_insert(failure);
        if lane.due_ns != NEVER && recorders.is_open(slot) {
            let unsent = Sample::unsent(lane.due_ns, failure, now_ns());
            recorders.record(slot, &Sample { paused_ns: lane.pass.paused_ns, ..unsent });
            lane.due_ns = NEVER;
        }
    }

    /// Waits for a row while other lanes hold all rows. The wait is excluded from the times of all
    /// operations. An arrival that the lane has taken becomes late.
    #[cold]
    fn wait_for_row(&mut self) -> Fate {
        let (lane, context) = (&mut *self.lane, &mut *self.turn.context);
        lane.phase = Phase::Sleeping;
        lane.row_wait_ns = now_ns();
        lane.sleep = context.next_serial();
        context.wait_for_row(lane.id, lane.sleep);
        Fate::Runs
    }

    #[cold]
    fn run_out_of_rows(&mut self) {
        self.turn.context.without_row += 1;
        self.lane.out_of_rows = true;
    }

    /// Ends the lane, and drops its arrival, whose operation has not begun.
    #[cold]
    fn end_unbegun(&mut self) -> Fate {
        self.lane.due_ns = NEVER;
        self.end()
    }

    /// Waits until one of a pool's connections is open. The wait is excluded from the times of all
    /// operations.
    fn await_pool(&mut self, pool: usize) -> Option<Fate> {
        let (lane, context) = (&mut *self.lane, &mut *self.turn.context);
        if context.pools[pool].is_up() {
            return None;
        }
        lane.phase = Phase::Sleeping;
        lane.sleep = context.next_serial();
        context.pools[pool].waiting.push((lane.id, lane.sleep));
        Some(Fate::Runs)
    }

    /// Offers the open connection to the lanes of the pool.
    fn serve(&mut self) -> Fate {
        let Self { lane, turn, .. } = self;
        lane.phase = Phase::Serving;
        turn.context.deadlines[lane.id as usize] = NEVER;
        lane.connection.link.send_at_once();
        if let Some(pool) = turn.program.serves {
            turn.context.pools[pool].opened(lane.attached());
        }
        Fate::Runs
    }

    /// Takes an arrival of the open schedule that is due, or queues for the next arrival.
    fn take_arrival(&mut self) -> Option<Fate> {
        let Self { lane, turn, now_ns } = self;
        let Some(due_ns) = turn.context.arrivals.take(*now_ns) else {
            lane.phase = Phase::Idle;
            turn.context.idle.push_back(lane.id);
            return Some(Fate::Runs);
        };
        lane.waited_until(due_ns, turn.context);
        lane.due_ns = due_ns;
        if lane.cursor.pc == 0 {
            lane.pass.due_ns = due_ns;
        }
        None
    }

    /// Pauses. A think time within an operation is not part of the operation's time.
    fn think(&mut self, pause_ns: u64) -> Fate {
        let (lane, program) = (&mut *self.lane, self.turn.program);
        if lane.cursor.whole.is_some() {
            lane.thinks_until_ns = self.now_ns + pause_ns;
            if !program.is_whole {
                lane.pass.started_ns += pause_ns;
            }
            if !program.times_pauses() {
                lane.pass.paused_ns += pause_ns;
            }
        }
        self.sleep(pause_ns)
    }

    fn sleep(&mut self, pause_ns: u64) -> Fate {
        let Self { lane, turn, now_ns } = self;
        lane.phase = Phase::Sleeping;
        lane.sleep = turn.context.sleep(lane.id, *now_ns + pause_ns);
        Fate::Runs
    }

    #[cold]
    fn yield_turn(&mut self) -> Fate {
        if self.is_opening() { self.wait_for_connection() } else { self.sleep(SILENT_PAUSE_NS) }
    }

    fn end(&mut self) -> Fate {
        self.lane.end(self.turn.context, self.now_ns)
    }
}
