//! A multimap from 32-bit hashes to 32-bit numbers, eight bytes a pair.
//!
//! Directories grow entry by entry up to a million: a table that doubles would be half empty, and would
//! block all requests while it grows. This table has 256 shards by the hash's top bits. Each shard
//! grows separately and by a quarter, so that a step moves a few thousand pairs at most and the table is
//! 0.7 to 0.88 full. Within a shard pairs are kept in the order of their hashes (linear probing from a
//! home that grows with the hash). So a miss is as cheap as a hit, equal hashes are adjacent,
//! and a removal needs no tombstone.

const SHARD_BITS: u32 = 8;

/// A pair in one word: hash in the upper half, number plus one in the lower; zero is an empty cell.
type Cell = u64;

/// Pairs are distinct.
#[derive(Debug, Clone)]
pub(crate) struct HashPairs {
    shards: Box<[Shard]>,
}

#[derive(Debug, Clone, Default)]
struct Shard {
    /// `places` homes, and some cells after the last home for displaced pairs.
    cells: Vec<Cell>,
    places: u32,
    used: u32,
}

impl Default for HashPairs {
    fn default() -> Self {
        Self { shards: vec![Shard::default(); 1 << SHARD_BITS].into() }
    }
}

impl HashPairs {
    /// The numbers with this hash.
    #[inline]
    pub(crate) fn get(&self, hash: u32) -> impl Iterator<Item = u32> {
        let shard = self.shard(hash);
        let cells = shard.cells.get(shard.lower_bound(hash)..).unwrap_or_default();
        cells.iter().take_while(move |&&cell| cell != 0 && hash_of(cell) == hash).map(|&cell| number_of(cell))
    }

    /// Adds a new pair.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u32, number: u32) {
        let shard = self.shard_mut(hash);
        if shard.is_full() {
            shard.grow();
        }
        shard.insert(hash, cell(hash, number));
    }

    /// Removes a pair; false if absent.
    #[inline]
    pub(crate) fn remove(&mut self, hash: u32, number: u32) -> bool {
        self.shard_mut(hash).remove(hash, number)
    }

    #[inline]
    fn shard(&self, hash: u32) -> &Shard {
        &self.shards[(hash >> (32 - SHARD_BITS)) as usize]
    }

    #[inline]
    fn shard_mut(&mut self, hash: u32) -> &mut Shard {
        &mut self.shards[(hash >> (32 - SHARD_BITS)) as usize]
    }
}

impl Shard {
    /// The home of a hash. A greater hash has the same home or a later home.
    #[inline]
    fn home(&self, hash: u32) -> usize {
        ((u64::from(hash << SHARD_BITS) * u64::from(self.places)) >> 32) as usize
    }

    /// The first cell from the home on that is empty or whose hash is not less than `hash`.
    #[inline]
    fn lower_bound(&self, hash: u32) -> usize {
        let home = self.home(hash);
        let cells = self.cells.get(home..).unwrap_or_default();
        home + cells.iter().take_while(|&&cell| cell != 0 && hash_of(cell) < hash).count()
    }

    #[inline]
    fn is_full(&self) -> bool {
        // The shard grows when seven eighths are used: in a fuller table, runs of occupied cells grow long.
        u64::from(self.used) * 8 >= u64::from(self.places) * 7
            || self.cells.last().is_none_or(|&last| last != 0)
    }

    fn grow(&mut self) {
        let places = self.places + self.places / 4 + 4;
        let old = std::mem::take(&mut self.cells);
        // Cells after the last home, for a run of pairs that ends there. If they fill up, the shard grows.
        self.cells = vec![0; places as usize + 8 + places as usize / 64];
        self.places = places;
        let mut free = 0;
        for cell in old.into_iter().filter(|&cell| cell != 0) {
            let place = self.home(hash_of(cell)).max(free);
            if place == self.cells.len() {
                self.cells.push(0);
            }
            self.cells[place] = cell;
            free = place + 1;
        }
        if free == self.cells.len() {
            self.cells.push(0);
        }
    }

    #[inline]
    fn insert(&mut self, hash: u32, cell: Cell) {
        let place = self.lower_bound(hash);
        let run = self.cells[place..].iter().take_while(|&&cell| cell != 0).count();
        self.cells.copy_within(place..place + run, place + 1);
        self.cells[place] = cell;
        self.used += 1;
    }

    fn remove(&mut self, hash: u32, number: u32) -> bool {
        let wanted = cell(hash, number);
        let mut place = self.lower_bound(hash);
        loop {
            match self.cells.get(place) {
                Some(&cell) if cell == wanted => break,
                Some(&cell) if cell != 0 && hash_of(cell) == hash => place += 1,
                _ => return false,
            }
        }
        // The following displaced pairs move back by one cell, so that a run has no holes.
        while let Some(&next) = self.cells.get(place + 1) {
            if next == 0 || self.home(hash_of(next)) > place {
                break;
            }
            self.cells[place] = next;
            place += 1;
        }
        self.cells[place] = 0;
        self.used -= 1;
        true
    }
}

#[inline]
const fn cell(hash: u32, number: u32) -> Cell {
    (hash as u64) << 32 | (number as u64 + 1)
}

#[inline]
const fn hash_of(cell: Cell) -> u32 {
    (cell >> 32) as u32
}

#[inline]
const fn number_of(cell: Cell) -> u32 {
    (cell as u32).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_index_table_holds_the_same_pairs_as_a_reference_set(
            steps in prop::collection::vec((any::<bool>(), 0u32..64, 0u32..8), 1..800),
            spread in prop::sample::select(vec![1u32, 0x0001_0003, 0x0400_0000, 0x9e37_79b9]),
        ) {
            let mut table = HashPairs::default();
            let mut model = BTreeSet::new();
            for (insert, hash, number) in steps {
                let hash = hash.wrapping_mul(spread);
                if insert {
                    if model.insert((hash, number)) {
                        table.insert(hash, number);
                    }
                } else {
                    prop_assert_eq!(table.remove(hash, number), model.remove(&(hash, number)));
                }
            }
            let pairs: u32 = table.shards.iter().map(|shard| shard.used).sum();
            prop_assert_eq!(pairs as usize, model.len());
            for hash in (0..64u32).map(|hash| hash.wrapping_mul(spread)) {
                let found: BTreeSet<u32> = table.get(hash).collect();
                let expected: BTreeSet<u32> = model.range((hash, 0)..=(hash, u32::MAX)).map(|pair| pair.1).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn a_hundred_thousand_pairs_take_at_most_twelve_bytes_each() {
        let mut table = HashPairs::default();
        for number in 0..100_000u32 {
            table.insert(number.wrapping_mul(0x9e37_79b9), number);
        }
        let cells: usize = table.shards.iter().map(|shard| shard.cells.capacity()).sum();
        assert!(cells * size_of::<Cell>() < 12 * 100_000, "{cells}");
        assert!((0..100_000u32).all(|n| table.get(n.wrapping_mul(0x9e37_79b9)).eq([n])));
    }
}
