//! One virtual user: a program, and the connection it runs on; see [`several`] for users with more than one.
//!
//! ```text
//!            connect            request              answer
//!   Running ---------> Opening ----------> Asking ------------> Running
//!      |                  |                   | lost, timeout      |
//!      |                  v                   v                    | think, or no arrival
//!      |<---------- Sleeping (backoff) <-------                    v
//!      |<------------------------------------------- Sleeping, Idle
//! ```
//!
//! A step that fails with an answer is counted and the program goes on. A connection that fails ends
//! the pass: the lane sleeps (10 ms, doubled up to 1 s while failures go on) and starts over.
//!
//! Over a connection that lanes share ([`shared`]) it is `Queued` until it has a place, and `Sharing` until it
//! has the answer. What holds such a connection is a lane, too: it opens it as any other, and is `Serving` then.
//!
//! Per small operation there is one write, one read and at most two looks at the clock. A read shorter
//! than the room it had has emptied the socket, so a second read that returns EAGAIN is saved (epoll(7),
//! edge-triggered). Nagle's algorithm needs no switching off: with one request in flight there is never
//! a small segment that is not acknowledged when the next is written.

mod connect;
mod exchange;
mod outcome;
mod phases;
mod several;
mod shared;

use std::ops::Range;

use mio::event::Event;

pub(crate) use self::exchange::FULL_READS;
use self::phases::PhaseTimes;
use self::several::Several;
pub(crate) use self::several::of_token;
use crate::connection::link::Link;
use crate::drive::context::{Context, Turn};
use crate::drive::pool::Seat;
use crate::drive::timers::NEVER;
use crate::program::{MAIN, Op, Program};
use crate::protocol::Protocol;
use crate::record::clock::{MILLI, now_ns};
use crate::record::failure::Failure;
use crate::record::recorder::Slot;

/// Steps of a program that a lane passes without a request before other lanes and commands have their turn: some
/// tens of microseconds.
const SILENT_STEPS: usize = 10_000;

/// How long it leaves the thread to them.
const SILENT_PAUSE_NS: u64 = MILLI;

/// The first pause after a connection failed.
const BACKOFF_FIRST_NS: u64 = 10 * MILLI;

/// What a lane does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Goes from one operation to the next.
    Running,
    /// Waits for its connection.
    Opening,
    /// Waits for an answer.
    Asking,
    /// Waits for a timer.
    Sleeping,
    /// Waits for an arrival of the open schedule.
    Idle,
    /// Waits for a place on a shared connection.
    Queued,
    /// Waits for an answer over a shared connection.
    Sharing,
    /// Holds a connection that others share.
    Serving,
}

/// Whether a lane goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Runs,
    Ended,
}

/// One operation that has begun and has not been recorded.
#[derive(Debug, Clone, Copy)]
struct Operation {
    slot: Slot,
    started_ns: u64,
    bytes_out: u64,
    bytes_in: u64,
    unread_ns: Option<u64>,
}

impl Operation {
    const fn started(slot: Slot, started_ns: u64) -> Self {
        Self { slot, started_ns, bytes_out: 0, bytes_in: 0, unread_ns: None }
    }
}

/// One pass through the program, or one operation of it.
#[derive(Debug, Clone, Copy, Default)]
struct Pass {
    /// When its arrival was due; 0 without one.
    due_ns: u64,
    /// When it began. Without an arrival this decides its window.
    began_ns: u64,
    /// The same, moved by the think times and the waits for rows that are in none of its times.
    started_ns: u64,
    /// Its think times so far that are in none of its times.
    paused_ns: u64,
    bytes_out: u64,
    bytes_in: u64,
    failure: Option<Failure>,
    /// Whether it is on record as left out.
    left_out: bool,
}

impl Pass {
    const fn begun(due_ns: u64, now_ns: u64) -> Self {
        Self {
            due_ns,
            began_ns: now_ns,
            started_ns: now_ns,
            paused_ns: 0,
            bytes_out: 0,
            bytes_in: 0,
            failure: None,
            left_out: false,
        }
    }
}

/// One virtual user. Its program is handed in with each call: it belongs to all lanes that run it.
pub(crate) struct Lane<P: Protocol> {
    id: u32,
    phase: Phase,
    stopping: bool,
    /// Whether it found no row, so that others will find none either.
    used_up: bool,
    /// Which of the target's addresses it connects to.
    address: usize,
    /// Which of that address's endpoints `link` goes to.
    endpoint: usize,
    link: Link,
    watched: bool,
    pc: usize,
    counters: Box<[u64]>,
    current: Operation,
    /// The connect that may still be under way when `current`, the first request on its connection, is sent.
    connect: Operation,
    pass: Pass,
    /// Where the operation at hand is recorded when it is over, if one has begun.
    whole: Option<Slot>,
    /// What is counted of it: the same, or one of its steps.
    counted: Slot,
    /// Whether it has done what is done in the first pass alone.
    begun: bool,
    /// When the arrival at hand was due; [`NEVER`] if there is none.
    due_ns: u64,
    /// When the step before ended, or the pause after it: a step that is counted again in one operation is due then.
    ready_ns: u64,
    /// When the think time within an operation ends that it is in; 0 in none.
    thinks_until_ns: u64,
    /// Up to when its wait for a row is counted; 0 while it waits for none.
    row_wait_ns: u64,
    /// This lane's time is accounted for up to here, in operations or as waiting. From here to the next request
    /// is the engine's own time.
    since_ns: u64,
    backoff_ns: u64,
    /// Operations that the connection was used for since it was opened.
    used: u64,
    sleep: u32,
    /// Bytes received and not yet consumed.
    inbox: Vec<u8>,
    /// Bytes that the socket has not taken yet.
    outbox: Vec<u8>,
    /// The connections that it does not use at the time.
    several: Option<Box<Several>>,
    /// Its place on a shared connection; of what holds one, which that is.
    seat: Option<Seat>,
    state: P::Lane,
    began: PhaseTimes,
}

impl<P: Protocol> Lane<P> {
    pub(crate) fn new(id: u32, address: usize, program: &Program<P::Request>, now_ns: u64) -> Self {
        let slot = program.sequence;
        Self {
            id,
            phase: Phase::Running,
            stopping: false,
            used_up: false,
            address,
            endpoint: MAIN,
            link: Link::Down(None),
            watched: false,
            pc: 0,
            counters: vec![0; program.counters].into(),
            current: Operation::started(slot, 0),
            connect: Operation::started(slot, 0),
            pass: Pass::default(),
            whole: None,
            counted: program.counted,
            begun: false,
            due_ns: NEVER,
            ready_ns: now_ns,
            thinks_until_ns: 0,
            row_wait_ns: 0,
            since_ns: now_ns,
            backoff_ns: BACKOFF_FIRST_NS,
            used: 0,
            sleep: 0,
            inbox: Vec::new(),
            outbox: Vec::new(),
            several: Several::of(program),
            seat: None,
            state: P::Lane::default(),
            began: PhaseTimes::default(),
        }
    }

    pub(crate) const fn is_stopping(&self) -> bool {
        self.stopping
    }

    pub(crate) const fn used_up(&self) -> bool {
        self.used_up
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Whether this is the sleep it is in.
    pub(crate) fn sleeps(&self, serial: u32) -> bool {
        self.phase == Phase::Sleeping && self.sleep == serial
    }

    /// Whether it has begun an operation that is not recorded yet.
    pub(crate) const fn is_busy(&self) -> bool {
        let asks = matches!(self.phase, Phase::Asking | Phase::Opening | Phase::Queued | Phase::Sharing);
        self.due_ns != NEVER || asks
    }

    /// Whether it has begun a request or an operation that belongs to this window, is not recorded yet and is waited
    /// for. Of a request whose phases are recorded, its connecting is a part.
    ///
    /// An operation is waited for while it waits itself; not through think times of its own that end at `limit_ns` or
    /// later. Nor where such think times follow a request that was sent after the window.
    pub(crate) fn owes(&self, over_ns: &Range<u64>, limit_ns: u64, program: &Program<P::Request>) -> bool {
        let began_ns = match self.phase {
            Phase::Opening if !self.reconnects() => self.connect.started_ns,
            Phase::Asking | Phase::Opening if program.phases.is_some() => self.request_began_ns(),
            Phase::Asking | Phase::Opening | Phase::Queued | Phase::Sharing => self.current.started_ns,
            Phase::Running | Phase::Sleeping | Phase::Idle | Phase::Serving => NEVER,
        };
        // What is done for an arrival belongs to the window of the arrival.
        if over_ns.contains(&self.due_ns.min(began_ns)) && began_ns < over_ns.end {
            return true;
        }
        let rest_ns = program.pauses_ns.get(self.pc).copied().unwrap_or(0);
        let has_time = match self.phase {
            Phase::Sleeping if self.thinks_until_ns > 0 => {
                self.thinks_until_ns.saturating_add(rest_ns) < limit_ns
            }
            // It waits for a row. Without an arrival it has not begun before something was sent.
            Phase::Sleeping => self.due_ns != NEVER || self.pass.bytes_out > 0,
            _ => rest_ns == 0 || began_ns.saturating_add(rest_ns) < limit_ns,
        };
        has_time && over_ns.contains(&self.operation_due_ns())
    }

    /// When the operation at hand was due, or began where nothing arrives; [`NEVER`] if there is none that is counted
    /// as a whole, and no arrival.
    fn operation_due_ns(&self) -> u64 {
        let is_counted = self.whole == Some(self.counted) && !self.pass.left_out;
        match self.pass.due_ns {
            _ if self.due_ns != NEVER => self.due_ns,
            0 if is_counted => self.pass.began_ns,
            due_ns if is_counted => due_ns,
            _ => NEVER,
        }
    }

    /// Whether it opens a connection for the next part of a request that has begun on another.
    fn reconnects(&self) -> bool {
        self.phase == Phase::Opening && self.current.bytes_in > 0 && !self.outbox.is_empty()
    }

    /// The time up to which it is accounted for.
    pub(crate) const fn since_ns(&self) -> u64 {
        self.since_ns
    }

    /// What its protocol remembers of it.
    pub(crate) const fn state(&mut self) -> &mut P::Lane {
        &mut self.state
    }

    /// Goes on after a sleep that was to end at `due_ns`. Being late counts as the engine's own time.
    pub(crate) fn wake(&mut self, due_ns: u64, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        self.waited_until(due_ns, turn.context);
        (self.thinks_until_ns, self.ready_ns) = (0, due_ns);
        self.resume(turn, now_ns)
    }

    fn waited_until(&mut self, time_ns: u64, context: &mut Context<P>) {
        let waited_ns = time_ns.saturating_sub(self.since_ns);
        context.waiting_ns += waited_ns;
        self.since_ns += waited_ns;
    }

    /// Runs the program from where it stands until something has to be waited for.
    pub(crate) fn resume(&mut self, turn: &mut Turn<'_, P>, mut now_ns: u64) -> Fate {
        self.phase = Phase::Running;
        // Steps that it passed before it last went back, and where it has gone on from.
        let (mut silent_steps, mut from) = (0, self.pc);
        loop {
            let op = turn.program.ops.get(self.pc);
            // A pass that has nothing left to do but close is over, and is recorded as such.
            let is_over = op.is_none_or(|op| match op {
                Op::Again { .. } | Op::Jump { .. } | Op::Close { .. } | Op::Done => true,
                // Closing after so many operations is, too.
                _ => matches!(op, Op::Switch { .. } | Op::Used { .. }),
            });
            if self.stopping && !is_over && !self.has_to_finish(turn.program) {
                return self.retire(turn.context, now_ns);
            }
            if self.link.is_opening() && !self.goes_before(op) {
                return self.wait_for_link(turn);
            }
            let Some(op) = op else {
                self.end_operation(turn.context, now_ns);
                silent_steps += self.pc - from;
                (self.pc, from) = (0, 0);
                if self.stopping {
                    return self.retire(turn.context, now_ns);
                }
                if silent_steps > SILENT_STEPS {
                    return self.give_turn_back(turn, now_ns);
                }
                continue;
            };
            if self.pc == 0 {
                self.pass = Pass::begun(0, now_ns);
                self.whole = turn.program.is_whole.then_some(turn.program.sequence);
            }
            match op {
                Op::Exchange { slot, request } => {
                    if let Some(fate) = self.ask(*slot, request, turn) {
                        return fate;
                    }
                }
                Op::Share { share, request } => {
                    if let Some(fate) = self.ask_shared(*share, request, turn.context, now_ns) {
                        return fate;
                    }
                }
                Op::AwaitPool { pool } => {
                    if !turn.context.pools[*pool].is_up() {
                        return self.await_pool(*pool, turn.context);
                    }
                    self.pc += 1;
                }
                Op::Serve => return self.serve(turn),
                Op::Loop { counter, times } => {
                    self.counters[*counter] = *times;
                    self.pc += 1;
                }
                Op::Each { counter, list, to } => {
                    let times = turn.context.protocol.count(list, &mut self.state);
                    self.counters[*counter] = times;
                    self.pc = if times > 0 { self.pc + 1 } else { *to };
                }
                Op::Again { counter, first } => {
                    self.counters[*counter] -= 1;
                    if self.counters[*counter] == 0 {
                        self.pc += 1;
                        continue;
                    }
                    silent_steps += self.pc - from;
                    (self.pc, from) = (*first, *first);
                    if silent_steps > SILENT_STEPS {
                        return self.give_turn_back(turn, now_ns);
                    }
                }
                Op::Deal { deck, firsts } => {
                    self.pc = firsts[turn.context.decks[*deck].deal(&mut turn.context.rng)];
                }
                Op::Jump { to } => self.pc = *to,
                Op::SkipIfUp { to } => {
                    self.pc = if matches!(self.link, Link::Down(_)) { self.pc + 1 } else { *to };
                }
                Op::SkipUnlessClosed { to } => {
                    self.pc = if matches!(self.link, Link::Down(None)) { self.pc + 1 } else { *to };
                }
                Op::Switch { to } => {
                    self.switch(*to);
                    self.pc += 1;
                }
                Op::Used { times, slot } => {
                    self.used += 1;
                    if self.used >= *times && !matches!(self.link, Link::Down(None)) {
                        now_ns = self.close(*slot, turn.context);
                    }
                    self.pc += 1;
                }
                Op::SkipIfBegun { to } => self.pc = if self.begun { *to } else { self.pc + 1 },
                Op::Begun => {
                    self.begun = true;
                    self.pc += 1;
                }
                Op::Begin { slot, counted } => {
                    self.pass = Pass::begun(if self.due_ns == NEVER { 0 } else { self.due_ns }, now_ns);
                    (self.whole, self.counted) = (Some(*slot), *counted);
                    self.pc += 1;
                }
                Op::Done => {
                    let sent = self.pass.bytes_out > 0;
                    if !sent {
                        self.pass.failure.get_or_insert(Failure::NothingCaptured);
                    }
                    self.end_operation(turn.context, now_ns);
                    self.pc += 1;
                    if !sent && !self.stopping {
                        return self.sleep_until(now_ns + BACKOFF_FIRST_NS, turn.context);
                    }
                }
                Op::Ensure { slot, endpoint } => {
                    if (matches!(self.link, Link::Down(_)) || self.endpoint != *endpoint)
                        && let Err(failure) = self.open(*slot, *endpoint, turn.context)
                    {
                        return self.connect_failed(failure, turn, self.connect.started_ns);
                    }
                    self.pc += 1;
                }
                Op::Await if self.stopping => return self.retire(turn.context, now_ns),
                // What was closed while nothing was due is opened again before the next operation.
                Op::Await
                    if self.whole.is_none() && turn.program.kept.iter().any(|kept| self.is_down(*kept)) =>
                {
                    (self.pc, from) = (0, 0);
                }
                Op::Await => {
                    if !self.take_arrival(turn.context, now_ns) {
                        return Fate::Runs;
                    }
                }
                Op::Connect { slot, endpoint } => {
                    if let Err(failure) = self.open(*slot, *endpoint, turn.context) {
                        return self.connect_failed(failure, turn, self.connect.started_ns);
                    }
                    self.pc += 1;
                }
                Op::Close { slot } => {
                    now_ns = self.close(*slot, turn.context);
                    self.pc += 1;
                }
                Op::Think(think) => {
                    self.pc += 1;
                    self.began = PhaseTimes::default();
                    if self.stopping {
                        continue;
                    }
                    let pause_ns = think.draw_ns(turn.context.rng.f64());
                    if pause_ns == 0 {
                        // A timer that is due already would ring before other lanes and commands have their turn.
                        continue;
                    }
                    self.think(pause_ns, turn.program, now_ns);
                    return self.sleep_until(now_ns + pause_ns, turn.context);
                }
            }
        }
    }

    /// Whether a step may run before it is known that the connection stands. A request may, unless a handshake
    /// comes first: on loopback it is written right after connect returns.
    fn goes_before(&self, op: Option<&Op<P::Request>>) -> bool {
        match op {
            Some(Op::Exchange { .. }) => !self.link.uses_tls(),
            Some(Op::Ensure { endpoint, .. }) => self.endpoint == *endpoint,
            Some(Op::Switch { to }) => self.uses(*to),
            Some(
                Op::Loop { .. } | Op::Each { .. } | Op::Again { .. } | Op::Deal { .. } | Op::Jump { .. },
            ) => true,
            _ => false,
        }
    }

    /// Whether an operation has begun that may have to undo what it did: it is finished without pauses.
    const fn has_to_finish(&self, program: &Program<P::Request>) -> bool {
        !program.is_whole && self.whole.is_some()
    }

    /// Leaves a think time within an operation out of the times of the operation.
    fn think(&mut self, pause_ns: u64, program: &Program<P::Request>, now_ns: u64) {
        if self.whole.is_none() {
            return;
        }
        self.thinks_until_ns = now_ns + pause_ns;
        if !program.is_whole {
            self.pass.started_ns += pause_ns;
        }
        if !program.times_pauses() {
            self.pass.paused_ns += pause_ns;
        }
    }

    /// Handles an event of the poller.
    pub(crate) fn ready(&mut self, event: &Event, turn: &mut Turn<'_, P>) -> Fate {
        if self.phase == Phase::Opening {
            let settled =
                event.is_writable() || event.is_readable() || event.is_read_closed() || event.is_error();
            return if settled { self.settle_link(turn) } else { Fate::Runs };
        }
        if event.is_writable()
            && !self.outbox.is_empty()
            && let Err(failure) = self.flush(turn.context)
        {
            return self.lost(failure, turn);
        }
        let closed = event.is_read_closed() || event.is_error();
        if event.is_readable() || closed { self.read(closed, turn) } else { Fate::Runs }
    }

    /// Ends the lane, at once if it only waits, else after the operation it is in. One that is in a think time of its own
    /// is left out.
    pub(crate) fn stop(&mut self, turn: &mut Turn<'_, P>) -> Fate {
        self.stopping = true;
        self.count_row_wait(turn.context, now_ns());
        self.row_wait_ns = 0;
        let due_ns = self.operation_due_ns();
        if self.phase == Phase::Sleeping && self.thinks_until_ns > 0 && due_ns != NEVER {
            turn.context.recorders.leave_out(self.counted, due_ns);
            (self.due_ns, self.pass.left_out) = (NEVER, true);
        }
        match self.phase {
            Phase::Sleeping if self.has_to_finish(turn.program) => self.resume(turn, now_ns()),
            Phase::Queued if self.has_to_finish(turn.program) => Fate::Runs,
            Phase::Sleeping | Phase::Idle | Phase::Running | Phase::Queued => {
                self.retire(turn.context, now_ns())
            }
            Phase::Opening | Phase::Asking | Phase::Sharing | Phase::Serving => Fate::Runs,
        }
    }

    /// Gives up the operation in flight, which is past its deadline.
    pub(crate) fn expire(&mut self, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        turn.context.deadlines[self.id as usize] = NEVER;
        match self.phase {
            Phase::Asking => self.unanswered(Failure::Timeout, turn, now_ns),
            Phase::Opening => self.connect_failed(Failure::ConnectTimeout, turn, now_ns),
            Phase::Queued | Phase::Sharing => self.give_seat_up(turn, now_ns),
            Phase::Running | Phase::Sleeping | Phase::Idle | Phase::Serving => Fate::Runs,
        }
    }

    /// Takes an arrival of the open schedule that is due, or waits in line for the next.
    fn take_arrival(&mut self, context: &mut Context<P>, now_ns: u64) -> bool {
        let Some(due_ns) = context.arrivals.take(now_ns) else {
            self.phase = Phase::Idle;
            context.idle.push_back(self.id);
            return false;
        };
        self.waited_until(due_ns, context);
        self.due_ns = due_ns;
        if self.pc == 0 {
            self.pass.due_ns = due_ns;
        }
        self.pc += 1;
        true
    }

    /// Leaves the thread to other lanes and to commands for a moment. A lane that is to stop ends: what it does may
    /// go on for hours.
    #[cold]
    fn give_turn_back(&mut self, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        if self.stopping {
            return self.retire(turn.context, now_ns);
        }
        if self.link.is_opening() {
            return self.wait_for_link(turn);
        }
        self.sleep_until(now_ns + SILENT_PAUSE_NS, turn.context)
    }

    fn sleep_until(&mut self, due_ns: u64, context: &mut Context<P>) -> Fate {
        self.phase = Phase::Sleeping;
        self.sleep = context.sleep(self.id, due_ns);
        Fate::Runs
    }
}
