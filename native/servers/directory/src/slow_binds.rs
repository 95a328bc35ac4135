//! Slow hashes of passwords, checked by threads of their own: one takes up to seconds, and those who look
//! something up meanwhile must not notice.
//!
//! As many hashes run as there are cores but one, and at least one, in threads that are begun when there is work
//! for them and have the lowest priority. The addresses of clients take turns; of one address, a check that is
//! quick overtakes those that take long ([`Ticket`]). A hash begins when the memory of those that run leaves
//! room. One that takes longer than `slow_hash_ms` cannot be interrupted: the next begins beside it, and its
//! password is refused. The connection of each looks at no further message until it is answered
//! ([`net::Step::Wait`]); a client that goes takes its hash out of the queue.

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

/// The priority that leaves all others theirs (nice(1)).
const LOWEST: i32 = 19;

/// How many hashes that take too long may run beside the others.
const MOST_OVERDUE: usize = 3;

/// How many times as long as it takes a check waits for quicker ones that come later, from its own address.
const PATIENCE: u64 = 8;

/// A password, and the values of which it may be one.
#[derive(Debug)]
pub(crate) struct Check {
    password: Password,
    stored: Vec<Slow>,
}

impl Check {
    pub(crate) fn new(password: &[u8], stored: Vec<Slow>) -> Self {
        Self { password: Password(password.into()), stored }
    }

    /// The values, in the order in which they are tried.
    pub(crate) fn stored(&self) -> &[Slow] {
        &self.stored
    }

    /// Memory it takes: one is checked after the other.
    fn memory_bytes(&self) -> u64 {
        self.stored.iter().map(Slow::memory_bytes).max().unwrap_or(0)
    }

    /// CPU that it takes, by an estimate.
    fn nanoseconds(&self) -> u64 {
        self.stored.iter().map(|stored| stored.nanoseconds(&self.password.0)).fold(0, u64::saturating_add)
    }

    /// Processor time counts, not that of the clock on the wall: on a busy machine the lowest priority has to wait.
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

/// What this thread has had of the processor.
fn processor_time() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec as u32)
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is this one of the values.
    Right(usize),
    /// It is none of them.
    Wrong,
    /// The system has no memory or no thread for it.
    Unable,
    /// It took longer than is allowed.
    TooLong,
    Gone,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct SlowBinds {
    mailboxes: Mailboxes<(ConnectionId, Outcome)>,
    /// How many run that have not run for too long.
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
    /// Whose turn was the last.
    last: Option<IpAddr>,
    threads: usize,
    idle: usize,
    /// When each of those that run has begun.
    running: BTreeMap<Ticket, Instant>,
    /// Memory of those that run.
    bytes: u64,
    stopping: bool,
}

/// A check's place in the queue of its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ticket {
    from: IpAddr,
    /// When it came, and [`PATIENCE`] times as long as it takes: who plants a value that takes as long as is allowed
    /// is overtaken by all others, and nobody waits for ever.
    due_ns: u64,
    number: u64,
}

/// A check that waits, until this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    binds: Arc<SlowBinds>,
    id: ConnectionId,
    ticket: Ticket,
}

impl SlowBinds {
    pub(crate) fn new(
        mailboxes: Mailboxes<(ConnectionId, Outcome)>,
        most_bytes: u64,
        longest: Duration,
    ) -> Arc<Self> {
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

    /// Queues a check for a connection from this address, which is sent the outcome.
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

    /// Begins a thread where none waits for the next check, or for one that runs to take too long.
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
        // One that is there already gets to them.
        let lost = if state.threads == 0 { mem::take(&mut state.waiting) } else { BTreeMap::new() };
        drop(state);
        for (id, _) in lost.into_values() {
            self.mailboxes.send(id.thread, (id, Outcome::Unable));
        }
    }

    /// Begins no further check. Those that run are not waited for: they hold nothing but their memory.
    pub(crate) fn stop(&self) {
        let mut state = self.state();
        state.stopping = true;
        state.waiting.clear();
        drop(state);
        self.changed.notify_all();
    }

    fn work(self: &Arc<Self>) {
        // Where it is refused, hashes run beside the others as equals.
        let _ = setpriority_process(None, LOWEST);
        while let Some((ticket, id, check)) = self.next() {
            self.assure_thread();
            // A panic in a hash would take the thread, its memory and its turn along.
            let outcome = catch_unwind(AssertUnwindSafe(|| check.run(self.longest)));
            let mut state = self.state();
            state.running.remove(&ticket);
            state.bytes -= check.memory_bytes();
            drop(state);
            self.changed.notify_all();
            self.mailboxes.send(id.thread, (id, outcome.unwrap_or(Outcome::Unable)));
        }
    }

    fn next(&self) -> Option<(Ticket, ConnectionId, Check)> {
        let mut state = self.state();
        while !state.stopping {
            let left = state.running.values().map(|begun| self.longest.saturating_sub(begun.elapsed()));
            let in_time: Vec<Duration> = left.filter(|left| !left.is_zero()).collect();
            if in_time.len() < self.most_in_time
                && let Some((ticket, needed)) = state.first()
                // Each alone has room: values beyond the limit are not checked.
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
    /// Whose turn it is, and the memory that the check takes.
    fn first(&self) -> Option<(Ticket, u64)> {
        let end = self.last.map(|from| Ticket { from, due_ns: u64::MAX, number: u64::MAX });
        let next = end.and_then(|end| self.waiting.range((Excluded(end), Unbounded)).next());
        let (ticket, (_, check)) = next.or_else(|| self.waiting.first_key_value())?;
        Some((*ticket, check.memory_bytes()))
    }
}

impl Place {
    /// Tells the connection that its client has gone, so that it does not wait for the outcome.
    pub(crate) fn give_up(self) {
        self.binds.mailboxes.send(self.id.thread, (self.id, Outcome::Gone));
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

    /// What no hash does when a test wants it to.
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
    fn a_hash_that_panics_gives_its_place_back() {
        let directory = serve();
        for _ in 0..10 {
            assert_eq!(answer(&mut bind(&directory, "panics")), ResultCode::UNAVAILABLE);
        }
        assert_eq!(answer(&mut bind(&directory, "right")), ResultCode::SUCCESS);
    }

    #[test]
    fn what_takes_longer_than_is_allowed_is_refused() {
        let directory = serve();
        assert_eq!(answer(&mut bind(&directory, "burns")), ResultCode::ADMIN_LIMIT_EXCEEDED);
        assert_eq!(answer(&mut bind(&directory, "wrong")), ResultCode::INVALID_CREDENTIALS);
    }

    #[test]
    fn others_log_in_beside_hashes_that_do_not_end_in_time() {
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
