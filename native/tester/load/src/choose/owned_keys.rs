//! The people that the lanes of one thread update. One lane at a time updates a person.

use std::collections::HashSet;

/// People `place`, `place + stride`, ... below `size`, and the taken people among them.
///
/// Threads, and engines that share a site, start at different places, so they need no coordination.
#[derive(Debug)]
pub struct OwnedKeys {
    size: u64,
    place: u64,
    stride: u64,
    taken: HashSet<u64>,
    /// Taken people whom a second lane has updated as well.
    contested: HashSet<u64>,
}

impl OwnedKeys {
    pub fn new(size: u64, place: u64, stride: u64) -> Self {
        Self { size, place, stride, taken: HashSet::new(), contested: HashSet::new() }
    }

    /// Takes the first free person from `preferred` on; `None` if all people are taken.
    pub fn take(&mut self, preferred: u64) -> Option<u64> {
        let count = self.size.saturating_sub(self.place).div_ceil(self.stride);
        if self.taken.len() as u64 >= count {
            return None;
        }
        let mut number = preferred / self.stride * self.stride + self.place;
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

    /// The first person from `preferred` on, taken or not.
    pub fn one(&self, preferred: u64) -> u64 {
        let number = preferred / self.stride * self.stride + self.place;
        if number < self.size { number } else { self.place }
    }

    /// Marks a person who is updated although another lane may hold the person. From now on this person's
    /// page cannot prove an update.
    pub fn mark_contested(&mut self, number: u64) {
        self.taken.insert(number);
        self.contested.insert(number);
    }

    pub fn is_contested(&self, number: u64) -> bool {
        !self.contested.is_empty() && self.contested.contains(&number)
    }

    pub fn give_back(&mut self, number: u64) {
        if !self.is_contested(number) {
            self.taken.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_person_is_owned_by_two_threads() {
        let mut threads: Vec<_> = (0..3).map(|place| OwnedKeys::new(100, place, 3)).collect();
        let mut taken = Vec::new();
        for owned_keys in &mut threads {
            taken.extend(std::iter::from_fn(|| owned_keys.take(50)));
        }
        taken.sort_unstable();
        assert_eq!(taken, (0..100).collect::<Vec<_>>());
        threads[50 % 3].give_back(50);
        assert_eq!(threads[50 % 3].take(7), Some(50));
        threads[50 % 3].mark_contested(50);
        threads[50 % 3].give_back(50);
        assert_eq!(threads[50 % 3].take(7), None, "contested people are not given out again");
    }

    #[test]
    fn a_thread_may_own_no_people() {
        assert_eq!(OwnedKeys::new(2, 2, 3).take(0), None);
        assert_eq!(OwnedKeys::new(2, 5, 6).take(1), None);
        assert_eq!(OwnedKeys::new(2, 1, 3).take(1), Some(1));
    }
}
