//! Time as the directory sees it: seconds that no change of the system's clock moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::store::UnixSeconds;

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds since the clock was made.
    pub ms: u64,
    /// Seconds since 1970.
    pub unix_s: u64,
}

impl Now {
    /// The time in the store's units.
    pub(crate) fn seconds(self) -> UnixSeconds {
        UnixSeconds(u32::try_from(self.unix_s).unwrap_or(u32::MAX))
    }
}

/// Where the directory's time comes from.
///
/// Wall time is read once, then only the monotonic clock counts: a change of the system's clock must not
/// expire entries.
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

    /// The time of this machine, and a handle that sets it ahead, for tests that would take minutes.
    pub fn adjustable() -> (Self, Ahead) {
        let ahead = Arc::new(AtomicU64::new(0));
        (Self { ahead_ms: Some(Arc::clone(&ahead)), ..Self::system() }, Ahead(ahead))
    }

    /// The time now.
    pub fn now(&self) -> Now {
        // The number is all that is shared.
        let ahead_ms = self.ahead_ms.as_ref().map_or(0, |ahead| ahead.load(Relaxed));
        let elapsed = self.start.elapsed() + Duration::from_millis(ahead_ms);
        Now { ms: elapsed.as_millis() as u64, unix_s: (self.start_unix + elapsed).as_secs() }
    }
}

/// Sets a [`Clock`] ahead.
#[derive(Debug, Clone)]
pub struct Ahead(Arc<AtomicU64>);

impl Ahead {
    /// Sets the clock ahead by this much more.
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_millis() as u64, Relaxed);
    }
}
