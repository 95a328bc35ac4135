//! Finds expired dynamic entries (RFC 2589), second by second.
//!
//! A wheel of doubly linked lists, one per second of the coming hour. The wheel takes eight bytes per entry,
//! and no memory before the first dynamic entry. An entry is in the list of one second. A refresh changes
//! only the entry's deadline; the entry moves to another list when the second of its list is reached. So a
//! refresh costs one store to memory, whatever the number of users.

/// The seconds of one turn of the wheel. An entry with a later deadline is found, and inserted again, once
/// per turn.
const SECONDS: u32 = 4096;

/// The index of the list of due entries, after the lists of the seconds.
const DUE: u32 = SECONDS;

/// The index of the first entry's link; lower indexes are heads of lists.
const FIRST: u32 = SECONDS + 1;

#[derive(Debug, Default)]
pub(crate) struct Wheel {
    links: Vec<Link>,
    /// The first second whose list has not been moved to the due entries.
    next: u32,
}

/// The neighbours in a circular list. A link that is in no list points at itself.
#[derive(Debug, Clone, Copy)]
struct Link {
    before: u32,
    after: u32,
}

impl Wheel {
    /// Inserts an entry into the list of its deadline.
    pub(crate) fn insert(&mut self, id: u32, deadline: u32) {
        let place = FIRST + id;
        while self.links.len() <= place as usize {
            let alone = self.links.len() as u32;
            self.links.push(Link { before: alone, after: alone });
        }
        self.unlink(place);
        // An overdue entry goes into the list that is moved next.
        self.link(place, deadline.max(self.next) % SECONDS);
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, id: u32) {
        let place = FIRST + id;
        if (place as usize) < self.links.len() {
            self.unlink(place);
        }
    }

    /// Removes the next entry from a list whose second has been reached. This entry is due now, was refreshed
    /// after its insertion, or is due a full turn later. If it is not due now, the caller inserts it again.
    pub(crate) fn pop(&mut self, now: u32) -> Option<u32> {
        if self.links.is_empty() {
            self.next = now;
            return None;
        }
        loop {
            let first = self.links[DUE as usize].after;
            if first != DUE {
                self.unlink(first);
                return Some(first - FIRST);
            }
            if self.next > now {
                return None;
            }
            // After a pause of more than one turn, each list is moved once at most.
            self.next = self.next.max(now.saturating_sub(SECONDS - 1));
            self.take_over(self.next % SECONDS);
            self.next += 1;
        }
    }

    /// Moves a list to the list of due entries, which is empty.
    fn take_over(&mut self, head: u32) {
        let Link { before: last, after: first } = self.links[head as usize];
        if first == head {
            return;
        }
        self.links[head as usize] = Link { before: head, after: head };
        self.links[DUE as usize] = Link { before: last, after: first };
        self.links[first as usize].before = DUE;
        self.links[last as usize].after = DUE;
    }

    fn link(&mut self, place: u32, head: u32) {
        let last = self.links[head as usize].before;
        self.links[place as usize] = Link { before: last, after: head };
        self.links[last as usize].after = place;
        self.links[head as usize].before = place;
    }

    fn unlink(&mut self, place: u32) {
        let Link { before, after } = self.links[place as usize];
        self.links[before as usize].after = after;
        self.links[after as usize].before = before;
        self.links[place as usize] = Link { before: place, after: place };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn every_directory_entry_expires_when_due_and_never_before(
            steps in prop::collection::vec((0u8..4, 0u32..20, 0u32..10_000), 1..300),
        ) {
            let (mut wheel, mut model) = (Wheel::default(), BTreeMap::new());
            let mut now = 1_000_000;
            for (step, id, number) in steps {
                match step {
                    0 | 1 => {
                        model.insert(id, now + number);
                        wheel.insert(id, now + number);
                    }
                    2 => {
                        model.remove(&id);
                        wheel.remove(id);
                    }
                    _ => {
                        now += number;
                        let mut gone = Vec::new();
                        let mut again = Vec::new();
                        while let Some(id) = wheel.pop(now) {
                            if model[&id] <= now { gone.push(id) } else { again.push(id) }
                        }
                        again.into_iter().for_each(|id| wheel.insert(id, model[&id]));
                        let due: Vec<u32> = model.iter().filter(|(_, at)| **at <= now).map(|(id, _)| *id).collect();
                        gone.sort_unstable();
                        prop_assert_eq!(&gone, &due);
                        due.iter().for_each(|id| assert!(model.remove(id).is_some()));
                    }
                }
            }
        }
    }
}
