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
//! A step that fails with an answer is counted and the program goes on. A connection that fails ends the
//! pass: the lane sleeps (10 ms, doubled up to 1 s while failures go on) and restarts.
//!
//! With a request over a shared connection ([`shared`]) a lane is `Queued` until it has a place, and `Sharing` until
//! it has the answer. A shared connection is held by a lane of its own, which opens the connection like any other lane
//! and is then `Serving`.
//!
//! Per small operation there is one write, one read and at most two looks at the clock. A read that
//! does not fill its room has emptied the socket, so no second read is needed to get EAGAIN
//! (epoll(7), edge-triggered). Nagle's algorithm need not be switched off. It delays a small
//! segment while an earlier segment is not acknowledged; with one request in flight, the answer has
//! acknowledged all earlier segments.

mod connect;
mod exchange;
mod outcome;
mod phases;
mod several;
mod shared;
mod walk;

use std::ops::Range;

use mio::event::Event;

pub(crate) use self::exchange::FULL_READS;
use self::phases::PhaseTimes;
pub(crate) use self::several::of_token;
use self::several::{Connection, Several};
use self::walk::Walk;
use crate::drive::context::{Context, Turn};
use crate::drive::pool::Ticket;
use crate::drive::timers::NEVER;
use crate::program::{Cursor, Program, walk};
use crate::protocol::Protocol;
use crate::record::clock::now_ns;
use crate::record::failure::Failure;
use crate::record::recorder::Slot;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// Waits for its connection.
    Opening,
    /// Waits for an answer.
    Asking,
    /// Waits for a timer.
    Sleeping,
    Idle,
    Queued,
    Sharing,
    Serving,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Runs,
    Ended,
}

/// An operation that has begun and has not been recorded.
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

/// A pass through the program, or one operation of a pass.
#[derive(Debug, Clone, Copy, Default)]
struct Pass {
    /// The due time of its arrival; 0 without an arrival.
    due_ns: u64,
    /// The start of the pass. Without an arrival this time decides to which window the pass
    /// belongs.
    began_ns: u64,
    /// `began_ns` plus the think times and the waits for rows that the times of the pass exclude.
    started_ns: u64,
    /// The think times so far that the times of the pass exclude.
    paused_ns: u64,
    bytes_out: u64,
    bytes_in: u64,
    failure: Option<Failure>,
    /// Whether the operation is recorded as left out.
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

/// One virtual user. Its methods take the program as an argument: all lanes that run the program share it.
pub(crate) struct Lane<P: Protocol> {
    id: u32,
    phase: Phase,
    /// Whether the lane found no row, so that other lanes will find no row either.
    pub(crate) out_of_rows: bool,
    /// The index of the target's address.
    address: usize,
    /// The connection in use.
    connection: Connection,
    pub(crate) cursor: Cursor,
    current: Operation,
    pass: Pass,
    /// The due time of the current arrival; [`NEVER`] without an arrival.
    due_ns: u64,
    /// The end of the previous step, or of the pause after it. If one arrival leads to several counted steps,
    /// every counted step after the first is due at this time.
    ready_ns: u64,
    /// The end of the current think time within an operation; 0 outside think times.
    thinks_until_ns: u64,
    /// The time up to which the current wait for a row is counted; 0 outside waits.
    row_wait_ns: u64,
    /// The time up to which this lane's time is accounted for, in operations or as waiting. The time from
    /// here to the next request is the engine's own time.
    pub(crate) since_ns: u64,
    sleep: u32,
    /// Connections that are not in use.
    several: Option<Box<Several>>,
    /// The lane's place on a shared connection; for a carrier, the connection that it holds.
    ticket: Option<Ticket>,
    pub(crate) state: P::Lane,
    began: PhaseTimes,
}

impl<P: Protocol> Lane<P> {
    pub(crate) fn new(id: u32, address: usize, program: &Program<P::Request>, now_ns: u64) -> Self {
        let slot = program.sequence;
        Self {
            id,
            phase: Phase::Running,
            out_of_rows: false,
            address,
            connection: Connection::new(slot),
            cursor: Cursor::new(program),
            current: Operation::started(slot, 0),
            pass: Pass::default(),
            due_ns: NEVER,
            ready_ns: now_ns,
            thinks_until_ns: 0,
            row_wait_ns: 0,
            since_ns: now_ns,
            sleep: 0,
            several: Several::of(program),
            ticket: None,
            state: P::Lane::default(),
            began: PhaseTimes::default(),
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    pub(crate) fn sleeps(&self, serial: u32) -> bool {
        self.phase == Phase::Sleeping && self.sleep == serial
    }

    pub(crate) const fn is_busy(&self) -> bool {
        let asks = matches!(self.phase, Phase::Asking | Phase::Opening | Phase::Queued | Phase::Sharing);
        self.due_ns != NEVER || asks
    }

    /// Whether the result of this window has to wait for a request or an operation of the lane.
    /// Connecting is part of a request if phases are recorded.
    ///
    /// The result does not wait for an operation whose remaining think times would end at
    /// `limit_ns` or later. They are added to the end of the current think time, or to the start of
    /// the current request.
    pub(crate) fn owes(&self, over_ns: &Range<u64>, limit_ns: u64, program: &Program<P::Request>) -> bool {
        let began_ns = match self.phase {
            Phase::Opening if !self.reconnects() => self.connection.connect.started_ns,
            Phase::Asking | Phase::Opening if program.phases.is_some() => self.request_began_ns(),
            Phase::Asking | Phase::Opening | Phase::Queued | Phase::Sharing => self.current.started_ns,
            Phase::Running | Phase::Sleeping | Phase::Idle | Phase::Serving => NEVER,
        };
        // A request that serves an arrival belongs to the window in which the arrival was due.
        if over_ns.contains(&self.due_ns.min(began_ns)) && began_ns < over_ns.end {
            return true;
        }
        let rest_ns = program.pauses_ns.get(self.cursor.pc).copied().unwrap_or(0);
        let has_time = match self.phase {
            Phase::Sleeping if self.thinks_until_ns > 0 => {
                self.thinks_until_ns.saturating_add(rest_ns) < limit_ns
            }
            // The lane waits for a row. An operation has begun if it has an arrival, or has sent
            // something.
            Phase::Sleeping => self.due_ns != NEVER || self.pass.bytes_out > 0,
            _ => rest_ns == 0 || began_ns.saturating_add(rest_ns) < limit_ns,
        };
        has_time && over_ns.contains(&self.operation_due_ns())
    }

    /// The due time of the current operation, or its start if there is no arrival. [`NEVER`] if there is
    /// neither an arrival nor an operation that is counted as a whole.
    fn operation_due_ns(&self) -> u64 {
        let is_counted = self.cursor.whole == Some(self.cursor.counted) && !self.pass.left_out;
        match self.pass.due_ns {
            _ if self.due_ns != NEVER => self.due_ns,
            0 if is_counted => self.pass.began_ns,
            due_ns if is_counted => due_ns,
            _ => NEVER,
        }
    }

    /// Whether the lane opens a connection for the next part of a request that has begun on another
    /// connection.
    fn reconnects(&self) -> bool {
        self.phase == Phase::Opening && self.current.bytes_in > 0 && !self.connection.outbox.is_empty()
    }

    /// Resumes after a sleep that was to end at `due_ns`. A late wake-up counts as the engine's own time.
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

    /// Runs the program from its current step until the lane has to wait.
    pub(crate) fn resume(&mut self, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        self.phase = Phase::Running;
        let program = turn.program;
        walk(&mut Walk { lane: self, turn, now_ns }, program)
    }

    /// Handles an event of the poller.
    pub(crate) fn ready(&mut self, event: &Event, turn: &mut Turn<'_, P>) -> Fate {
        if self.phase == Phase::Opening {
            let settled =
                event.is_writable() || event.is_readable() || event.is_read_closed() || event.is_error();
            return if settled { self.finish_connecting(turn) } else { Fate::Runs };
        }
        if event.is_writable()
            && !self.connection.outbox.is_empty()
            && let Err(failure) = self.flush(turn.context)
        {
            return self.lost(failure, turn);
        }
        let closed = event.is_read_closed() || event.is_error();
        if event.is_readable() || closed { self.read(closed, turn) } else { Fate::Runs }
    }

    /// Ends the lane: immediately if no operation has to be finished, otherwise after the current operation.
    /// An operation in one of its think times is left out.
    pub(crate) fn stop(&mut self, turn: &mut Turn<'_, P>) -> Fate {
        self.cursor.stopping = true;
        self.count_row_wait(turn.context, now_ns());
        self.row_wait_ns = 0;
        let due_ns = self.operation_due_ns();
        if self.phase == Phase::Sleeping && self.thinks_until_ns > 0 && due_ns != NEVER {
            turn.context.recorders.leave_out(self.cursor.counted, due_ns);
            (self.due_ns, self.pass.left_out) = (NEVER, true);
        }
        match self.phase {
            Phase::Sleeping if self.cursor.has_to_finish(turn.program) => self.resume(turn, now_ns()),
            Phase::Queued if self.cursor.has_to_finish(turn.program) => Fate::Runs,
            Phase::Sleeping | Phase::Idle | Phase::Running | Phase::Queued => {
                self.end(turn.context, now_ns())
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
            Phase::Queued | Phase::Sharing => self.abandon_request(turn, now_ns),
            Phase::Running | Phase::Sleeping | Phase::Idle | Phase::Serving => Fate::Runs,
        }
    }
}
