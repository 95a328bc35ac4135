//! What the store needs without a client asking for it: entries expire, indexes catch up with writes.

use crate::turn::Turn;

/// Four times a second: an entry is gone at most this long after its life has ended.
const INTERVAL_MS: u64 = 250;

/// Entries that expire under one write lock, which takes well under a millisecond: lookups wait
/// behind it.
const EXPIRED_AT_ONCE: usize = 256;

/// Entries' worth of index work under one write lock, for the same reason.
const MAINTAINED_AT_ONCE: usize = 256;

/// One thread's part of the upkeep.
pub(super) struct Upkeep {
    due_ms: u64,
    /// One thread of the server expires entries for all.
    expires: bool,
    /// More entries had expired than one step takes.
    behind: bool,
    /// The store's indexes have more to catch up with than one step takes.
    untidy: bool,
}

impl Upkeep {
    pub(super) const fn new(expires: bool) -> Self {
        Self { due_ms: 0, expires, behind: false, untidy: false }
    }

    /// Does one step of what is due; says whether there is more to do at once.
    pub(super) fn run(&mut self, turn: &mut Turn<'_>) -> bool {
        if self.expires && (turn.now.ms >= self.due_ms || self.behind) {
            self.due_ms = turn.now.ms + INTERVAL_MS;
            let expired = turn.expire(EXPIRED_AT_ONCE);
            turn.counters.expired += expired as u64;
            self.behind = expired == EXPIRED_AT_ONCE;
        }
        if self.untidy || turn.access.wrote {
            self.untidy = turn.maintain(MAINTAINED_AT_ONCE);
        }
        self.behind || self.untidy
    }
}
