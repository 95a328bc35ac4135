//! One thread: its lanes, and the loop that drives them.
//!
//! The loop polls without a timeout. Two kernel timers end the poll: a tick every 10 ms, at which overdue
//! operations are given up, and an alarm for the next sleeping lane or arrival. Commands arrive over a
//! channel; a waker ends the poll.

mod pools;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::Duration;

use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use crate::choose::schedule::{Pace, Share};
use crate::connection::link::ReadOutcome;
use crate::drive::batch::{ANSWER_BYTES, Answer, Batch, Staged};
use crate::drive::context::{Context, Turn};
use crate::drive::lane::{Fate, Lane, of_token};
use crate::drive::pool::Pool;
use crate::drive::timers::{Alarm, NEVER};
use crate::program::Program;
use crate::protocol::Protocol;
use crate::record::clock::{MILLI, now_ns, thread_cpu_ns};
use crate::record::examples::Example;
use crate::record::failure::Failure;
use crate::record::log::Entry;
use crate::record::recorder::{Sample, Slot, Spans, Split};

/// How often operations in flight are checked for timeouts. Timeouts are seconds, so a delay of 10 ms is
/// acceptable.
const TICK_NS: u64 = 10 * MILLI;

/// The number of lanes that are started before running lanes get their turn.
const STARTS_AT_ONCE: u64 = 32;

const EVENTS: usize = 512;

const TICK: Token = Token(usize::MAX);
const ALARM: Token = Token(usize::MAX - 1);
pub(crate) const WAKE: Token = Token(usize::MAX - 2);

pub(crate) enum Command {
    Start {
        program: usize,
        lanes: u64,
    },
    Stop {
        program: usize,
        lanes: u64,
    },
    Drain {
        fresh: Split,
        /// Whether a new window begins now.
        cut: bool,
        reply: Sender<Drained>,
    },
    /// Takes no more arrivals. The reply is the earliest time at which a new division of the arrivals may
    /// begin.
    Pause {
        reply: Sender<Option<u64>>,
    },
    /// Records in spans, and uses `pace` if it is not `None`. If there is a pace, a [`Command::Divide`]
    /// follows.
    Begin {
        pace: Option<Pace>,
        spans: Spans,
    },
    Divide {
        from_ns: u64,
        share: Option<Share>,
    },
    Finish {
        deadline_ns: u64,
        reply: Sender<Drained>,
    },
}

pub(crate) struct Drained {
    pub(crate) recorders: Split,
    pub(crate) examples: Vec<Example>,
    pub(crate) log: Vec<Entry>,
    pub(crate) at_ns: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) lanes: u64,
    pub(crate) lane_ns: u64,
    pub(crate) waiting_ns: u64,
    pub(crate) underway_ns: u64,
    pub(crate) backlog: u64,
    pub(crate) in_flight: u64,
    pub(crate) owed: u64,
    pub(crate) without_row: u64,
    pub(crate) row_wait_ns: u64,
    pub(crate) lost_rows: u64,
    /// The time at which the last user ended, if the data are used up.
    pub(crate) ended_ns: Option<u64>,
    /// Requests that succeeded since the last drain, by the lane's place; see [`lane_number`].
    pub(crate) lane_counts: Vec<u64>,
}

/// A lane's number among the lanes of all threads. The driver starts lanes on the threads in turn.
pub(crate) const fn lane_number(place: usize, thread: usize, threads: usize) -> usize {
    place * threads + thread
}

/// Earliest time at which answers that a poll reports may have arrived. The thread slept from
/// `slept_from_ns`, was to be woken by a timer at `due_ns`, and woke at `woke_ns`.
///
/// An answer that arrives during the sleep wakes the thread, so it has just arrived, unless the thread was
/// descheduled. A timer that has passed shows that the thread has not run since the timer. If the timer is
/// late by a whole tick, the thread may not have run since it fell asleep. Between two timers nothing shows
/// that the thread was descheduled, so an answer may have waited up to 10 ms longer than the returned time
/// says.
const fn quiet_since(slept_from_ns: u64, woke_ns: u64, due_ns: u64) -> u64 {
    if woke_ns < due_ns {
        woke_ns
    } else if woke_ns - due_ns < TICK_NS && due_ns > slept_from_ns {
        due_ns
    } else {
        slept_from_ns
    }
}

struct Finishing {
    deadline_ns: u64,
    reply: Sender<Drained>,
}

/// A thread that runs lanes.
pub(crate) struct Worker<P: Protocol> {
    poll: Poll,
    commands: Receiver<Command>,
    programs: Arc<[Program<P::Request>]>,
    context: Context<P>,
    /// The index of this thread, and the number of threads.
    thread: (usize, usize),
    /// The recorder of arrivals that no lane has taken: the recorder of the most recently started lane.
    arrives: Option<Slot>,
    /// Lanes by id, each with the index of its program.
    lanes: Vec<Option<(usize, Lane<P>)>>,
    free: Vec<u32>,
    running: u64,
    /// The number of lanes, integrated over time from the last drain up to `counted_ns`.
    lane_ns: u64,
    counted_ns: u64,
    /// Lanes to start, by program.
    starting: Vec<(usize, u64)>,
    /// Programs of which a lane found no row. Their other lanes end, too.
    out_of_rows: Vec<usize>,
    /// The time at which the last lane ended, if it ended for lack of rows.
    ended_ns: Option<u64>,
    tick: Alarm,
    alarm: Alarm,
    tick_is_due: bool,
    has_commands: bool,
    /// The time of the last poll that reported all ready sockets.
    looked_ns: u64,
    batch: Batch,
    finishing: Option<Finishing>,
}

impl<P: Protocol> Worker<P> {
    pub(crate) fn new(
        poll: Poll,
        commands: Receiver<Command>,
        programs: Arc<[Program<P::Request>]>,
        context: Context<P>,
        thread: (usize, usize),
    ) -> io::Result<Self> {
        let (mut tick, alarm) = (Alarm::new()?, Alarm::new()?);
        tick.repeat(TICK_NS)?;
        poll.registry().register(&mut SourceFd(&tick.raw_fd()), TICK, Interest::READABLE)?;
        poll.registry().register(&mut SourceFd(&alarm.raw_fd()), ALARM, Interest::READABLE)?;
        Ok(Self {
            poll,
            commands,
            programs,
            context,
            thread,
            arrives: None,
            lanes: Vec::new(),
            free: Vec::new(),
            running: 0,
            lane_ns: 0,
            counted_ns: now_ns(),
            starting: Vec::new(),
            out_of_rows: Vec::new(),
            ended_ns: None,
            tick,
            alarm,
            tick_is_due: false,
            has_commands: false,
            looked_ns: now_ns(),
            batch: Batch::new(),
            finishing: None,
        })
    }

    /// Runs until a `Finish` command. An error ends the thread; the driver notices that the channel is
    /// closed.
    pub(crate) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        while self.turn(&mut events).is_ok() {
            if let Some(finishing) =
                self.finishing.take_if(|finishing| self.running == 0 || now_ns() >= finishing.deadline_ns)
            {
                self.expire_all();
                self.close_pools();
                self.abandon_arrivals(self.context.recorders.over_ns().end.saturating_sub(1));
                let _ = finishing.reply.send(self.drain(Split::none(), false));
                return;
            }
        }
    }

    fn turn(&mut self, events: &mut Events) -> io::Result<()> {
        self.start_waiting_lanes();
        if !self.context.pools.is_empty() {
            self.serve_pools();
        }
        self.set_alarm()?;
        self.poll_events(events)?;
        self.read_rest();
        for event in events.iter() {
            match event.token() {
                TICK => self.tick_is_due = true,
                ALARM => self.alarm.mark_fired(),
                WAKE => self.has_commands = true,
                Token(id) if P::BATCHES => self.read_answer(id, event),
                Token(id) => self.ready(id, event),
            }
        }
        self.process_batch();
        let ticked = std::mem::take(&mut self.tick_is_due);
        if ticked {
            self.expire_overdue();
        }
        // Without a driver no waker fires, so every tick checks the channel.
        if std::mem::take(&mut self.has_commands) || ticked {
            self.run_commands();
        }
        self.run_due();
        if !self.context.row_waiters.is_empty() {
            self.wake_row_waiters();
        }
        while let Some(program) = self.out_of_rows.pop() {
            self.stop_lanes(program, u64::MAX);
        }
        Ok(())
    }

    /// Waits for events, and notes the earliest time at which the answers among them may have arrived.
    ///
    /// Events that a poll reports without sleeping have arrived since the previous poll. For events during a
    /// sleep see [`quiet_since`].
    fn poll_events(&mut self, events: &mut Events) -> io::Result<()> {
        self.context.quiet_ns = self.looked_ns;
        let has_work = !self.starting.is_empty()
            || !self.context.half_read.is_empty()
            || self.context.pools.iter().any(Pool::needs_more);
        if !self.poll_for(events, Some(Duration::ZERO))? || !events.is_empty() || has_work {
            return Ok(());
        }
        let slept_from_ns = self.looked_ns;
        let due_ns = self.tick.due_ns().min(self.alarm.due_ns());
        let shows_all = self.poll_for(events, None)?;
        let woke_ns = if shows_all { self.looked_ns } else { u64::MAX };
        self.context.quiet_ns = quiet_since(slept_from_ns, woke_ns, due_ns);
        Ok(())
    }

    /// Polls once. Returns false if a signal interrupted the poll; the next poll then reports the ready
    /// sockets.
    fn poll_for(&mut self, events: &mut Events, limit: Option<Duration>) -> io::Result<bool> {
        match self.poll.poll(events, limit) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
            Err(_) => Ok(false),
            Ok(()) => {
                // A full list may lack events that are ready.
                if events.iter().count() < EVENTS {
                    self.looked_ns = now_ns();
                }
                Ok(true)
            }
        }
    }

    /// Reads an answer for the batch; any other event is handled immediately.
    #[inline]
    fn read_answer(&mut self, id: usize, event: &Event) {
        let Some(Some((_, lane))) = self.lanes.get_mut(id) else { return self.ready(id, event) };
        match lane.fetch(event, self.batch.space()) {
            Some(Ok(ReadOutcome::Bytes(length))) => {
                self.batch.answers.push(Answer { lane: id, length, read_ns: now_ns() });
                if self.batch.is_full() {
                    self.process_batch();
                }
            }
            Some(Ok(ReadOutcome::WouldBlock)) => {}
            Some(Err(failure)) => {
                self.on_lane(id, |lane, turn| lane.lost(failure, turn));
            }
            None if lane.is_serving() => self.on_shared_event(id, event),
            None => self.on_lane(id, |lane, turn| lane.ready(event, turn)),
        }
    }

    /// Handles an event immediately, unless the event is an answer for the batch over one of several
    /// connections.
    fn ready(&mut self, token: usize, event: &Event) {
        match of_token(token) {
            (id, None) => self.on_lane(id, |lane, turn| lane.ready(event, turn)),
            _ if self.is_parked(token) => self.read_parked(token),
            (id, Some(_)) if P::BATCHES => self.read_answer(id, event),
            (id, Some(_)) => self.on_lane(id, |lane, turn| lane.ready(event, turn)),
        }
    }

    /// Whether the token's lane has several connections and does not use the connection of the token.
    fn is_parked(&self, token: usize) -> bool {
        let (id, connection) = of_token(token);
        let lane = self.lanes.get(id).and_then(Option::as_ref);
        connection.is_some_and(|connection| lane.is_none_or(|(_, lane)| !lane.uses(connection)))
    }

    fn read_parked(&mut self, token: usize) {
        let (id, connection) = of_token(token);
        if let (Some(Some((_, lane))), Some(connection)) = (self.lanes.get_mut(id), connection) {
            lane.read_parked(connection, self.batch.space());
        }
    }

    /// Checks the answers of the batch, then writes the next requests of its lanes.
    fn process_batch(&mut self) {
        self.context.out.clear();
        self.context.staging = true;
        for n in 0..self.batch.answers.len() {
            let Answer { lane: id, read_ns, .. } = self.batch.answers[n];
            if let Some(Some((program, lane))) = self.lanes.get_mut(id) {
                let bytes = self.batch.bytes(n);
                let fate = lane.process_batched(
                    bytes,
                    read_ns,
                    &mut Turn { program: &self.programs[*program], context: &mut self.context },
                );
                self.remove_if_ended(id, fate);
            }
        }
        self.context.staging = false;
        for n in 0..self.context.staged.len() {
            let Staged { lane: id, start, end } = self.context.staged[n];
            self.on_lane(id as usize, |lane, turn| lane.launch(start..end, turn));
        }
        self.context.staged.clear();
        for n in 0..self.batch.answers.len() {
            let Answer { lane: id, length, .. } = self.batch.answers[n];
            if length == ANSWER_BYTES {
                // The answer may be longer, and no further event would report the remaining bytes.
                self.on_lane(id, |lane, turn| lane.read(false, turn));
            }
        }
        self.batch.answers.clear();
    }

    /// Continues reads that left bytes in the socket.
    #[inline]
    fn read_rest(&mut self) {
        if self.context.half_read.is_empty() {
            return;
        }
        for (token, to_the_end) in std::mem::take(&mut self.context.half_read) {
            if self.is_parked(token) {
                self.read_parked(token);
            } else if self.serves(token) {
                self.read_shared(token, to_the_end);
            } else {
                let (id, _) = of_token(token);
                self.on_lane(id, |lane, turn| lane.read(to_the_end, turn));
            }
        }
    }

    /// Calls `act` on a lane, and removes the lane if it has ended.
    #[inline]
    fn on_lane(&mut self, id: usize, act: impl FnOnce(&mut Lane<P>, &mut Turn<'_, P>) -> Fate) {
        if let Some(Some((program, lane))) = self.lanes.get_mut(id) {
            let fate = act(lane, &mut Turn { program: &self.programs[*program], context: &mut self.context });
            self.remove_if_ended(id, fate);
        }
    }

    #[inline]
    fn remove_if_ended(&mut self, id: usize, fate: Fate) {
        if fate == Fate::Ended {
            self.remove(id);
        }
    }

    #[cold]
    fn remove(&mut self, id: usize) {
        let Some((program, mut lane)) = self.lanes[id].take() else { return };
        self.context.protocol.leave(&mut lane.state);
        for &pool in &self.programs[program].pools {
            self.context.pools[pool].count_lane(false);
        }
        self.free.push(id as u32);
        let now_ns = now_ns();
        self.context.waiting_ns += now_ns.saturating_sub(lane.since_ns);
        self.count_lanes(now_ns);
        self.running -= 1;
        if lane.out_of_rows {
            self.out_of_rows.push(program);
        }
        if self.running == 0 && self.context.without_row > 0 {
            self.ended_ns = Some(now_ns);
            // Later arrivals would find no row: they are not a backlog.
            self.context.arrivals.end();
        }
    }

    /// Brings `lane_ns` up to date. Must be called before the number of lanes changes.
    fn count_lanes(&mut self, now_ns: u64) {
        self.lane_ns += self.running * now_ns.saturating_sub(self.counted_ns);
        self.counted_ns = now_ns;
    }

    fn set_alarm(&mut self) -> io::Result<()> {
        let arrival = if self.context.idle.is_empty() { None } else { self.context.arrivals.peek() };
        let wake = self.context.timers.peek();
        match [arrival, wake].into_iter().flatten().min() {
            Some(time_ns) => Ok(self.alarm.set(time_ns)?),
            None => Ok(()),
        }
    }

    /// Resumes lanes whose sleep is over, and idle lanes for which an arrival is due.
    #[inline]
    fn run_due(&mut self) {
        if self.context.timers.peek().is_none() && self.context.idle.is_empty() {
            return;
        }
        let now_ns = now_ns();
        while let Some((due_ns, id, serial)) = self.context.timers.pop_due(now_ns) {
            self.wake(id, serial, due_ns, now_ns);
        }
        while self.context.arrivals.peek().is_some_and(|due_ns| due_ns <= now_ns) {
            let Some(id) = self.context.idle.pop_front() else { break };
            self.on_lane(
                id as usize,
                |lane, turn| {
                    if lane.is_idle() { lane.resume(turn, now_ns) } else { Fate::Runs }
                },
            );
        }
    }

    fn wake(&mut self, id: u32, serial: u32, due_ns: u64, now_ns: u64) {
        self.on_lane(id as usize, |lane, turn| {
            if lane.sleeps(serial) { lane.wake(due_ns, turn, now_ns) } else { Fate::Runs }
        });
    }

    /// Wakes as many lanes as rows were given back, the longest waiting first. A lane that waits for a row of
    /// other data keeps its place in the queue.
    #[cold]
    fn wake_row_waiters(&mut self) {
        let (mut place, mut rows) = (0, self.context.protocol.take_returned_rows());
        while rows > 0
            && let Some((id, serial)) = self.context.row_waiters.remove(place)
        {
            let lane = self.lanes.get(id as usize);
            if !matches!(lane, Some(Some((_, lane))) if lane.sleeps(serial)) {
                continue;
            }
            let waiting = self.context.row_waiters.len();
            self.context.row_turn = Some(place);
            self.on_lane(id as usize, |lane, turn| lane.retry_row(turn, now_ns()));
            self.context.row_turn = None;
            rows += self.context.protocol.take_returned_rows();
            if self.context.row_waiters.len() > waiting {
                place += 1;
            } else {
                rows -= 1;
            }
        }
    }

    /// Gives up operations past their deadline.
    fn expire_overdue(&mut self) {
        self.tick.acknowledge(TICK_NS);
        let now_ns = now_ns();
        for id in 0..self.context.deadlines.len() {
            if self.context.deadlines[id] <= now_ns {
                self.on_lane(id, |lane, turn| lane.expire(turn, now_ns));
            }
        }
    }

    fn run_commands(&mut self) {
        loop {
            match self.commands.try_recv() {
                Ok(command) => self.execute(command),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    // The driver ended without a `Finish` command, so the thread ends immediately.
                    let (reply, _) = std::sync::mpsc::channel();
                    return self.finish(Finishing { deadline_ns: 0, reply });
                }
            }
        }
    }

    fn execute(&mut self, command: Command) {
        // If the receiver of a reply is gone, the reply is not needed.
        match command {
            Command::Start { program, lanes } => self.starting.push((program, lanes)),
            Command::Stop { program, lanes } => self.stop_lanes(program, lanes),
            Command::Drain { fresh, cut, reply } => drop(reply.send(self.drain(fresh, cut))),
            Command::Pause { reply } => drop(reply.send(self.context.arrivals.pause(now_ns()))),
            Command::Begin { pace, spans } => {
                if let Some(pace) = pace {
                    self.context.arrivals.set_pace(pace);
                }
                self.context.recorders.spans = spans;
            }
            Command::Divide { from_ns, share } => {
                self.context.arrivals.divide(from_ns, share);
                if share.is_none() {
                    // No lane is left to take arrivals that were due before.
                    self.abandon_arrivals(from_ns);
                }
            }
            Command::Finish { deadline_ns, reply } => self.finish(Finishing { deadline_ns, reply }),
        }
    }

    fn drain(&mut self, fresh: Split, cut: bool) -> Drained {
        let recorders = self.context.recorders.swap(fresh);
        let at_ns = now_ns();
        if cut {
            self.context.recorders.cut(at_ns);
            self.context.log.cut();
        }
        self.count_lanes(at_ns);
        for n in 0..self.context.row_waiters.len() {
            let (id, _) = self.context.row_waiters[n];
            if let Some(Some((_, lane))) = self.lanes.get_mut(id as usize) {
                lane.count_row_wait(&mut self.context, at_ns);
            }
        }
        let over_ns = self.context.recorders.over_ns();
        let waiting = self.context.arrivals.waiting(at_ns, over_ns);
        let limit_ns = over_ns.end.saturating_add(self.context.timeout_ns);
        let owes =
            |(program, lane): &&(usize, Lane<P>)| lane.owes(over_ns, limit_ns, &self.programs[*program]);
        let under_way = self.users().filter(owes).count();
        let in_flight = self.users().filter(|(_, lane)| lane.is_busy()).count() as u64;
        Drained {
            recorders,
            examples: self.context.examples.take(),
            log: self.context.log.take(),
            at_ns,
            cpu_ns: thread_cpu_ns(),
            lanes: self.running,
            lane_ns: std::mem::take(&mut self.lane_ns) + self.count_opening(),
            waiting_ns: std::mem::take(&mut self.context.waiting_ns),
            underway_ns: self.underway_ns(at_ns),
            backlog: waiting.all,
            in_flight,
            owed: under_way as u64 + waiting.of_window,
            without_row: self.context.without_row,
            row_wait_ns: std::mem::take(&mut self.context.row_wait_ns),
            lost_rows: self.context.protocol.lost_rows(),
            ended_ns: self.ended_ns.filter(|_| self.running == 0),
            lane_counts: self.take_lane_counts(),
        }
    }

    /// Records arrivals due up to `last_ns` that no lane has taken as timed out.
    fn abandon_arrivals(&mut self, last_ns: u64) {
        let now_ns = now_ns();
        while let Some(slot) = self.arrives
            && let Some(due_ns) = self.context.arrivals.take(last_ns)
        {
            self.context.recorders.record(slot, &Sample::unsent(due_ns, Failure::Timeout, now_ns));
        }
    }

    fn take_lane_counts(&mut self) -> Vec<u64> {
        let none = vec![0; self.context.lane_counts.len()];
        std::mem::replace(&mut self.context.lane_counts, none)
    }

    /// The lanes' time that is not recorded yet. It is summed lane by lane, not computed as the difference to
    /// the total, so that it can verify the total.
    fn underway_ns(&self, now_ns: u64) -> u64 {
        let lanes = self.users();
        lanes.map(|(_, lane)| now_ns.saturating_sub(lane.since_ns)).sum()
    }

    fn start_waiting_lanes(&mut self) {
        let mut left = STARTS_AT_ONCE;
        while left > 0
            && let Some((program, lanes)) = self.starting.last_mut()
        {
            let program = *program;
            *lanes -= 1;
            if *lanes == 0 {
                self.starting.pop();
            }
            left -= 1;
            self.start_lane(program);
        }
    }

    fn start_lane(&mut self, program: usize) {
        let now_ns = now_ns();
        let place = self.place_lane(program, now_ns);
        self.count_lanes(now_ns);
        self.running += 1;
        self.arrives = self.programs[program].arrives;
        for &pool in &self.programs[program].pools {
            self.context.pools[pool].count_lane(true);
        }
        self.on_lane(place, |lane, turn| lane.resume(turn, now_ns));
    }

    /// Creates a lane, and returns its place.
    fn place_lane(&mut self, program: usize, now_ns: u64) -> usize {
        let id = self.free.pop().unwrap_or(self.lanes.len() as u32);
        let place = id as usize;
        let (thread, threads) = self.thread;
        let address = lane_number(place, thread, threads) % self.context.addresses.len();
        let lane = Lane::new(id, address, &self.programs[program], now_ns);
        if place == self.lanes.len() {
            self.lanes.push(None);
            self.context.deadlines.push(NEVER);
            if self.programs.iter().any(|program| program.phases.is_some()) {
                self.context.lane_counts.push(0);
            }
        }
        self.lanes[place] = Some((program, lane));
        place
    }

    fn stop_lanes(&mut self, program: usize, mut lanes: u64) {
        for (starting, left) in &mut self.starting {
            if *starting == program {
                let fewer = lanes.min(*left);
                *left -= fewer;
                lanes -= fewer;
            }
        }
        self.starting.retain(|&(_, left)| left > 0);
        for id in 0..self.lanes.len() {
            if lanes == 0 {
                return;
            }
            if let Some((runs, lane)) = &self.lanes[id]
                && *runs == program
                && !lane.cursor.stopping
            {
                lanes -= 1;
                self.on_lane(id, |lane, turn| lane.stop(turn));
            }
        }
    }

    fn finish(&mut self, finishing: Finishing) {
        self.starting.clear();
        self.on_users(|lane, turn| lane.stop(turn));
        self.finishing = Some(finishing);
    }

    /// Records operations in flight as timed out.
    fn expire_all(&mut self) {
        let now_ns = now_ns();
        self.on_users(|lane, turn| lane.expire(turn, now_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_possible_wait_of_an_answer_depends_on_how_late_the_thread_woke() {
        let (slept_from_ns, due_ns) = (100 * MILLI, 107 * MILLI);
        for (woke_ms, since_ms) in [(101, 101), (106, 106), (107, 107), (116, 107), (117, 100), (500, 100)] {
            let since_ns = quiet_since(slept_from_ns, woke_ms * MILLI, due_ns);
            assert_eq!(since_ns, since_ms * MILLI, "woke at {woke_ms} ms");
        }
        // The end of an interrupted sleep is unknown. A timer may have been due before the thread slept.
        assert_eq!(quiet_since(slept_from_ns, u64::MAX, due_ns), slept_from_ns);
        assert_eq!(quiet_since(slept_from_ns, 101 * MILLI, 90 * MILLI), slept_from_ns);
    }
}
