//! Postponed work: builds the indexes that searches have missed, step by step.

use super::slots::Slot;
use super::{Store, body};
use crate::index::{Indexes, Part};

impl Store {
    /// Whether [`Store::maintain`] has work to do. Cheap enough for every turn.
    #[inline]
    pub fn wants_maintenance(&self) -> bool {
        self.indexes.unfinished().is_some()
    }

    /// Does up to `budget` entries' worth of postponed work on the indexes.
    pub fn maintain(&mut self, budget: usize) {
        let Some((part, from)) = self.indexes.unfinished() else {
            return;
        };
        let end = self.slots.end();
        let to = end.min(from.saturating_add(u32::try_from(budget).unwrap_or(u32::MAX)));
        // From now on, the keys of entries include the keys of this part, and changes of entries below `from`
        // update this part.
        self.indexes.advance(part, Some(from));
        for id in from..to {
            if let Some(slot) = self.slots.get(id).copied() {
                self.put_in(part, id, &slot);
            }
        }
        self.indexes.advance(part, (to < end).then_some(to));
    }

    fn put_in(&mut self, part: Part, id: u32, slot: &Slot) {
        match part {
            Part::Prefix(index) => self.change_prefixes_of(|_, one| one == index, id, slot, true),
            Part::Equality(index) => {
                let mut writer = self.writer.take().unwrap_or_default();
                let (_, list) = body::split(self.bodies.get(slot.place));
                writer.inspector.keys_of(&self.schema, &self.indexes, list);
                for key in writer.inspector.keys.iter().filter(|key| key.index == index) {
                    self.indexes.insert_new(id, *key);
                }
                self.writer = Some(writer);
            }
        }
    }

    /// Adds an entry to the existing prefix indexes, or removes it.
    #[inline]
    pub(super) fn change_prefixes(&mut self, id: u32, slot: &Slot, insert: bool) {
        if self.indexes.keeps_prefixes() {
            // While an index is being built, only entries that have been indexed already are changed in it:
            // the build adds the others.
            let holds = |indexes: &Indexes, index| indexes.holds(Part::Prefix(index), id);
            self.change_prefixes_of(holds, id, slot, insert);
        }
    }

    fn change_prefixes_of(
        &mut self,
        which: impl Fn(&Indexes, u8) -> bool,
        id: u32,
        slot: &Slot,
        insert: bool,
    ) {
        let (_, list) = body::split(self.bodies.get(slot.place));
        let mut normal = Vec::new();
        for attribute in list.iter().flatten() {
            let kind = self.schema.resolve(attribute.name);
            let index = kind.and_then(|id| self.indexes.of_values(id));
            let Some(index) = index.filter(|one| which(&self.indexes, *one)) else {
                continue;
            };
            let matching = self.indexes.matching(index);
            for value in attribute.values.iter().flatten() {
                normal.clear();
                if matching.normalise(&self.schema, value, &mut normal) {
                    self.indexes.change_prefix(index, id, &normal, insert);
                }
            }
        }
    }
}
