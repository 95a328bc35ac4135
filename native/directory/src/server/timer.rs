//! What happens by the clock: stalled clients are cut off, entries expire.

use std::time::Duration;

use crate::clock::Now;
use crate::turn::Turn;

/// Four times a second: an entry is gone at most this long after its life has ended, and an idle
/// server's wake-ups cannot be measured.
const INTERVAL_MS: u64 = 250;

/// Entries that expire under one write lock, which takes well under a millisecond: lookups wait
/// behind it.
const EXPIRED_AT_ONCE: usize = 256;

/// Entries' worth of index work under one write lock, for the same reason.
const MAINTAINED_AT_ONCE: usize = 256;

/// A thread's clockwork.
pub(super) struct Timer {
    due_ms: u64,
    /// One thread of the server expires entries for all.
    expires: bool,
    /// More entries had expired than one step takes.
    behind: bool,
    /// The store's indexes have more to catch up with than one step takes.
    untidy: bool,
}

impl Timer {
    pub(super) const fn new(expires: bool) -> Self {
        Self { due_ms: 0, expires, behind: false, untidy: false }
    }

    /// How long the thread may sleep.
    pub(super) fn interval(&self) -> Duration {
        Duration::from_millis(if self.behind || self.untidy { 0 } else { INTERVAL_MS })
    }

    /// Whether something is due; if so, sets the next time.
    pub(super) fn is_due(&mut self, now: Now) -> bool {
        let due = now.ms >= self.due_ms || self.behind;
        if due {
            self.due_ms = now.ms + INTERVAL_MS;
        }
        due
    }

    /// Does some of the work on the indexes that writes have put off.
    pub(super) fn maintain(&mut self, turn: &mut Turn<'_>) {
        if self.untidy || turn.access.wrote {
            self.untidy = turn.maintain(MAINTAINED_AT_ONCE);
        }
    }

    /// Removes some of the entries whose life has ended.
    pub(super) fn expire(&mut self, turn: &mut Turn<'_>) {
        if !self.expires {
            return;
        }
        let expired = turn.expire(EXPIRED_AT_ONCE);
        turn.counters.expired += expired as u64;
        self.behind = expired == EXPIRED_AT_ONCE;
    }
}
