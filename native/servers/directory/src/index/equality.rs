//! The entries that may have a value, by the hash of its normal form.
//!
//! Hashes collide, so the caller evaluates the filter on each entry.

use roaring::RoaringBitmap;

use super::table::HashPairs;

/// The table holds up to this many entries per hash. More entries move into a bitmap, which takes at most two
/// bytes per entry.
const DIRECT: usize = 8;

/// The bit that marks a number in the table as the number of a bitmap.
const LISTED: u32 = 1 << 31;

/// The index of one attribute.
#[derive(Debug, Default)]
pub(crate) struct EqualityIndex {
    pairs: HashPairs,
    lists: Vec<RoaringBitmap>,
    unused: Vec<u32>,
}

#[derive(Debug)]
pub(crate) enum Hits<'i> {
    /// Up to [`DIRECT`] entries, in no particular order.
    Few([u32; DIRECT], usize),
    Many(&'i RoaringBitmap),
}

impl EqualityIndex {
    #[inline]
    pub(crate) fn get(&self, hash: u32) -> Hits<'_> {
        let mut few = [0; DIRECT];
        let mut count = 0;
        for number in self.pairs.get(hash).take(DIRECT) {
            if let Some(list) = self.list(number) {
                return Hits::Many(list);
            }
            few[count] = number;
            count += 1;
        }
        Hits::Few(few, count)
    }

    /// Adds an entry under a hash, unless the entry is listed there already.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u32, id: u32) {
        match self.get(hash) {
            Hits::Few(few, count) if few[..count].contains(&id) => {}
            Hits::Few(few, DIRECT) => self.spread(hash, few, id),
            Hits::Few(..) => self.pairs.insert(hash, id),
            Hits::Many(_) => {
                if let Some(list) = self.list_mut(hash) {
                    list.insert(id);
                }
            }
        }
    }

    pub(crate) fn remove(&mut self, hash: u32, id: u32) {
        if self.pairs.remove(hash, id) {
            return;
        }
        let Some(number) = self.pairs.get(hash).next() else {
            return;
        };
        let Some(list) = self.list_mut(hash) else {
            return;
        };
        list.remove(id);
        if list.is_empty() {
            *list = RoaringBitmap::new();
            self.pairs.remove(hash, number);
            self.unused.push(number & !LISTED);
        }
    }

    fn spread(&mut self, hash: u32, few: [u32; DIRECT], id: u32) {
        for known in few {
            self.pairs.remove(hash, known);
        }
        let number = self.unused.pop().unwrap_or(self.lists.len() as u32);
        let list: RoaringBitmap = few.into_iter().chain([id]).collect();
        match self.lists.get_mut(number as usize) {
            Some(place) => *place = list,
            None => self.lists.push(list),
        }
        self.pairs.insert(hash, LISTED | number);
    }

    #[inline]
    fn list(&self, number: u32) -> Option<&RoaringBitmap> {
        if number & LISTED == 0 { None } else { self.lists.get((number & !LISTED) as usize) }
    }

    fn list_mut(&mut self, hash: u32) -> Option<&mut RoaringBitmap> {
        let number = self.pairs.get(hash).next().filter(|number| number & LISTED != 0)?;
        self.lists.get_mut((number & !LISTED) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn ids(index: &EqualityIndex, hash: u32) -> BTreeSet<u32> {
        match index.get(hash) {
            Hits::Few(few, count) => few[..count].iter().copied().collect(),
            Hits::Many(list) => list.iter().collect(),
        }
    }

    proptest! {
        #[test]
        fn the_equality_index_holds_the_same_pairs_as_a_reference_set(steps in prop::collection::vec((0u8..3, 0u32..3, 0u32..30), 1..400)) {
            let mut index = EqualityIndex::default();
            let mut model = BTreeSet::new();
            for (step, hash, id) in steps {
                if step > 0 {
                    model.insert((hash, id));
                    index.insert(hash, id);
                } else {
                    model.remove(&(hash, id));
                    index.remove(hash, id);
                }
            }
            for hash in 0..3 {
                let expected: BTreeSet<u32> = model.iter().filter(|pair| pair.0 == hash).map(|pair| pair.1).collect();
                prop_assert_eq!(ids(&index, hash), expected);
            }
        }
    }
}
