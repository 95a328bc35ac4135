//! The stored properties of an entry besides its body: 32 bytes.

use super::UnixSeconds;
use super::bodies::Place;

pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Slot {
    /// The place of the body; empty if the slot is free.
    pub(crate) place: Place,
    /// The parent entry, or [`NONE`]; in a free slot the next free slot.
    pub(crate) parent: u32,
    /// The hash of the name.
    pub(crate) hash: u32,
    /// A counter of additions; with `created` the source of entryUUID.
    pub(crate) sequence: u32,
    /// Seconds since 1970.
    pub(crate) created: u32,
    /// Seconds since 1970.
    pub(crate) modified: u32,
    /// Seconds since 1970; 0 for never.
    pub(crate) expires: u32,
}

impl Slot {
    pub(crate) const fn is_free(&self) -> bool {
        self.place.len() == 0
    }

    /// Whether the entry has expired.
    pub(crate) const fn is_overdue(&self, now: UnixSeconds) -> bool {
        self.expires != 0 && self.expires <= now.0
    }
}

/// All slots. The slot that was freed last is reused first.
#[derive(Debug)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    free: u32,
    pub(crate) used: u32,
}

impl Default for Slots {
    fn default() -> Self {
        Self { slots: Vec::new(), free: NONE, used: 0 }
    }
}

impl Slots {
    /// The slot of an entry; `None` for a free or unknown slot.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&Slot> {
        self.slots.get(id as usize).filter(|slot| !slot.is_free())
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut Slot> {
        self.slots.get_mut(id as usize).filter(|slot| !slot.is_free())
    }

    pub(crate) fn insert(&mut self, slot: Slot) -> u32 {
        self.used += 1;
        let id = self.free;
        match self.slots.get_mut(id as usize) {
            Some(free) => {
                self.free = free.parent;
                *free = slot;
                id
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        }
    }

    pub(crate) fn remove(&mut self, id: u32) -> Option<Slot> {
        let free = Slot { parent: self.free, ..Slot::default() };
        let slot = std::mem::replace(self.get_mut(id)?, free);
        self.free = id;
        self.used -= 1;
        Some(slot)
    }

    pub(crate) fn reserve(&mut self, more: usize) {
        self.slots.reserve(more);
    }

    /// One more than the highest slot number ever used.
    pub(crate) fn end(&self) -> u32 {
        self.slots.len() as u32
    }
}
