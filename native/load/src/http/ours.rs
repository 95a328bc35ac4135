//! The people that the lanes of one thread may update, one lane at a time each.

use std::collections::HashSet;

/// People `place`, `place + stride`, ... below `size`, and which of them are taken.
///
/// Threads, and engines that share a site, have different places: nobody has to ask anybody.
#[derive(Debug)]
pub(super) struct Ours {
    size: u64,
    place: u64,
    stride: u64,
    taken: HashSet<u64>,
    /// Those of the taken whom somebody else updated all the same.
    spoilt: HashSet<u64>,
}

impl Ours {
    pub(super) fn new(size: u64, place: u64, stride: u64) -> Self {
        Self { size, place, stride, taken: HashSet::new(), spoilt: HashSet::new() }
    }

    /// Takes the one nearest to `wish` from there on; `None` if all are taken.
    pub(super) fn take(&mut self, wish: u64) -> Option<u64> {
        let count = self.size.saturating_sub(self.place).div_ceil(self.stride);
        if self.taken.len() as u64 >= count {
            return None;
        }
        let mut number = wish / self.stride * self.stride + self.place;
        loop {
            if number >= self.size {
                number = self.place;
            }
            if self.taken.insert(number) {
                return Some(number);
            }
            number += self.stride;
        }
    }

    /// The one nearest to `wish`, taken or not.
    pub(super) fn one(&self, wish: u64) -> u64 {
        let number = wish / self.stride * self.stride + self.place;
        if number < self.size { number } else { self.place }
    }

    /// Somebody is updated though they may be somebody else's: what their page shows proves nothing
    /// from now on.
    pub(super) fn spoil(&mut self, number: u64) {
        self.taken.insert(number);
        self.spoilt.insert(number);
    }

    pub(super) fn is_spoilt(&self, number: u64) -> bool {
        !self.spoilt.is_empty() && self.spoilt.contains(&number)
    }

    /// Gives one back.
    pub(super) fn give_back(&mut self, number: u64) {
        if !self.is_spoilt(number) {
            self.taken.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_taken_twice_by_anybody() {
        let mut threads: Vec<_> = (0..3).map(|place| Ours::new(100, place, 3)).collect();
        let mut taken = Vec::new();
        for ours in &mut threads {
            taken.extend(std::iter::from_fn(|| ours.take(50)));
        }
        taken.sort_unstable();
        assert_eq!(taken, (0..100).collect::<Vec<_>>());
        threads[50 % 3].give_back(50);
        assert_eq!(threads[50 % 3].take(7), Some(50));
        threads[50 % 3].spoil(50);
        threads[50 % 3].give_back(50);
        assert_eq!(threads[50 % 3].take(7), None, "nobody's any more");
    }

    #[test]
    fn a_thread_may_have_nobody() {
        assert_eq!(Ours::new(2, 2, 3).take(0), None);
        assert_eq!(Ours::new(2, 5, 6).take(1), None);
        assert_eq!(Ours::new(2, 1, 3).take(1), Some(1));
    }
}
