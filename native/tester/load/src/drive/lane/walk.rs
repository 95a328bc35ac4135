//! A lane as a [`Walker`]: what opening, sending, pausing and ending are on a thread of lanes.

use super::phases::PhaseTimes;
use super::{Fate, Lane, Pass, Phase};
use crate::choose::schedule::Think;
use crate::connection::link::Link;
use crate::drive::context::Turn;
use crate::drive::timers::NEVER;
use crate::fill::Preparation;
use crate::program::{Backoff, Cursor, Op, Program, SILENT_PAUSE_NS, Share, Walker};
use crate::protocol::{Encoded, Protocol};
use crate::record::failure::Failure;
use crate::record::recorder::Slot;

/// A lane that has the thread.
pub(super) struct Walk<'l, 't, 'p, P: Protocol> {
    pub(super) lane: &'l mut Lane<P>,
    pub(super) turn: &'t mut Turn<'p, P>,
    pub(super) now_ns: u64,
}

impl<P: Protocol> Walker for Walk<'_, '_, '_, P> {
    type Request = P::Request;
    type Stop = Fate;

    #[inline]
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.lane.cursor
    }

    #[cold]
    fn has_arrival(&self) -> bool {
        self.lane.has_arrival()
    }

    #[inline]
    fn is_opening(&self) -> bool {
        self.lane.link.is_opening()
    }

    /// A request may begin, unless a handshake comes first: on loopback it is written right after connect returns.
    fn goes_before(&self, op: Option<&Op<P::Request>>) -> bool {
        match op {
            Some(Op::Exchange { .. } | Op::Prepare(_)) => !self.lane.link.uses_tls(),
            Some(Op::Ensure { endpoint, .. }) => self.goes_to(*endpoint),
            Some(Op::Switch { to }) => self.lane.uses(*to),
            Some(
                Op::Loop { .. } | Op::Each { .. } | Op::Again { .. } | Op::Deal { .. } | Op::Jump { .. },
            ) => true,
            _ => false,
        }
    }

    fn wait_for_connection(&mut self) -> Fate {
        self.lane.wait_for_link(self.turn)
    }

    #[inline]
    fn is_down(&self) -> bool {
        matches!(self.lane.link, Link::Down(_))
    }

    #[inline]
    fn is_closed(&self) -> bool {
        matches!(self.lane.link, Link::Down(None))
    }

    #[inline]
    fn goes_to(&self, endpoint: usize) -> bool {
        self.lane.endpoint == endpoint
    }

    fn any_is_down(&self, connections: &[usize]) -> bool {
        connections.iter().any(|connection| self.lane.is_down(*connection))
    }

    fn switch(&mut self, connection: usize) {
        self.lane.switch(connection);
    }

    fn open(&mut self, slot: Slot, endpoint: usize) -> Option<Fate> {
        let failure = self.lane.open(slot, endpoint, self.turn.context).err()?;
        let began_ns = self.lane.connect.started_ns;
        Some(self.lane.connect_failed(failure, self.turn, began_ns))
    }

    fn close(&mut self, slot: Slot) {
        self.now_ns = self.lane.close(slot, self.turn.context);
    }

    fn use_connection(&mut self) -> u64 {
        self.lane.used += 1;
        self.lane.used
    }

    fn backoff(&mut self) -> &mut Backoff {
        &mut self.lane.backoff
    }

    #[inline]
    fn deal(&mut self, deck: usize) -> usize {
        self.turn.context.decks[deck].deal(&mut self.turn.context.rng)
    }

    #[inline]
    fn count(&mut self, list: usize) -> u64 {
        self.turn.context.protocol.count(list, &mut self.lane.state)
    }

    fn think_ns(&mut self, think: &Think) -> u64 {
        self.lane.began = PhaseTimes::default();
        think.draw_ns(self.turn.context.rng.f64())
    }

    #[inline]
    fn begin_pass(&mut self, program: &Program<P::Request>) {
        self.lane.pass = Pass::begun(0, self.now_ns);
        self.lane.cursor.whole = program.is_whole.then_some(program.sequence);
    }

    #[inline]
    fn begin_operation(&mut self) {
        let due_ns = if self.lane.due_ns == NEVER { 0 } else { self.lane.due_ns };
        self.lane.pass = Pass::begun(due_ns, self.now_ns);
    }

    #[inline]
    fn has_sent(&self) -> bool {
        self.lane.pass.bytes_out > 0
    }

    fn fail(&mut self, failure: Failure) {
        self.lane.pass.failure.get_or_insert(failure);
    }

    #[inline]
    fn end_operation(&mut self) {
        self.lane.end_operation(self.turn.context, self.now_ns);
    }

    #[inline]
    fn prepare(&mut self, preparation: &Preparation) -> Encoded {
        self.turn.context.protocol.prepare(preparation, &mut self.lane.state)
    }

    #[inline]
    fn ask(&mut self, slot: Slot, request: &P::Request) -> Result<Fate, Encoded> {
        self.lane.ask(slot, request, self.turn)
    }

    fn ask_shared(&mut self, share: Share, request: &P::Request) -> Result<Fate, Encoded> {
        self.lane.ask_shared(share, request, self.turn.context, self.now_ns)
    }

    #[cold]
    fn skip(&mut self, slot: Slot, request: &P::Request) {
        self.lane.skip_step(slot, request, self.turn.context);
    }

    #[cold]
    fn wait_for_row(&mut self) -> Fate {
        self.lane.wait_for_row(self.turn.context)
    }

    #[cold]
    fn run_out_of_rows(&mut self) {
        self.turn.context.without_row += 1;
        self.lane.out_of_rows = true;
    }

    /// An arrival that was for the operation has not begun either.
    #[cold]
    fn end_unbegun(&mut self) -> Fate {
        self.lane.due_ns = NEVER;
        self.end()
    }

    fn await_pool(&mut self, pool: usize) -> Option<Fate> {
        let stands = self.turn.context.pools[pool].is_up();
        (!stands).then(|| self.lane.await_pool(pool, self.turn.context))
    }

    fn serve(&mut self) -> Fate {
        self.lane.serve(self.turn)
    }

    /// Takes an arrival of the open schedule that is due, or waits in line for the next.
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

    fn think(&mut self, pause_ns: u64) -> Fate {
        self.lane.think(pause_ns, self.turn.program, self.now_ns);
        self.sleep(pause_ns)
    }

    fn sleep(&mut self, pause_ns: u64) -> Fate {
        let Self { lane, turn, now_ns } = self;
        lane.phase = Phase::Sleeping;
        lane.sleep = turn.context.sleep(lane.id, *now_ns + pause_ns);
        Fate::Runs
    }

    #[cold]
    fn give_turn_back(&mut self) -> Fate {
        if self.is_opening() { self.wait_for_connection() } else { self.sleep(SILENT_PAUSE_NS) }
    }

    fn end(&mut self) -> Fate {
        self.lane.end(self.turn.context, self.now_ns)
    }
}
