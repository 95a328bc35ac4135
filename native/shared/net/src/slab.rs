//! Connections by slot; the slot is the token that the poll reports.

/// Values in numbered slots. Freed slots are reused, the most recently freed first.
#[derive(Debug)]
pub struct Slab<T> {
    slots: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub fn next_slot(&self) -> usize {
        self.free.last().copied().unwrap_or(self.slots.len())
    }

    /// Puts a value into a free slot. Returns the slot.
    pub fn insert(&mut self, value: T) -> usize {
        if let Some(slot) = self.free.pop()
            && let Some(place) = self.slots.get_mut(slot)
        {
            *place = Some(value);
            return slot;
        }
        self.slots.push(Some(value));
        self.slots.len() - 1
    }

    #[inline]
    pub fn get_mut(&mut self, slot: usize) -> Option<&mut T> {
        self.slots.get_mut(slot).and_then(Option::as_mut)
    }

    pub fn remove(&mut self, slot: usize) -> Option<T> {
        let value = self.slots.get_mut(slot).and_then(Option::take)?;
        self.free.push(slot);
        Some(value)
    }

    /// The number of slots, used or free.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_slot_is_reused() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!(slab.remove(a), Some('a'));
        assert_eq!(slab.remove(a), None);
        assert_eq!(slab.next_slot(), a);
        assert_eq!(slab.insert('c'), a);
        assert_eq!(slab.next_slot(), 2);
        assert_eq!(slab.get_mut(a), Some(&mut 'c'));
        assert_eq!(slab.slots(), 2);
        assert_eq!(slab.get_mut(b), Some(&mut 'b'));
    }
}
