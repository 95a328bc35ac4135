//! The meaning of a program's ops, the same for native lanes and portable users.
//!
//! A lane ([`crate::drive::lane`]) and a user of a portable client ([`crate::portable`]) walk the same operations:
//! [`walk`] decides which op comes next, when an operation begins and ends, and how a user stops. The [`Walker`] opens
//! connections, sends requests and sleeps.

use super::{Op, Program, Share};
use crate::choose::schedule::Think;
use crate::fill::Preparation;
use crate::protocol::Encoded;
use crate::record::clock::{MILLI, SECOND};
use crate::record::failure::Failure;
use crate::record::recorder::Slot;

/// Ops that a user may walk without a request before other users and commands get their turn. This many ops
/// take some tens of microseconds.
const SILENT_STEPS: usize = 10_000;

/// The pause in which other users and commands get their turn.
pub(crate) const SILENT_PAUSE_NS: u64 = MILLI;

/// The pause after a pass that failed or had nothing to send.
const BACKOFF_FIRST_NS: u64 = 10 * MILLI;

/// Backoffs are doubled up to this value.
const BACKOFF_LAST_NS: u64 = SECOND;

/// The first and the longest pause of a user whose start failed. The pause doubles with each
/// failure, because a server may count refused requests, such as binds with wrong passwords, and
/// lock the account.
const START_FIRST_NS: u64 = SECOND;
const START_LAST_NS: u64 = 30 * SECOND;

/// The next pause of a user whose passes fail.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Backoff {
    next_ns: u64,
}

impl Backoff {
    pub(crate) const FIRST: Self = Self { next_ns: BACKOFF_FIRST_NS };

    fn take_ns(&mut self, last_ns: u64) -> u64 {
        let pause_ns = self.next_ns;
        self.next_ns = (pause_ns * 2).min(last_ns);
        pause_ns
    }
}

#[derive(Debug)]
pub(crate) struct Cursor {
    /// The index of the next op; the number of ops at the end of the program.
    pub(crate) pc: usize,
    /// For each repeat the remaining rounds, including the current round.
    counters: Box<[u64]>,
    /// Whether the steps of the first pass are done.
    begun: bool,
    start: Backoff,
    /// The recorder of the whole current operation; `None` if no operation has begun.
    pub(crate) whole: Option<Slot>,
    /// The counted recorder of the current operation: `whole`, or one of its steps.
    pub(crate) counted: Slot,
    /// Whether the user ends as soon as no operation has to be finished.
    pub(crate) stopping: bool,
}

impl Cursor {
    pub(crate) fn new<R>(program: &Program<R>) -> Self {
        Self {
            pc: 0,
            counters: vec![0; program.counters].into(),
            begun: false,
            start: Backoff { next_ns: START_FIRST_NS },
            whole: None,
            counted: program.counted,
            stopping: false,
        }
    }

    /// Whether an operation has begun that must be finished, without pauses, because it may have to
    /// undo its changes. A pass that is one operation has nothing to undo.
    pub(crate) const fn has_to_finish<R>(&self, program: &Program<R>) -> bool {
        !program.is_whole && self.whole.is_some()
    }

    /// The connections that a pass leaves open for the next pass.
    pub(crate) fn kept<'p, R>(&self, program: &'p Program<R>) -> &'p [usize] {
        if self.stopping { &[] } else { &program.kept }
    }

    /// Jumps to an op, and does not stop there.
    const fn jump<Stop>(&mut self, to: usize) -> Option<Stop> {
        self.pc = to;
        None
    }

    /// Begins no further round of the innermost repeat. Returns whether the cursor is within a repeat.
    fn leave_repeat<R>(&mut self, program: &Program<R>) -> bool {
        let around = program.repeat_around(self.pc);
        if let Some((counter, again)) = around {
            self.counters[counter] = 1;
            self.pc = again;
        }
        around.is_some()
    }
}

/// A user as [`walk`] needs it: its connections, its data, its clock.
pub(crate) trait Walker {
    type Request;
    /// The reason to leave the program for now.
    type Stop;

    fn cursor(&mut self) -> &mut Cursor;

    /// A reason to leave the program before the next op, if there is one.
    fn stop_reason(&mut self) -> Option<Self::Stop> {
        None
    }

    /// Whether the user has taken an arrival whose counted step is still to come. A stopping user performs
    /// that step first, because the arrival has not timed out.
    #[cold]
    fn has_arrival(&self) -> bool {
        false
    }

    /// Whether the connection in use is still being opened.
    fn is_opening(&self) -> bool;
    /// Whether an op may begin while the connection is being opened.
    fn may_begin_before_open(&self, op: Option<&Op<Self::Request>>) -> bool;
    fn wait_for_connection(&mut self) -> Self::Stop;
    fn is_down(&self) -> bool;
    /// Whether this side has closed the connection in use, or not opened it yet.
    fn is_closed(&self) -> bool;
    fn has_endpoint(&self, endpoint: usize) -> bool;
    /// Whether any of these connections is down.
    fn any_is_down(&self, connections: &[usize]) -> bool;
    fn switch(&mut self, connection: usize);
    fn open(&mut self, slot: Slot, endpoint: usize) -> Option<Self::Stop>;
    fn close(&mut self, slot: Slot);
    /// Counts an operation over the current connection; returns the count.
    fn use_connection(&mut self) -> u64;
    fn backoff(&mut self) -> &mut Backoff;

    fn deal(&mut self, deck: usize) -> usize;
    fn count(&mut self, list: usize) -> u64;
    fn think_ns(&mut self, think: &Think) -> u64;

    /// Begins a pass, and an operation if the pass is one operation.
    fn begin_pass(&mut self, program: &Program<Self::Request>);
    fn begin_operation(&mut self);
    fn has_sent(&self) -> bool;
    fn fail(&mut self, failure: Failure);
    fn end_operation(&mut self);

    /// Draws rows and values for the next requests, or returns why it cannot.
    fn prepare(&mut self, preparation: &Preparation) -> Encoded;
    /// Sends a request, or returns why it cannot.
    fn ask(&mut self, slot: Slot, request: &Self::Request) -> Result<Self::Stop, Encoded>;
    /// Sends a request over a shared connection, or returns why it cannot.
    fn ask_shared(&mut self, share: Share, request: &Self::Request) -> Result<Self::Stop, Encoded>;
    /// Skips a request for lack of a captured value.
    fn skip(&mut self, slot: Slot, request: &Self::Request);
    fn wait_for_row(&mut self) -> Self::Stop;
    /// Called when no row is left, for any user.
    fn run_out_of_rows(&mut self);
    /// Ends a user that found no row before its operation began.
    fn end_unbegun(&mut self) -> Self::Stop;

    fn await_pool(&mut self, pool: usize) -> Option<Self::Stop>;
    fn serve(&mut self) -> Self::Stop;
    fn take_arrival(&mut self) -> Option<Self::Stop>;
    fn think(&mut self, pause_ns: u64) -> Self::Stop;
    fn sleep(&mut self, pause_ns: u64) -> Self::Stop;
    /// Leaves the thread to other users and commands for a moment.
    fn yield_turn(&mut self) -> Self::Stop;
    fn end(&mut self) -> Self::Stop;
}

/// Whether a pass has nothing left to do except to close connections. Such a pass is recorded as complete.
#[inline]
fn is_over<R>(op: Option<&Op<R>>) -> bool {
    op.is_none_or(|op| match op {
        Op::Again { .. } | Op::Jump(_) | Op::Close(_) | Op::Done => true,
        // `Used` may close the connection.
        _ => matches!(op, Op::Switch(_) | Op::Used { .. }),
    })
}

/// The number of ops walked without a request up to the last jump backwards, and the target of that jump.
struct Silent {
    steps: usize,
    from: usize,
}

impl Silent {
    /// Jumps backwards. Returns whether too many ops were walked without a request.
    #[inline]
    const fn jump_back(&mut self, cursor: &mut Cursor, to: usize) -> bool {
        self.steps += cursor.pc - self.from;
        self.from = to;
        cursor.pc = to;
        self.steps > SILENT_STEPS
    }
}

/// Runs the program from the user's current op until the user has to wait.
#[inline]
pub(crate) fn walk<W: Walker>(user: &mut W, program: &Program<W::Request>) -> W::Stop {
    let mut silent = Silent { steps: 0, from: user.cursor().pc };
    loop {
        if let Some(stop) = user.stop_reason() {
            return stop;
        }
        let cursor = user.cursor();
        let pc = cursor.pc;
        let op = program.ops.get(pc);
        if cursor.stopping && !is_over(op) && !cursor.has_to_finish(program) && !user.has_arrival() {
            return user.end();
        }
        if user.is_opening() && !user.may_begin_before_open(op) {
            return user.wait_for_connection();
        }
        let stop = match op {
            None => end_pass(user, &mut silent),
            Some(op) => {
                if pc == 0 {
                    user.begin_pass(program);
                    if let Some(stop) = user.stop_reason() {
                        return stop;
                    }
                }
                step(user, program, op, &mut silent)
            }
        };
        if let Some(stop) = stop {
            return stop;
        }
    }
}

/// Ends the pass, and continues with the next pass.
fn end_pass<W: Walker>(user: &mut W, silent: &mut Silent) -> Option<W::Stop> {
    user.end_operation();
    let is_too_long = silent.jump_back(user.cursor(), 0);
    match user.cursor().stopping {
        true => Some(user.end()),
        false => is_too_long.then(|| user.yield_turn()),
    }
}

/// Performs one op, and moves to the next op unless the user has to wait.
#[inline]
fn step<W: Walker>(
    user: &mut W,
    program: &Program<W::Request>,
    op: &Op<W::Request>,
    silent: &mut Silent,
) -> Option<W::Stop> {
    match op {
        Op::Prepare(preparation) => {
            let prepared = user.prepare(preparation);
            return skip_unsent(user, program, prepared);
        }
        Op::Exchange { slot, request } => match user.ask(*slot, request) {
            Ok(stop) => return Some(stop),
            Err(Encoded::Missing) => user.skip(*slot, request),
            Err(unsent) => return skip_unsent(user, program, unsent),
        },
        Op::Share { share, request } => match user.ask_shared(*share, request) {
            Ok(stop) => return Some(stop),
            Err(Encoded::Missing) => user.skip(share.slot, request),
            Err(unsent) => return skip_unsent(user, program, unsent),
        },
        Op::AwaitPool(pool) => {
            if let Some(stop) = user.await_pool(*pool) {
                return Some(stop);
            }
        }
        Op::Serve => return Some(user.serve()),
        Op::Loop { counter, times } => user.cursor().counters[*counter] = *times,
        Op::Each { counter, list, to } => {
            let times = user.count(*list);
            user.cursor().counters[*counter] = times;
            if times == 0 {
                return user.cursor().jump(*to);
            }
        }
        Op::Again { counter, first } => return again(user, (*counter, *first), silent),
        Op::Deal { deck, firsts } => {
            let to = firsts[user.deal(*deck)];
            return user.cursor().jump(to);
        }
        Op::Jump(to) => return user.cursor().jump(*to),
        Op::SkipIfUp(to) if !user.is_down() => return user.cursor().jump(*to),
        Op::SkipUnlessClosed(to) if !user.is_closed() => return user.cursor().jump(*to),
        Op::SkipIfBegun(to) if user.cursor().begun => return user.cursor().jump(*to),
        Op::SkipIfUp(_) | Op::SkipUnlessClosed(_) | Op::SkipIfBegun(_) => {}
        Op::Begun => user.cursor().begun = true,
        Op::Switch(to) => user.switch(*to),
        Op::Used { times, slot } => {
            if user.use_connection() >= *times && !user.is_closed() {
                user.close(*slot);
            }
        }
        Op::Begin { slot, counted } => {
            let cursor = user.cursor();
            (cursor.whole, cursor.counted) = (Some(*slot), *counted);
            user.begin_operation();
        }
        Op::Done => return end_operation(user),
        Op::Ensure { endpoint, .. } if !user.is_down() && user.has_endpoint(*endpoint) => {}
        Op::Ensure { slot, endpoint } | Op::Connect { slot, endpoint } => {
            user.cursor().pc += 1;
            return user.open(*slot, *endpoint);
        }
        Op::Close(slot) => user.close(*slot),
        Op::Await if user.cursor().stopping => return Some(user.end()),
        // Connections closed while the user was idle are reopened before the next operation.
        Op::Await if user.cursor().whole.is_none() && user.any_is_down(&program.kept) => {
            silent.from = 0;
            return user.cursor().jump(0);
        }
        Op::Await => {
            if let Some(stop) = user.take_arrival() {
                return Some(stop);
            }
        }
        Op::Think(think) => {
            user.cursor().pc += 1;
            return pause(user, think);
        }
    }
    user.cursor().pc += 1;
    None
}

/// Begins the next round of a repeat, unless this round was the last.
#[inline]
fn again<W: Walker>(user: &mut W, (counter, first): (usize, usize), silent: &mut Silent) -> Option<W::Stop> {
    let cursor = user.cursor();
    cursor.counters[counter] -= 1;
    if cursor.counters[counter] == 0 {
        cursor.pc += 1;
        return None;
    }
    if !silent.jump_back(cursor, first) {
        return None;
    }
    // The remaining rounds of a stopping user could take hours.
    Some(if cursor.stopping { user.end() } else { user.yield_turn() })
}

/// Ends the current operation. If the operation has sent no request it has failed, and the next operation
/// follows after a pause.
fn end_operation<W: Walker>(user: &mut W) -> Option<W::Stop> {
    let has_sent = user.has_sent();
    if !has_sent {
        user.fail(Failure::NothingCaptured);
    }
    user.end_operation();
    let cursor = user.cursor();
    cursor.pc += 1;
    (!has_sent && !cursor.stopping).then(|| user.sleep(BACKOFF_FIRST_NS))
}

fn pause<W: Walker>(user: &mut W, think: &Think) -> Option<W::Stop> {
    if user.cursor().stopping {
        return None;
    }
    let pause_ns = user.think_ns(think);
    // A timer of 0 ns would fire before other users and commands get their turn.
    (pause_ns > 0).then(|| user.think(pause_ns))
}

/// Continues after a request that could not be sent. A user that finds no row ends, but finishes its
/// operation first. No further round of a repeat begins; an operation that has sent nothing has not begun.
#[inline]
fn skip_unsent<W: Walker>(user: &mut W, program: &Program<W::Request>, unsent: Encoded) -> Option<W::Stop> {
    match unsent {
        Encoded::Held if !user.cursor().stopping => return Some(user.wait_for_row()),
        Encoded::Held | Encoded::Exhausted => {
            if unsent == Encoded::Exhausted {
                user.run_out_of_rows();
                user.cursor().stopping = true;
            }
            if !user.cursor().leave_repeat(program) {
                user.cursor().whole = None;
                return Some(user.end_unbegun());
            }
            return None;
        }
        Encoded::Send | Encoded::Skip | Encoded::Missing => {}
    }
    user.cursor().pc += 1;
    None
}

pub(crate) fn start_over<W: Walker>(user: &mut W, program: &Program<W::Request>) -> W::Stop {
    let cursor = user.cursor();
    let has_failed_start = program.is_start(cursor.pc);
    cursor.pc = 0;
    if cursor.stopping {
        return user.end();
    }
    let pause_ns = match has_failed_start {
        true => cursor.start.take_ns(START_LAST_NS),
        false => user.backoff().take_ns(BACKOFF_LAST_NS),
    };
    user.sleep(pause_ns)
}
