//! Periodic work of the store: removes expired entries, and builds missed indexes after writes.

use crate::turn::Turn;

/// The time between two removals of expired entries: an entry is removed at most this long after its expiry.
const INTERVAL_MS: u64 = 250;

/// The most entries that expire under one write lock. Lookups wait for the lock, far less than a millisecond.
const EXPIRED_AT_ONCE: usize = 256;

/// The most entries that are indexed under one write lock. Lookups wait for the lock, so the number is small.
const MAINTAINED_AT_ONCE: usize = 256;

/// One thread's part of the periodic work.
pub(super) struct Upkeep {
    due_ms: u64,
    /// Whether this thread expires entries. One thread of the server expires entries for all threads.
    expires: bool,
    /// Whether more entries have expired than one step removes.
    behind: bool,
    /// Whether more entries wait to be indexed than one step indexes.
    untidy: bool,
}

impl Upkeep {
    pub(super) const fn new(expires: bool) -> Self {
        Self { due_ms: 0, expires, behind: false, untidy: false }
    }

    /// Does one step of the due work. Returns whether more work is due at once.
    pub(super) fn run(&mut self, turn: &mut Turn<'_>) -> bool {
        if self.expires && (turn.now.ms >= self.due_ms || self.behind) {
            self.due_ms = turn.now.ms + INTERVAL_MS;
            let now = turn.seconds();
            let expired = match turn.access.read().counts().dynamic {
                0 => 0,
                _ => turn.access.write().expire(now, EXPIRED_AT_ONCE),
            };
            turn.counters.expired += expired as u64;
            self.behind = expired == EXPIRED_AT_ONCE;
        }
        if self.untidy || turn.access.wrote {
            self.untidy = turn.access.read().wants_maintenance();
        }
        if self.untidy {
            let store = turn.access.write();
            store.maintain(MAINTAINED_AT_ONCE);
            self.untidy = store.wants_maintenance();
        }
        self.behind || self.untidy
    }
}
