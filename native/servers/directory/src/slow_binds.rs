//! Slow hashes of passwords, checked by threads of their own: one takes up to seconds, and those who look
//! something up meanwhile must not notice.
//!
//! There are as many threads as cores but one, and at least one, each begun when there is work for it, and all of the
//! lowest priority. Their hashes wait in the order of their binds, and begin when the memory of those that run
//! leaves room. The connection of each looks at no further message until it is answered
//! ([`net::Step::Wait`]); a client that goes takes its hash out of the queue.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use hashes::Slow;
use net::{ConnectionId, Mailboxes};
use rustix::process::setpriority_process;

use crate::auth::Password;

/// The priority that leaves all others theirs (nice(1)).
const LOWEST: i32 = 19;

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

    fn run(&self) -> Outcome {
        let mut outcome = Outcome::Wrong;
        for (place, stored) in self.stored.iter().enumerate() {
            match stored.is_of(&self.password.0) {
                Some(true) => return Outcome::Right(place),
                Some(false) => {}
                None => outcome = Outcome::Unable,
            }
        }
        outcome
    }
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
    /// The client has gone.
    Gone,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct SlowBinds {
    mailboxes: Mailboxes<(ConnectionId, Outcome)>,
    most_threads: usize,
    most_bytes: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// By number, and so in the order in which they came.
    waiting: BTreeMap<u64, (ConnectionId, Check)>,
    next: u64,
    threads: usize,
    idle: usize,
    /// Memory of those that run.
    bytes: u64,
    stopping: bool,
}

/// A check's place in the queue, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    binds: Arc<SlowBinds>,
    id: ConnectionId,
    number: u64,
}

impl SlowBinds {
    pub(crate) fn new(mailboxes: Mailboxes<(ConnectionId, Outcome)>, most_bytes: u64) -> Arc<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let most_threads = cores.saturating_sub(1).max(1);
        Arc::new(Self {
            mailboxes,
            most_threads,
            most_bytes,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Queues a check for a connection, which is sent the outcome.
    pub(crate) fn begin(self: &Arc<Self>, id: ConnectionId, check: Check) -> Place {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.waiting.insert(number, (id, check));
        if state.idle == 0 && state.threads < self.most_threads {
            let binds = Arc::clone(self);
            let begun = thread::Builder::new().name("slow-binds".into()).spawn(move || binds.work());
            match begun {
                Ok(_) => state.threads += 1,
                // One that is there already gets to it.
                Err(_) if state.threads > 0 => {}
                Err(_) => {
                    state.waiting.remove(&number);
                    self.mailboxes.send(id.thread, (id, Outcome::Unable));
                }
            }
        }
        drop(state);
        self.changed.notify_all();
        Place { binds: Arc::clone(self), id, number }
    }

    /// Begins no further check. Those that run are not waited for: they hold nothing but their memory.
    pub(crate) fn stop(&self) {
        let mut state = self.state();
        state.stopping = true;
        state.waiting.clear();
        drop(state);
        self.changed.notify_all();
    }

    fn work(&self) {
        // Where it is refused, hashes run beside the others as equals.
        let _ = setpriority_process(None, LOWEST);
        while let Some((id, check)) = self.next() {
            let outcome = check.run();
            self.state().bytes -= check.memory_bytes();
            self.changed.notify_all();
            self.mailboxes.send(id.thread, (id, outcome));
        }
    }

    fn next(&self) -> Option<(ConnectionId, Check)> {
        let mut state = self.state();
        while !state.stopping {
            let needed = state.waiting.first_key_value().map(|(_, (_, check))| check.memory_bytes());
            // Each alone has room: values beyond the limit are not checked.
            if needed.is_some_and(|needed| state.bytes == 0 || state.bytes + needed <= self.most_bytes)
                && let Some((_, next)) = state.waiting.pop_first()
            {
                state.bytes += next.1.memory_bytes();
                return Some(next);
            }
            state = self.wait(state);
        }
        None
    }

    fn wait<'s>(&self, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        state.idle += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.idle -= 1;
        state
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.binds.state().waiting.remove(&self.number);
    }
}
