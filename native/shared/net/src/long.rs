//! Scheduling of requests that take long, over all threads of a server.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Other clients count as active if one of their requests was answered after the last long request began, or
/// at most this long before. A client that waits for a lock is noticed only when its request is answered.
const LATELY_MS: u64 = 10;

/// The pause before checking again whether another thread's long request has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The extra pause of the thread of the last long request. A thread that was refused meanwhile then begins
/// first.
const GIVE_WAY: Duration = Duration::from_millis(2);

/// A long request cannot be interrupted. It occupies its thread, and perhaps a lock that all threads need.
/// While other requests are served, one long request runs at a time, followed by a pause as long as the
/// request took. So other clients get half of the time, however many long requests wait. Without other
/// clients, every thread works on long requests all the time.
#[derive(Debug, Default)]
pub(crate) struct LongWork {
    /// When a request that is not long was last answered, on the clock of the turns.
    others_ms: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of threads that work on a long request.
    running: usize,
    /// When the last long request began, on the clock of the turns.
    begun_ms: u64,
    /// The thread of the last long request, and whether another thread has been refused since.
    last: usize,
    refused: bool,
    /// The end of the pause that follows a long request.
    rest_until: Option<Instant>,
}

impl LongWork {
    /// Notes that a request that is not long has been answered. The cost is an atomic load, and about
    /// one store per millisecond.
    #[inline]
    pub(crate) fn answered_other(&self, now_ms: u64) {
        // Relaxed: a thread may see the time late, and a long request then begins a moment sooner or later.
        if self.others_ms.load(Relaxed) != now_ms {
            self.others_ms.store(now_ms, Relaxed);
        }
    }

    /// Begins a long request in this thread, or returns how long to wait.
    pub(crate) fn begin(&self, thread: usize, now: Instant, now_ms: u64) -> Result<(), Duration> {
        let mut state = self.state();
        // Relaxed as in `answered_other`.
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

    /// Ends the long request that began at `begun`.
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
    fn long_work_pauses_as_long_as_it_has_run_if_other_requests_arrive() {
        let (work, start) = (LongWork::default(), Instant::now());
        work.answered_other(1_000);
        assert_eq!(work.begin(0, start, 1_000), Ok(()));
        assert_eq!(work.begin(0, start + 5 * MS, 1_005), Err(LOOK_AGAIN));
        work.end(start, start + 30 * MS);
        assert_eq!(work.begin(0, start + 40 * MS, 1_040), Err(20 * MS));
        assert_eq!(work.begin(0, start + 60 * MS, 1_060), Ok(()));
    }

    #[test]
    fn threads_take_turns_at_long_work() {
        let (work, start) = (LongWork::default(), Instant::now());
        work.answered_other(1_000);
        assert_eq!(work.begin(0, start, 1_000), Ok(()));
        work.end(start, start + 30 * MS);
        assert_eq!(work.begin(1, start + 40 * MS, 1_040), Err(20 * MS));
        assert_eq!(work.begin(0, start + 60 * MS, 1_060), Err(GIVE_WAY));
        assert_eq!(work.begin(1, start + 61 * MS, 1_061), Ok(()));
    }

    #[test]
    fn without_other_requests_long_work_never_pauses() {
        let (work, start) = (LongWork::default(), Instant::now());
        assert_eq!(work.begin(0, start, 1_000), Ok(()));
        assert_eq!(work.begin(1, start, 1_000), Ok(()));
        work.end(start, start + 30 * MS);
        assert_eq!(work.begin(0, start + 30 * MS, 1_030), Ok(()));
        work.answered_other(1_031);
        assert_eq!(work.begin(0, start + 31 * MS, 1_031), Err(LOOK_AGAIN));
    }
}
