//! Slow password hashes, checked by separate threads: a check takes up to seconds and must not delay the
//! requests of other clients.
//!
//! The number of checks that run at a time is one less than the number of cores, and at least one. Their
//! threads start on demand and have the lowest priority. Client addresses take turns; within one address,
//! quick checks overtake slow checks ([`Ticket`]). A check starts when the running checks leave enough
//! memory. A check that takes longer than `slow_hash_ms` cannot be interrupted: its password is refused, and
//! the next check starts beside it.

use std::collections::BTreeMap;
use std::mem;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::ops::Bound::{Excluded, Unbounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hashes::Slow;
use net::{ConnectionId, Mailboxes};
use rustix::process::setpriority_process;
use rustix::time::{ClockId, clock_gettime};

use crate::auth::Password;

/// The lowest scheduling priority (nice(1)).
const LOWEST: i32 = 19;

/// The most overdue checks, which have taken longer than `slow_hash_ms`, that may run beside the regular
/// checks.
const MOST_OVERDUE: usize = 3;

/// Later, quicker checks of the same address can overtake a check for this many times its estimated duration.
const PATIENCE: u64 = 8;

/// A password, and the stored values to check it against.
#[derive(Debug)]
pub(crate) struct Check {
    password: Password,
    /// In the order of checking.
    pub(crate) stored: Vec<Slow>,
}

impl Check {
    pub(crate) fn new(password: &[u8], stored: Vec<Slow>) -> Self {
        Self { password: Password(password.into()), stored }
    }

    /// The memory of the check: the maximum over the values, which are checked one after the other.
    fn memory_bytes(&self) -> u64 {
        self.stored.iter().map(Slow::memory_bytes).max().unwrap_or(0)
    }

    /// Estimated CPU time of the check.
    fn nanoseconds(&self) -> u64 {
        self.stored.iter().map(|stored| stored.nanoseconds(&self.password.0)).fold(0, u64::saturating_add)
    }

    /// Runs the check. Its limit is CPU time, not wall-clock time, because a thread of lowest priority has to
    /// wait on a busy machine.
    fn run(&self, longest: Duration) -> Outcome {
        let begun = processor_time();
        #[cfg(test)]
        tests::misbehave(&self.password.0);
        let mut outcome = Outcome::Wrong;
        for (place, stored) in self.stored.iter().enumerate() {
            let is_right = stored.is_of(&self.password.0);
            if processor_time().saturating_sub(begun) > longest {
                return Outcome::TooLong;
            }
            match is_right {
                Some(true) => return Outcome::Right(place),
                Some(false) => {}
                None => outcome = Outcome::Unable,
            }
        }
        outcome
    }
}

/// CPU time of this thread.
fn processor_time() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec as u32)
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The password matches the value of this index.
    Right(usize),
    /// The password matches no value.
    Wrong,
    /// The system has no memory or no thread for the check.
    Unable,
    /// The check took longer than `slow_hash_ms`.
    TooLong,
    Gone,
}

#[derive(Debug)]
pub(crate) struct SlowBinds {
    mailboxes: Mailboxes<Outcome>,
    /// The most checks that run at a time, without the overdue checks.
    most_in_time: usize,
    most_bytes: u64,
    longest: Duration,
    began: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: BTreeMap<Ticket, (ConnectionId, Check)>,
    next: u64,
    /// The address of the last check that started.
    last: Option<IpAddr>,
    threads: usize,
    idle: usize,
    /// The start of each running check.
    running: BTreeMap<Ticket, Instant>,
    /// The memory of the running checks.
    bytes: u64,
    stopping: bool,
}

/// A check's place in the queue of its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ticket {
    from: IpAddr,
    /// The arrival time plus [`PATIENCE`] times the estimated CPU time. So an expensive check delays cheap
    /// checks little, and no check waits for ever.
    due_ns: u64,
    number: u64,
}

/// A check's place in the queue. Dropping it removes the check.
#[derive(Debug)]
pub(crate) struct Place {
    binds: Arc<SlowBinds>,
    id: ConnectionId,
    ticket: Ticket,
}

impl SlowBinds {
    pub(crate) fn new(mailboxes: Mailboxes<Outcome>, most_bytes: u64, longest: Duration) -> Arc<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Arc::new(Self {
            mailboxes,
            most_in_time: cores.saturating_sub(1).max(1),
            most_bytes,
            longest,
            began: Instant::now(),
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Queues a check for a connection from this address; the outcome goes to the connection.
    pub(crate) fn begin(self: &Arc<Self>, id: ConnectionId, from: IpAddr, check: Check) -> Place {
        let came_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let due_ns = came_ns.saturating_add(check.nanoseconds().saturating_mul(PATIENCE));
        let mut state = self.state();
        let ticket = Ticket { from, due_ns, number: state.next };
        state.next += 1;
        state.waiting.insert(ticket, (id, check));
        drop(state);
        self.changed.notify_all();
        self.assure_thread();
        Place { binds: Arc::clone(self), id, ticket }
    }

    /// Starts a thread if a check waits, no thread is idle and there are fewer threads than the limit.
    fn assure_thread(self: &Arc<Self>) {
        let mut state = self.state();
        if state.waiting.is_empty() || state.idle > 0 || state.threads == self.most_in_time + MOST_OVERDUE {
            return;
        }
        state.threads += 1;
        drop(state);
        let binds = Arc::clone(self);
        if thread::Builder::new().name("slow-binds".into()).spawn(move || binds.work()).is_ok() {
            return;
        }
        let mut state = self.state();
        state.threads -= 1;
        // If a thread remains, it takes the waiting checks.
        let lost = if state.threads == 0 { mem::take(&mut state.waiting) } else { BTreeMap::new() };
        drop(state);
        self.mailboxes.send(lost.into_values().map(|(id, _)| (id, Outcome::Unable)));
    }

    /// Starts no further check. Running checks are not awaited: they hold only memory.
    pub(crate) fn stop(&self) {
        let mut state = self.state();
        state.stopping = true;
        state.waiting.clear();
        drop(state);
        self.changed.notify_all();
    }

    fn work(self: &Arc<Self>) {
        // Best effort: if the system refuses, checks run at normal priority.
        let _ = setpriority_process(None, LOWEST);
        while let Some((ticket, id, check)) = self.next() {
            self.assure_thread();
            // Without the catch, a panic in a hash would end the thread, and the memory and the place of the
            // check would stay counted.
            let outcome = catch_unwind(AssertUnwindSafe(|| check.run(self.longest)));
            let mut state = self.state();
            state.running.remove(&ticket);
            state.bytes -= check.memory_bytes();
            drop(state);
            self.changed.notify_all();
            self.mailboxes.send([(id, outcome.unwrap_or(Outcome::Unable))]);
        }
    }

    fn next(&self) -> Option<(Ticket, ConnectionId, Check)> {
        let mut state = self.state();
        while !state.stopping {
            let left = state.running.values().map(|begun| self.longest.saturating_sub(begun.elapsed()));
            let in_time: Vec<Duration> = left.filter(|left| !left.is_zero()).collect();
            if in_time.len() < self.most_in_time
                && let Some((ticket, needed)) = state.first()
                // A single check always fits: values beyond the memory limit are not checked.
                && (state.bytes == 0 || state.bytes + needed <= self.most_bytes)
                && let Some((id, check)) = state.waiting.remove(&ticket)
            {
                state.last = Some(ticket.from);
                state.bytes += needed;
                state.running.insert(ticket, Instant::now());
                return Some((ticket, id, check));
            }
            let nobody_waits = state.waiting.is_empty();
            let until_overdue = in_time.into_iter().min().filter(|_| !nobody_waits);
            state = self.wait(state, until_overdue.unwrap_or(Duration::MAX));
        }
        None
    }

    fn wait<'s>(&self, mut state: MutexGuard<'s, State>, longest: Duration) -> MutexGuard<'s, State> {
        state.idle += 1;
        let (mut state, _) =
            self.changed.wait_timeout(state, longest).unwrap_or_else(PoisonError::into_inner);
        state.idle -= 1;
        state
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The ticket of the next check, and the memory that the check needs.
    fn first(&self) -> Option<(Ticket, u64)> {
        let end = self.last.map(|from| Ticket { from, due_ns: u64::MAX, number: u64::MAX });
        let next = end.and_then(|end| self.waiting.range((Excluded(end), Unbounded)).next());
        let (ticket, (_, check)) = next.or_else(|| self.waiting.first_key_value())?;
        Some((*ticket, check.memory_bytes()))
    }
}

impl Place {
    /// Tells the connection that its client has disconnected, so that the connection does not wait for the
    /// outcome.
    pub(crate) fn give_up(self) {
        self.binds.mailboxes.send([(self.id, Outcome::Gone)]);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.binds.state().waiting.remove(&self.ticket);
    }
}

#[allow(clippy::unwrap_used, clippy::panic, reason = "this is a test")]
#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use hashes::Hash;
    use wire::ber::{self, tag};
    use wire::ldap::{ResultCode, request};

    use super::*;

    const ANN: &[u8] = b"cn=Ann,o=Intranet";
    const LONGEST_MS: u64 = 200;

    /// Simulates faults of a hash: a panic, or a long run.
    pub(super) fn misbehave(password: &[u8]) {
        let begun = processor_time();
        match password {
            b"panics" => panic!("a hash panics"),
            b"sleeps" => thread::sleep(Duration::from_secs(4)),
            b"burns" => {
                let enough = begun + Duration::from_millis(2 * LONGEST_MS);
                while processor_time() < enough {}
            }
            _ => {}
        }
    }

    fn serve() -> crate::Running {
        let config = format!(r#"{{"limits": {{"slow_hash_ms": {LONGEST_MS}}}}}"#);
        let directory = crate::start(serde_json::from_str(&config).unwrap(), None).unwrap();
        let stored = "crypt:1000".parse::<Hash>().unwrap().value(b"right", [7; 16]).unwrap();
        let mut out = Vec::new();
        let attributes: [(&str, &[u8]); 4] =
            [("objectClass", b"RTPerson"), ("cn", b"Ann"), ("sn", b"A"), ("userPassword", &stored)];
        request::write_add(&mut out, 1, ANN, |out| {
            ber::write_nested(out, tag::SEQUENCE, |out| {
                for (name, value) in attributes {
                    request::write_attribute(out, name.as_bytes(), [value]);
                }
            });
        });
        assert_eq!(answer(&mut send(&directory, &out)), ResultCode::SUCCESS);
        directory
    }

    fn send(directory: &crate::Running, message: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(directory.addr()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(message).unwrap();
        stream
    }

    fn bind(directory: &crate::Running, password: &str) -> TcpStream {
        let mut out = Vec::new();
        request::write_bind(&mut out, 1, 3, ANN, password.as_bytes());
        send(directory, &out)
    }

    /// The result code of a short answer: SEQUENCE, identifier, operation, ENUMERATED.
    fn answer(stream: &mut TcpStream) -> ResultCode {
        let mut start = [0; 10];
        stream.read_exact(&mut start).unwrap();
        ResultCode(u32::from(start[9]))
    }

    #[test]
    fn a_panic_while_hashing_frees_the_hashing_slot() {
        let directory = serve();
        for _ in 0..10 {
            assert_eq!(answer(&mut bind(&directory, "panics")), ResultCode::UNAVAILABLE);
        }
        assert_eq!(answer(&mut bind(&directory, "right")), ResultCode::SUCCESS);
    }

    #[test]
    fn a_hash_that_takes_too_long_is_refused() {
        let directory = serve();
        assert_eq!(answer(&mut bind(&directory, "burns")), ResultCode::ADMIN_LIMIT_EXCEEDED);
        assert_eq!(answer(&mut bind(&directory, "wrong")), ResultCode::INVALID_CREDENTIALS);
    }

    #[test]
    fn users_with_fast_hashes_log_in_while_slow_hashes_are_checked() {
        let directory = serve();
        let sleepers: Vec<_> = (0..thread::available_parallelism().map_or(1, NonZeroUsize::get))
            .map(|_| bind(&directory, "sleeps"))
            .collect();
        thread::sleep(Duration::from_millis(50));
        let begun = Instant::now();
        assert_eq!(answer(&mut bind(&directory, "right")), ResultCode::SUCCESS);
        let waited = begun.elapsed();
        assert!(waited < Duration::from_secs(3), "{waited:?}");
        drop(sleepers);
    }
}
