//! When requests that take long are worked on, in all threads of a server.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long before a long request another may have been answered for its client to count as one that waits: it may be
/// waiting for a lock, and is counted when it has been answered.
const LATELY_MS: u64 = 10;

/// How long to wait for another thread that is at one.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// How much longer a thread that has just been at one waits, so that another that waits has its turn.
const GIVE_WAY: Duration = Duration::from_millis(2);

/// A long request cannot be cut, holds its thread and perhaps a lock that all need. As long as others are served, there
/// is one at a time, and after each as much time for the others as it took: they keep half of all time, however many
/// long requests are waiting. Where there are no others, every thread works on them all the time.
#[derive(Debug, Default)]
pub(crate) struct LongWork {
    /// When another request was last answered, in the clock of the turns.
    others_ms: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Threads that are at one.
    running: usize,
    /// When the last one began, in the clock of the turns.
    begun_ms: u64,
    /// The thread that it was, and whether another has been refused since.
    last: usize,
    refused: bool,
    /// Until when it is the others' time.
    rest_until: Option<Instant>,
}

impl LongWork {
    /// Notes that another request has been answered. Costs a look, and a write once a millisecond.
    #[inline]
    pub(crate) fn answered_other(&self, now_ms: u64) {
        if self.others_ms.load(Relaxed) != now_ms {
            self.others_ms.store(now_ms, Relaxed);
        }
    }

    /// Begins with one in this thread, or says how long to wait.
    pub(crate) fn begin(&self, thread: usize, now: Instant, now_ms: u64) -> Result<(), Duration> {
        let mut state = self.state();
        if self.others_ms.load(Relaxed) + LATELY_MS >= state.begun_ms {
            let gives_way = thread == state.last && state.refused;
            let rest_until = state.rest_until.map(|end| if gives_way { end + GIVE_WAY } else { end });
            let rest = match rest_until {
                _ if state.running > 0 => LOOK_AGAIN,
                Some(end) => end.saturating_duration_since(now),
                None => Duration::ZERO,
            };
            if !rest.is_zero() {
                state.refused |= thread != state.last;
                return Err(rest);
            }
        }
        state.running += 1;
        state.begun_ms = now_ms;
        state.last = thread;
        state.refused = false;
        Ok(())
    }

    /// Ends what began then.
    pub(crate) fn end(&self, begun: Instant, now: Instant) {
        let mut state = self.state();
        state.running = state.running.saturating_sub(1);
        state.rest_until = state.rest_until.max(Some(now + (now - begun)));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn others_get_as_much_time_as_each_takes() {
        let (work, start) = (LongWork::default(), Instant::now());
        work.answered_other(1_000);
        assert_eq!(work.begin(0, start, 1_000), Ok(()));
        assert_eq!(work.begin(0, start + 5 * MS, 1_005), Err(LOOK_AGAIN));
        work.end(start, start + 30 * MS);
        assert_eq!(work.begin(0, start + 40 * MS, 1_040), Err(20 * MS));
        assert_eq!(work.begin(0, start + 60 * MS, 1_060), Ok(()));
    }

    #[test]
    fn threads_take_turns() {
        let (work, start) = (LongWork::default(), Instant::now());
        work.answered_other(1_000);
        assert_eq!(work.begin(0, start, 1_000), Ok(()));
        work.end(start, start + 30 * MS);
        assert_eq!(work.begin(1, start + 40 * MS, 1_040), Err(20 * MS));
        assert_eq!(work.begin(0, start + 60 * MS, 1_060), Err(GIVE_WAY));
        assert_eq!(work.begin(1, start + 61 * MS, 1_061), Ok(()));
    }

    #[test]
    fn without_others_every_thread_works_all_the_time() {
        let (work, start) = (LongWork::default(), Instant::now());
        assert_eq!(work.begin(0, start, 1_000), Ok(()));
        assert_eq!(work.begin(1, start, 1_000), Ok(()));
        work.end(start, start + 30 * MS);
        assert_eq!(work.begin(0, start + 30 * MS, 1_030), Ok(()));
        work.answered_other(1_031);
        assert_eq!(work.begin(0, start + 31 * MS, 1_031), Err(LOOK_AGAIN));
    }
}
