//! One thread: its lanes, and the loop that drives them.
//!
//! The loop waits without a limit of its own. Two timers of the kernel end the wait when time matters:
//! a tick every 10 ms, at which operations in flight too long are given up, and an alarm for the next
//! lane that wakes or arrival that is due. Commands come over a channel; a waker ends the wait.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::Duration;

use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use crate::choose::schedule::Share;
use crate::connection::link::ReadOutcome;
use crate::drive::batch::{ANSWER_BYTES, Answer, Batch, Staged};
use crate::drive::context::{Context, NEVER};
use crate::drive::lane::{Fate, Lane};
use crate::drive::timers::Alarm;
use crate::program::Program;
use crate::protocol::Protocol;
use crate::record::clock::{MILLI, now_ns, thread_cpu_ns};
use crate::record::recorder::Recorders;

/// How often operations in flight are looked over. Timeouts are seconds, so 10 ms late is exact enough.
const TICK_NS: u64 = 10 * MILLI;

/// How many lanes are started before those that run get their turn.
const STARTS_AT_ONCE: u64 = 32;

/// Events taken at once.
const EVENTS: usize = 512;

const TICK: Token = Token(usize::MAX);
const ALARM: Token = Token(usize::MAX - 1);
pub(crate) const WAKE: Token = Token(usize::MAX - 2);

/// A command to a worker.
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
        fresh: Recorders,
        reply: Sender<Drained>,
    },
    /// Take no more arrivals, and reply with the first one not taken.
    Pause {
        reply: Sender<Option<u64>>,
    },
    Divide {
        from: u64,
        share: Option<Share>,
    },
    Finish {
        deadline_ns: u64,
        reply: Sender<Drained>,
    },
}

/// What a worker has recorded.
pub(crate) struct Drained {
    pub(crate) recorders: Recorders,
    pub(crate) at_ns: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) lanes: u64,
    pub(crate) lane_ns: u64,
    pub(crate) waiting_ns: u64,
    pub(crate) underway_ns: u64,
    pub(crate) backlog: u64,
    /// Requests that succeeded since the last drain, by the lane's place; see [`lane_number`].
    pub(crate) lane_counts: Vec<u64>,
    /// Cards dealt since the start, by deck and branch.
    pub(crate) dealt: Vec<Box<[u64]>>,
}

/// A lane's number among those of all threads. The driver starts lanes on the threads in turn.
pub(crate) const fn lane_number(place: usize, thread: usize, threads: usize) -> usize {
    place * threads + thread
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
    /// Which thread this is, of how many.
    thread: (usize, usize),
    /// With the index of the program each runs.
    lanes: Vec<Option<(usize, Lane<P::Lane>)>>,
    free: Vec<u32>,
    running: u64,
    /// Lanes that ran since the last drain, integrated over time up to `counted_ns`.
    lane_ns: u64,
    counted_ns: u64,
    /// Lanes to start, by program.
    starting: Vec<(usize, u64)>,
    tick: Alarm,
    alarm: Alarm,
    tick_is_due: bool,
    has_commands: bool,
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
            lanes: Vec::new(),
            free: Vec::new(),
            running: 0,
            lane_ns: 0,
            counted_ns: now_ns(),
            starting: Vec::new(),
            tick,
            alarm,
            tick_is_due: false,
            has_commands: false,
            batch: Batch::new(),
            finishing: None,
        })
    }

    /// Runs until a `Finish` command. An error ends the thread; its driver notices that
    /// the channel is closed.
    pub(crate) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        while self.turn(&mut events).is_ok() {
            if let Some(finishing) =
                self.finishing.take_if(|finishing| self.running == 0 || now_ns() >= finishing.deadline_ns)
            {
                self.expire_all();
                let none = Recorders::none();
                let _ = finishing.reply.send(self.drain(none));
                return;
            }
        }
    }

    fn turn(&mut self, events: &mut Events) -> io::Result<()> {
        self.start_waiting_lanes();
        self.set_alarm()?;
        let limit = if self.starting.is_empty() { None } else { Some(Duration::ZERO) };
        match self.poll.poll(events, limit) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        for event in events.iter() {
            match event.token() {
                TICK => self.tick_is_due = true,
                ALARM => self.alarm.rang(),
                WAKE => self.has_commands = true,
                Token(id) if P::BATCHES => self.read_answer(id, event),
                Token(id) => self.on_lane(id, |lane, program, context| lane.ready(event, program, context)),
            }
        }
        self.process_batch();
        let ticked = std::mem::take(&mut self.tick_is_due);
        if ticked {
            self.expire_overdue();
        }
        // A driver that is gone wakes no worker: look for that at every tick.
        if std::mem::take(&mut self.has_commands) || ticked {
            self.run_commands();
        }
        self.run_due();
        Ok(())
    }

    /// Reads an answer for the batch; any other event is handled at once.
    #[inline]
    fn read_answer(&mut self, id: usize, event: &Event) {
        let Some(Some((_, lane))) = self.lanes.get_mut(id) else { return };
        match lane.fetch(event, self.batch.space()) {
            Some(Ok(ReadOutcome::Bytes(length))) => {
                self.batch.answers.push(Answer { lane: id, length, read_ns: now_ns() });
                if self.batch.is_full() {
                    self.process_batch();
                }
            }
            Some(Ok(ReadOutcome::WouldBlock)) => {}
            Some(Err(failure)) => {
                self.on_lane(id, |lane, program, context| lane.lost(failure, program, context));
            }
            None => self.on_lane(id, |lane, program, context| lane.ready(event, program, context)),
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
                let fate = lane.digest(bytes, read_ns, &self.programs[*program], &mut self.context);
                self.settle(id, fate);
            }
        }
        self.context.staging = false;
        for n in 0..self.context.staged.len() {
            let Staged { lane: id, start, end } = self.context.staged[n];
            self.on_lane(id as usize, |lane, program, context| lane.launch(start..end, program, context));
        }
        self.context.staged.clear();
        for n in 0..self.batch.answers.len() {
            let Answer { lane: id, length, .. } = self.batch.answers[n];
            if length == ANSWER_BYTES {
                // There may be more of it, and no other event will say so.
                self.on_lane(id, |lane, program, context| lane.read(false, program, context));
            }
        }
        self.batch.answers.clear();
    }

    /// Calls `act` on a lane, and removes the lane if it has ended.
    #[inline]
    fn on_lane(
        &mut self,
        id: usize,
        act: impl FnOnce(&mut Lane<P::Lane>, &Program<P::Request>, &mut Context<P>) -> Fate,
    ) {
        if let Some(Some((program, lane))) = self.lanes.get_mut(id) {
            let fate = act(lane, &self.programs[*program], &mut self.context);
            self.settle(id, fate);
        }
    }

    #[inline]
    fn settle(&mut self, id: usize, fate: Fate) {
        if fate == Fate::Ended
            && let Some((_, lane)) = self.lanes[id].take()
        {
            self.free.push(id as u32);
            let now_ns = now_ns();
            self.context.waiting_ns += now_ns.saturating_sub(lane.since_ns());
            self.count_lanes(now_ns);
            self.running -= 1;
        }
    }

    /// To be called before the number of lanes changes.
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

    /// Resumes the lanes that are due: sleeps that are over, arrivals of the open schedule.
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
            self.on_lane(id as usize, |lane, program, context| {
                if lane.is_idle() { lane.resume(program, context, now_ns) } else { Fate::Runs }
            });
        }
    }

    fn wake(&mut self, id: u32, serial: u32, due_ns: u64, now_ns: u64) {
        self.on_lane(id as usize, |lane, program, context| {
            if lane.sleeps(serial) { lane.wake(due_ns, program, context, now_ns) } else { Fate::Runs }
        });
    }

    /// Gives up operations past their deadline.
    fn expire_overdue(&mut self) {
        self.tick.acknowledge();
        let now_ns = now_ns();
        for id in 0..self.context.deadlines.len() {
            if self.context.deadlines[id] <= now_ns
                && let Some(Some((program, lane))) = self.lanes.get_mut(id)
            {
                let fate = lane.expire(&self.programs[*program], &mut self.context, now_ns);
                self.settle(id, fate);
            }
        }
    }

    fn run_commands(&mut self) {
        loop {
            match self.commands.try_recv() {
                Ok(command) => self.execute(command),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    // The driver is gone without `Finish`: end at once.
                    let (reply, _) = std::sync::mpsc::channel();
                    return self.finish(Finishing { deadline_ns: 0, reply });
                }
            }
        }
    }

    fn execute(&mut self, command: Command) {
        // Where the asking side has gone, the reply is not needed.
        match command {
            Command::Start { program, lanes } => self.starting.push((program, lanes)),
            Command::Stop { program, lanes } => self.stop_lanes(program, lanes),
            Command::Drain { fresh, reply } => drop(reply.send(self.drain(fresh))),
            Command::Pause { reply } => drop(reply.send(self.context.arrivals.pause())),
            Command::Divide { from, share } => self.context.arrivals.divide(from, share),
            Command::Finish { deadline_ns, reply } => self.finish(Finishing { deadline_ns, reply }),
        }
    }

    fn drain(&mut self, fresh: Recorders) -> Drained {
        let recorders = std::mem::replace(&mut self.context.recorders, fresh);
        let at_ns = now_ns();
        self.count_lanes(at_ns);
        Drained {
            recorders,
            at_ns,
            cpu_ns: thread_cpu_ns(),
            lanes: self.running,
            lane_ns: std::mem::take(&mut self.lane_ns),
            waiting_ns: std::mem::take(&mut self.context.waiting_ns),
            underway_ns: self.underway_ns(at_ns),
            backlog: self.context.arrivals.backlog(at_ns),
            lane_counts: self.take_lane_counts(),
            dealt: self.context.decks.iter().map(|deck| deck.dealt().into()).collect(),
        }
    }

    fn take_lane_counts(&mut self) -> Vec<u64> {
        let none = vec![0; self.context.lane_counts.len()];
        std::mem::replace(&mut self.context.lane_counts, none)
    }

    /// What lanes have begun and is not recorded yet. Looked up lane by lane, so that it is known by
    /// itself and not as what is missing.
    fn underway_ns(&self, now_ns: u64) -> u64 {
        let lanes = self.lanes.iter().flatten();
        lanes.map(|(_, lane)| now_ns.saturating_sub(lane.since_ns())).sum()
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
        self.count_lanes(now_ns);
        self.running += 1;
        let (_, lane) = self.lanes[place].insert((program, lane));
        let fate = lane.resume(&self.programs[program], &mut self.context, now_ns);
        self.settle(place, fate);
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
            if let Some((runs, lane)) = &mut self.lanes[id]
                && *runs == program
                && !lane.is_stopping()
            {
                lanes -= 1;
                let fate = lane.stop(&mut self.context);
                self.settle(id, fate);
            }
        }
    }

    fn finish(&mut self, finishing: Finishing) {
        self.starting.clear();
        for id in 0..self.lanes.len() {
            if let Some((_, lane)) = &mut self.lanes[id] {
                let fate = lane.stop(&mut self.context);
                self.settle(id, fate);
            }
        }
        self.finishing = Some(finishing);
    }

    /// Counts what is still in flight as not answered in time.
    fn expire_all(&mut self) {
        let now_ns = now_ns();
        for id in 0..self.lanes.len() {
            if let Some((program, lane)) = &mut self.lanes[id] {
                let fate = lane.expire(&self.programs[*program], &mut self.context, now_ns);
                self.settle(id, fate);
            }
        }
    }
}
