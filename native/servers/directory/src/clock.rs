//! The directory's time in seconds, which changes of the system's clock do not affect.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::store::UnixSeconds;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds since the clock was created.
    pub ms: u64,
    /// Seconds since 1970.
    pub unix_s: u64,
}

impl Now {
    /// The time in whole seconds, the unit of the store.
    pub(crate) fn seconds(self) -> UnixSeconds {
        UnixSeconds(u32::try_from(self.unix_s).unwrap_or(u32::MAX))
    }
}

/// The source of the directory's time.
///
/// The wall-clock time is read once. After that only the monotonic clock counts: a change of the system's
/// clock must not expire entries.
#[derive(Debug, Clone)]
pub struct Clock {
    start: Instant,
    start_unix: Duration,
    ahead_ms: Option<Arc<AtomicU64>>,
}

impl Clock {
    /// The time of this machine.
    pub fn system() -> Self {
        let start_unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start: Instant::now(), start_unix, ahead_ms: None }
    }

    /// The time of this machine, and a handle that advances the time, for tests that would take minutes.
    pub fn adjustable() -> (Self, Ahead) {
        let ahead = Arc::new(AtomicU64::new(0));
        (Self { ahead_ms: Some(Arc::clone(&ahead)), ..Self::system() }, Ahead(ahead))
    }

    pub fn now(&self) -> Now {
        // Relaxed: no other data depends on the number.
        let ahead_ms = self.ahead_ms.as_ref().map_or(0, |ahead| ahead.load(Relaxed));
        let elapsed = self.start.elapsed() + Duration::from_millis(ahead_ms);
        Now { ms: elapsed.as_millis() as u64, unix_s: (self.start_unix + elapsed).as_secs() }
    }
}

/// Advances a [`Clock`].
#[derive(Debug, Clone)]
pub struct Ahead(Arc<AtomicU64>);

impl Ahead {
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_millis() as u64, Relaxed);
    }
}
