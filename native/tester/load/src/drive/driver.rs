//! The threads as a whole: starting lanes, draining recorders, stopping.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use hdrhistogram::{AdditionError, CreationError};
use mio::{Poll, Waker};

use crate::choose::schedule::{Arrivals, Pace, Share, Spacing, Stage};
use crate::config::{Config, Schedule};
use crate::connection::endpoint::Endpoint;
use crate::connection::security::Security;
use crate::connection::source::Sources;
use crate::drive::context::{BUFFER_BYTES, Context};
use crate::drive::pool::Pool;
use crate::drive::snapshot::Snapshot;
use crate::drive::timers::Timers;
use crate::drive::worker::{Command, Drained, WAKE, Worker};
use crate::program::{Compiled, Deck};
use crate::protocol::Protocol;
use crate::record::clock::{MILLI, now_ns};
use crate::record::examples::Examples;
use crate::record::log::Log;
use crate::record::recorder::{Blank, Label, Spans, Split};
use crate::target_address::TargetAddress;

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The kernel refuses a poller, a timer or a thread.
    #[error("cannot start a load thread: {0}; check the limits on threads and open files (ulimit -n)")]
    Io(#[from] io::Error),
    #[error("cannot make a histogram: {0}")]
    Histogram(#[from] CreationError),
}

#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("no scenario is called {0:?}: use a name from the configuration's \"scenarios\"")]
    UnknownProgram(String),
    #[error("{requested} lanes of {program:?} to stop, but only {running} run")]
    TooFewLanes { program: String, requested: u64, running: u64 },
    #[error("a load thread has ended before its time; what it recorded is lost: start a new engine")]
    ThreadGone,
    #[error("the engine is stopped: start a new one")]
    Stopped,
    #[error("cannot wake a load thread: {0}")]
    Wake(#[from] io::Error),
    #[error("cannot make a histogram: {0}")]
    Histogram(#[from] CreationError),
    /// The histograms have different bounds.
    #[error("cannot merge the threads' histograms: {0}")]
    Merge(#[from] AdditionError),
}

impl From<RecvError> for CommandError {
    fn from(_: RecvError) -> Self {
        Self::ThreadGone
    }
}

/// A running thread as the driver sees it.
struct Handle {
    commands: Sender<Command>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
    /// Lanes by program.
    lanes: Vec<u64>,
    shares_arrivals: bool,
}

/// Lanes running programs against one target, on their own threads.
///
/// Dropping the engine stops all lanes immediately.
pub struct Engine {
    workers: Vec<Handle>,
    programs: Vec<String>,
    labels: Arc<[Label]>,
    decks: Vec<Box<[u64]>>,
    pace: Option<Pace>,
    /// Stages that have not begun, and the length of the spans. If the number of users varies, there are no
    /// stages.
    ahead: Option<(Vec<Stage>, u64)>,
    window_start_ns: u64,
    cuts: usize,
    blank: Blank,
    stopped: bool,
}

impl Engine {
    /// Starts the threads. Their lanes are spread over the target's addresses; `security` has one item per
    /// endpoint. `protocol` makes the protocol of a thread from the thread's seed.
    pub(crate) fn launch<P: Protocol, T: TargetAddress>(
        config: &Config<T>,
        addresses: &[Vec<SocketAddr>],
        security: &[Option<Security>],
        compiled: Compiled<P::Request>,
        mut protocol: impl FnMut(u64, usize) -> P,
    ) -> Result<Self, LaunchError> {
        let Compiled { programs: compiled, labels, decks, pools } = compiled;
        let shared: Arc<[_]> = compiled.into();
        let labels: Arc<[Label]> = labels.into();
        let (pace, ahead, spacing) = match config.schedule.clone() {
            Schedule::Closed => (None, None, Spacing::Even),
            Schedule::Crowd { span_ms } => (None, Some((Vec::new(), span_ms * MILLI)), Spacing::Even),
            Schedule::Open { rate, arrivals } => (Some(Pace::new(now_ns(), rate)), None, arrivals),
            Schedule::Staged { stages, span_ms, arrivals } => {
                (None, Some((stages, span_ms * MILLI)), arrivals)
            }
        };
        // This pace is unused: a closed schedule has no arrivals, and stages set their own pace.
        let first_pace = pace.clone().unwrap_or_else(|| Pace::new(0, 1.0));
        let mut engine = Self {
            workers: Vec::with_capacity(config.threads),
            labels: labels.clone(),
            decks,
            pace,
            ahead,
            window_start_ns: now_ns(),
            cuts: 0,
            blank: Blank::default(),
            stopped: false,
            programs: config.scenarios.iter().map(|spec| spec.name.clone()).collect(),
        };
        for n in 0..config.threads {
            let poll = Poll::new()?;
            let waker = Waker::new(poll.registry(), WAKE)?;
            let endpoint = |(&at, security): (&SocketAddr, &Option<Security>)| Endpoint {
                sources: Sources::new(at, config.target.spreads_sources(), n as u32),
                security: security.as_ref().map(Security::for_thread),
            };
            let endpoints = |ports: &Vec<_>| ports.iter().zip(security).map(endpoint).collect();
            let (seed, mut rng) = config.seeds(n);
            let context = Context {
                registry: poll.registry().try_clone()?,
                addresses: addresses.iter().map(endpoints).collect(),
                protocol: protocol(seed, n),
                recorders: Split::new(&labels, 0, &mut engine.blank)?,
                examples: Examples::default(),
                log: Log::new(config.log),
                timers: Timers::default(),
                decks: engine.decks.iter().map(|weights| Deck::new(weights)).collect(),
                serial: 0,
                arrivals: Arrivals::new(first_pace.clone(), spacing, rng.fork()),
                idle: Default::default(),
                row_waiters: Default::default(),
                row_turn: None,
                pools: pools.iter().map(|pool| Pool::new(pool, n, config.threads)).collect(),
                deadlines: Vec::new(),
                lane_counts: Vec::new(),
                without_row: 0,
                row_wait_ns: 0,
                out: Vec::with_capacity(4096),
                staging: false,
                staged: Vec::new(),
                buffer: vec![0; BUFFER_BYTES],
                half_read: Vec::new(),
                quiet_ns: 0,
                waiting_ns: 0,
                timeout_ns: config.timeout_ms * MILLI,
                connect_timeout_ns: config.connect_timeout_ns(),
                rng,
            };
            let (commands, receiver) = channel();
            let worker = Worker::new(poll, receiver, shared.clone(), context, (n, config.threads))?;
            let thread = std::thread::Builder::new().name(format!("load-{n}")).spawn(|| worker.run())?;
            let lanes = vec![0; engine.programs.len()];
            engine.workers.push(Handle {
                commands,
                waker,
                thread: Some(thread),
                lanes,
                shares_arrivals: false,
            });
        }
        Ok(engine)
    }

    pub fn start_lanes(&mut self, program: &str, n: u64) -> Result<(), CommandError> {
        let program = self.program(program)?;
        let mut more = vec![0; self.workers.len()];
        for _ in 0..n {
            let totals = self.workers.iter().zip(&more).map(|(worker, more)| worker.total() + more);
            let (least, _) = totals.enumerate().min_by_key(|&(_, total)| total).unwrap_or((0, 0));
            more[least] += 1;
        }
        for (worker, lanes) in self.workers.iter_mut().zip(more).filter(|(_, lanes)| *lanes > 0) {
            worker.lanes[program] += lanes;
            worker.send(Command::Start { program, lanes })?;
        }
        self.divide_arrivals()
    }

    /// Stops `n` lanes of `program`, first on the threads that run the most of these lanes. A lane ends after
    /// its current operation.
    pub fn stop_lanes(&mut self, program: &str, n: u64) -> Result<(), CommandError> {
        let name = program;
        let program = self.program(program)?;
        let running = self.workers.iter().map(|worker| worker.lanes[program]).sum();
        if n > running {
            return Err(CommandError::TooFewLanes { program: name.to_owned(), requested: n, running });
        }
        let mut fewer = vec![0; self.workers.len()];
        for _ in 0..n {
            let left = self.workers.iter().zip(&fewer).map(|(worker, fewer)| worker.lanes[program] - fewer);
            let (most, _) = left.enumerate().max_by_key(|&(_, left)| left).unwrap_or((0, 0));
            fewer[most] += 1;
        }
        for (worker, lanes) in self.workers.iter_mut().zip(fewer).filter(|(_, lanes)| *lanes > 0) {
            worker.lanes[program] -= lanes;
            worker.send(Command::Stop { program, lanes })?;
        }
        self.divide_arrivals()
    }

    /// Takes the records since the last drain. Every operation is in exactly one snapshot.
    pub fn drain(&mut self) -> Result<Snapshot, CommandError> {
        self.drain_window(false)
    }

    /// Drains at the edge of a window. Later snapshots have separate records for operations due before this
    /// cut. The first cut begins a staged schedule.
    pub fn cut(&mut self) -> Result<Snapshot, CommandError> {
        self.drain_window(true)
    }

    fn drain_window(&mut self, cut: bool) -> Result<Snapshot, CommandError> {
        self.check_running()?;
        let labels = self.labels.clone();
        self.cuts += usize::from(cut);
        let mut blank = std::mem::take(&mut self.blank);
        let replies = self.ask(|reply| {
            let fresh = Split::new(&labels, self.cuts, &mut blank)?;
            Ok(Command::Drain { fresh, cut, reply })
        });
        self.blank = blank;
        let replies = replies?;
        let snapshot = self.snapshot(replies)?;
        if cut && let Some((stages, span_ns)) = self.ahead.take() {
            self.begin(&stages, span_ns)?;
        }
        Ok(snapshot)
    }

    /// Begins the stages after every thread has made its cut, so that all arrivals of the stages are due
    /// after the cut.
    fn begin(&mut self, stages: &[Stage], span_ns: u64) -> Result<(), CommandError> {
        let origin_ns = now_ns();
        let pace = (!stages.is_empty()).then(|| Pace::staged(origin_ns, stages));
        for worker in &self.workers {
            let spans = Spans::new(origin_ns, span_ns, pace.is_some());
            worker.send(Command::Begin { pace: pace.clone(), spans })?;
        }
        if pace.is_none() {
            return Ok(());
        }
        self.pace = pace;
        self.divide(origin_ns)
    }

    /// Stops every lane, waits for answers for at most `timeout`, ends the threads, and returns the last
    /// snapshot. Operations without an answer by then count as timed out.
    pub fn stop(&mut self, timeout: Duration) -> Result<Snapshot, CommandError> {
        self.check_running()?;
        self.stopped = true;
        let deadline_ns = now_ns().saturating_add(nanos(timeout));
        let replies = self.ask(|reply| Ok(Command::Finish { deadline_ns, reply }));
        let snapshot = replies.and_then(|replies| self.snapshot(replies));
        // The threads are joined even after an error: once `stop` has returned, nothing loads the target.
        self.workers.iter_mut().for_each(Handle::join);
        snapshot
    }

    /// The rate of an open schedule, and the origin of evenly spaced arrivals. Both are fixed once
    /// the schedule has begun. A schedule with stages begins at the first cut, any other schedule
    /// at the start.
    pub fn pace(&self) -> Option<Pace> {
        self.pace.clone()
    }

    fn snapshot(&mut self, replies: Vec<Receiver<Drained>>) -> Result<Snapshot, CommandError> {
        let drained = replies.iter().map(Receiver::recv).collect::<Result<Vec<_>, _>>()?;
        let snapshot = Snapshot::merge(self.window_start_ns, &self.labels, drained, &mut self.blank)?;
        self.window_start_ns = snapshot.t1_ns;
        Ok(snapshot)
    }

    /// Sends a command to every thread, even if one is gone: a thread without a finish command would continue to run.
    fn ask<T>(
        &self,
        mut command: impl FnMut(Sender<T>) -> Result<Command, CommandError>,
    ) -> Result<Vec<Receiver<T>>, CommandError> {
        let ask = |worker: &Handle| {
            let (reply, receiver) = channel();
            worker.send(command(reply)?)?;
            Ok(receiver)
        };
        let replies: Vec<Result<_, CommandError>> = self.workers.iter().map(ask).collect();
        replies.into_iter().collect()
    }

    fn program(&self, name: &str) -> Result<usize, CommandError> {
        self.check_running()?;
        let place = self.programs.iter().position(|program| program == name);
        place.ok_or_else(|| CommandError::UnknownProgram(name.to_owned()))
    }

    const fn check_running(&self) -> Result<(), CommandError> {
        if self.stopped { Err(CommandError::Stopped) } else { Ok(()) }
    }

    fn divide_arrivals(&mut self) -> Result<(), CommandError> {
        let divided = self.workers.iter().all(|worker| worker.shares_arrivals == (worker.total() > 0));
        if self.pace.is_none() || divided {
            return Ok(());
        }
        let replies = self.ask(|reply| Ok(Command::Pause { reply }))?;
        let earliest = replies.iter().map(Receiver::recv).collect::<Result<Vec<_>, _>>()?;
        let earliest_ns = earliest.into_iter().flatten().max();
        let of = self.sharing();
        // If no lane ran so far, there were no arrivals before now. If the last lane has ended, there are no
        // arrivals from now on.
        let from_ns = match earliest_ns {
            Some(earliest_ns) if of > 0 => earliest_ns,
            _ => earliest_ns.unwrap_or(0).max(now_ns()),
        };
        self.divide(from_ns)
    }

    fn sharing(&self) -> u64 {
        self.workers.iter().filter(|worker| worker.total() > 0).count() as u64
    }

    /// Gives every thread that has lanes its share of the arrivals due from `from_ns` on.
    fn divide(&mut self, from_ns: u64) -> Result<(), CommandError> {
        let (of, mut index) = (self.sharing(), 0);
        for worker in &mut self.workers {
            worker.shares_arrivals = worker.total() > 0;
            let share = worker.shares_arrivals.then_some(Share { index, of });
            index += u64::from(worker.shares_arrivals);
            worker.send(Command::Divide { from_ns, share })?;
        }
        Ok(())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if !self.stopped {
            // The records are lost: their reader dropped the engine.
            let _ = self.stop(Duration::ZERO);
        }
    }
}

impl Handle {
    fn total(&self) -> u64 {
        self.lanes.iter().sum()
    }

    fn send(&self, command: Command) -> Result<(), CommandError> {
        self.commands.send(command).map_err(|_| CommandError::ThreadGone)?;
        Ok(self.waker.wake()?)
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, the loss of its channel was already reported as an error.
            let _ = thread.join();
        }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
