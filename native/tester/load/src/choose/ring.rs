//! The people that a run adds: a ring of keys, shared by all threads in blocks.
//!
//! Adds take people from `start` on, each once. After `keys` people the ring begins again, and a key is
//! reused after its entry was removed. So a clean-up looks at `keys` people from `start` on and no more,
//! however the run ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of keys that a thread takes together, at most. With blocks of this size the shared counter
/// costs nothing measurable.
const BLOCK: u64 = 256;

#[derive(Debug)]
pub struct Ring {
    start: u64,
    keys: u64,
    block: u64,
    handed_out: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub person: u64,
    /// Whether the key was used before, so that its entry has to be removed first.
    pub used_before: bool,
}

impl Ring {
    /// A ring of `keys` people from `start` on, for this number of threads. `keys` must not be 0.
    pub fn new(start: u64, keys: u64, threads: u64) -> Self {
        // The ring holds several blocks per thread. Otherwise a fast thread could reach a key that a slow
        // thread still holds.
        let block = (keys / threads.max(1).saturating_mul(8)).clamp(1, BLOCK);
        Self { start, keys: keys.max(1), block, handed_out: AtomicU64::new(0) }
    }
}

#[derive(Debug)]
pub struct RingCursor {
    ring: Arc<Ring>,
    next: u64,
    end: u64,
}

impl RingCursor {
    pub const fn new(ring: Arc<Ring>) -> Self {
        Self { ring, next: 0, end: 0 }
    }

    #[inline]
    pub fn take(&mut self) -> Key {
        if self.next == self.end {
            // Relaxed: only the counter is shared, and no other memory depends on its value.
            self.next = self.ring.handed_out.fetch_add(self.ring.block, Ordering::Relaxed);
            self.end = self.next + self.ring.block;
        }
        let position = self.next;
        self.next += 1;
        let Ring { start, keys, .. } = *self.ring;
        Key { person: start + position % keys, used_before: position >= keys }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_threads_take_every_key_once_per_round() {
        let ring = Arc::new(Ring::new(7, 4_000, 4));
        let draw = || {
            let mut cursor = RingCursor::new(ring.clone());
            (0..2_000).map(|_| cursor.take()).collect::<Vec<_>>()
        };
        let mut people: Vec<(u64, bool)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(draw)).collect();
            let drawn = threads.into_iter().flat_map(|thread| thread.join().unwrap());
            drawn.map(|key| (key.person, key.used_before)).collect()
        });
        people.sort_unstable();
        assert!(people.iter().copied().eq((7..4_007).flat_map(|person| [(person, false), (person, true)])));
        // The rounds have the same order, so each key rests as long as a round.
        let mut cursor = RingCursor::new(Arc::new(Ring::new(5, 16, 1)));
        let people = [(); 32].map(|()| cursor.take().person);
        assert_eq!(people[..16], people[16..]);
    }
}
