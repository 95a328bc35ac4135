//! A map from names to numbers, ignoring the case of ASCII letters.

use hashbrown::HashTable;

/// Names are short, and they are looked up several times per request, so the hash function is inlined.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    table: HashTable<(Box<[u8]>, u16)>,
}

impl Names {
    #[inline]
    pub(super) fn get(&self, name: &[u8]) -> Option<u16> {
        self.table.find(hash(name), |(known, _)| is_same(known, name)).map(|&(_, number)| number)
    }

    /// Adds a name. A later definition replaces an earlier one.
    pub(super) fn insert(&mut self, name: &[u8], number: u16) {
        match self.table.find_mut(hash(name), |(known, _)| is_same(known, name)) {
            Some(entry) => entry.1 = number,
            None => {
                self.table.insert_unique(hash(name), (name.into(), number), |(name, _)| hash(name));
            }
        }
    }
}

/// Clients usually spell names like schemas do, and comparing bytes is faster than comparing letters.
#[inline]
fn is_same(known: &[u8], name: &[u8]) -> bool {
    known == name || known.eq_ignore_ascii_case(name)
}

/// Mixes eight letters at a time, without their case. Names come from a schema of limited size, so
/// a client cannot fill one bucket.
#[inline]
fn hash(name: &[u8]) -> u64 {
    /// The bit in which lower and upper case differ.
    const CASE: u64 = 0x2020_2020_2020_2020;
    let mut hash = name.len() as u64;
    let mut mix = |word: u64| {
        hash = (hash.rotate_left(5) ^ (word | CASE)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    };
    let mut chunks = name.chunks_exact(8);
    for chunk in chunks.by_ref() {
        mix(chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    }
    mix(chunks.remainder().iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    hash ^ hash >> 32
}
