//! Indexes find the entries that may match a filter, without reading the entries.
//!
//! An index yields candidates, and the filter is evaluated on each of them. So an index may yield too many
//! entries but never too few.
//!
//! People are looked up by name, and each index costs about a hundred nanoseconds per addition and
//! two to ten bytes per entry. So only names are indexed from the start. The first search that misses
//! another index scans all entries and records the miss; [`Store::maintain`] then builds the index
//! in small steps, and additions and removals keep the index up to date from then on.
//!
//! [`Store::maintain`]: crate::store::Store::maintain

mod equality;
mod prefix;
mod table;

use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::RandomState;

pub(crate) use equality::Hits;
pub(crate) use prefix::MOST;
pub(crate) use table::HashPairs;

use crate::schema::{AttributeId, Matching, Schema};
use equality::EqualityIndex;
use prefix::PrefixIndex;

/// The attribute types with an index, at most 32. Indexes in [`FROM_THE_START`] are built at once, before any
/// search misses them.
const INDEXED: [&str; 17] = [
    "objectClass",
    "cn",
    "uid",
    "sn",
    "givenName",
    "displayName",
    "mail",
    "telephoneNumber",
    "c",
    "l",
    "o",
    "ou",
    "sIPAddress",
    "member",
    "memberUid",
    "sAMAccountName",
    "userPrincipalName",
];

/// A login by one of the last two attributes uses the index and never a scan.
const FROM_THE_START: [&str; 4] = ["cn", "uid", "sAMAccountName", "userPrincipalName"];

/// The number of the index on objectClass, the first of [`INDEXED`].
pub(crate) const OBJECT_CLASS: u8 = 0;

/// Value in `by_type` of a type without index.
const NOT_INDEXED: u8 = u8::MAX;

/// A key of an equality index under which an entry is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) index: u8,
    pub(crate) hash: u32,
}

/// One of the two indexes on an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Equality(u8),
    Prefix(u8),
}

impl Part {
    const fn bit(self) -> u64 {
        match self {
            Self::Equality(index) => 1 << index,
            Self::Prefix(index) => 1 << 32 << index,
        }
    }
}

/// All indexes of a store; see the module.
#[derive(Debug)]
pub(crate) struct Indexes {
    /// For each type, the number of the index with the type's values: the index of the type or of a
    /// supertype.
    by_type: Vec<u8>,
    indexes: Vec<AttributeIndex>,
    hasher: RandomState,
    /// A bit for each part that a search has missed. Readers set each bit once.
    missed: AtomicU64,
    /// A bit for each part that is being built or kept up to date.
    kept: u64,
}

#[derive(Debug)]
struct AttributeIndex {
    attribute: AttributeId,
    matching: Matching,
    equality: EqualityIndex,
    /// All entries with smaller numbers are in `equality`; [`BUILT`] if all entries are.
    equality_end: u32,
    prefix: PrefixIndex,
    /// All entries with smaller numbers are in `prefix`; [`BUILT`] if all entries are.
    prefix_end: u32,
}

/// The value for a complete part; no entry has this number.
const BUILT: u32 = u32::MAX;

impl Indexes {
    pub(crate) fn new(schema: &Schema) -> Self {
        let known = INDEXED.iter().filter_map(|name| schema.resolve(name.as_bytes()));
        let indexes: Vec<AttributeIndex> =
            known.map(|attribute| AttributeIndex::new(attribute, schema)).collect();
        let number_of = |id| indexes.iter().position(|index| schema.is_a(id, index.attribute));
        let by_type = schema.attributes().map(|(id, _)| number_of(id).map_or(NOT_INDEXED, |at| at as u8));
        let built = indexes.iter().enumerate().filter(|(_, index)| index.equality_end == BUILT);
        Self {
            by_type: by_type.collect(),
            kept: built.map(|(at, _)| Part::Equality(at as u8).bit()).sum(),
            indexes,
            hasher: RandomState::default(),
            missed: AtomicU64::new(0),
        }
    }

    /// The index that has the values of this type.
    #[inline]
    pub(crate) fn of_values(&self, id: AttributeId) -> Option<u8> {
        self.by_type.get(usize::from(id.0)).copied().filter(|&index| index != NOT_INDEXED)
    }

    /// The index with every entry that a filter on this type can match.
    #[inline]
    pub(crate) fn of_assertions(&self, id: AttributeId) -> Option<u8> {
        self.of_values(id).filter(|&index| self.indexes[usize::from(index)].attribute == id)
    }

    /// The matching rule of an index.
    #[inline]
    pub(crate) fn matching(&self, index: u8) -> Matching {
        self.indexes[usize::from(index)].matching
    }

    /// The hash of a normal form.
    #[inline]
    pub(crate) fn hash(&self, normal: &[u8]) -> u32 {
        self.chain(0, normal)
    }

    /// The hash of a name, computed from the hash of the parent's name: names are hashed from the root down.
    #[inline]
    pub(crate) fn chain(&self, parent: u32, normal: &[u8]) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u32(parent);
        hasher.write(normal);
        (hasher.finish() >> 32) as u32
    }

    /// Whether a part is being built or kept up to date, so that entries have keys in it.
    #[inline]
    pub(crate) const fn keeps(&self, part: Part) -> bool {
        self.kept & part.bit() != 0
    }

    /// The entries that may hold the value; `None` if the index is not built yet, which is recorded as a
    /// miss.
    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<Hits<'_>> {
        let index = &self.indexes[usize::from(key.index)];
        if index.equality_end == BUILT {
            return Some(index.equality.get(key.hash));
        }
        self.note_missed(Part::Equality(key.index));
        None
    }

    /// The entries that may hold a value with this prefix, in ascending order. `None` if there are
    /// too many (see [`PrefixIndex::get`]), or the index is not built yet, which is recorded as a miss.
    pub(crate) fn starting_with(
        &self,
        index: u8,
        prefix: &[u8],
        most: usize,
        left: &mut usize,
    ) -> Option<Vec<u32>> {
        let found = &self.indexes[usize::from(index)];
        if found.prefix_end == BUILT {
            return found.prefix.get(prefix, most, left);
        }
        self.note_missed(Part::Prefix(index));
        None
    }

    fn note_missed(&self, part: Part) {
        // Relaxed: the bits are read under the store's write lock, which excludes the readers that set them,
        // and fetch_or loses no bit. The load before fetch_or keeps the cache line shared among readers.
        if self.missed.load(Ordering::Relaxed) & part.bit() == 0 {
            self.missed.fetch_or(part.bit(), Ordering::Relaxed);
        }
    }

    /// A part to build, and the number of the entry to continue with.
    #[inline]
    pub(crate) fn unfinished(&self) -> Option<(Part, u32)> {
        // Relaxed: a bit that is read late is handled in a later turn.
        match self.missed.load(Ordering::Relaxed) {
            0 => None,
            missed => self.unfinished_of(missed),
        }
    }

    fn unfinished_of(&self, missed: u64) -> Option<(Part, u32)> {
        let parts = (0..self.indexes.len() as u8).flat_map(|at| [Part::Equality(at), Part::Prefix(at)]);
        let missed = parts.filter(|part| missed & part.bit() != 0);
        missed.map(|part| (part, self.end(part))).find(|(_, end)| *end != BUILT)
    }

    /// Whether the part has indexed the entry of this number, so that changes of the entry update the part.
    #[inline]
    pub(crate) fn holds(&self, part: Part, id: u32) -> bool {
        self.keeps(part) && id < self.end(part)
    }

    #[inline]
    fn end(&self, part: Part) -> u32 {
        match part {
            Part::Equality(index) => self.indexes[usize::from(index)].equality_end,
            Part::Prefix(index) => self.indexes[usize::from(index)].prefix_end,
        }
    }

    /// Records that a part has indexed the entries below `next`, or all entries.
    pub(crate) fn advance(&mut self, part: Part, next: Option<u32>) {
        self.kept |= part.bit();
        let end = next.unwrap_or(BUILT);
        match part {
            Part::Equality(index) => self.indexes[usize::from(index)].equality_end = end,
            Part::Prefix(index) => self.indexes[usize::from(index)].prefix_end = end,
        }
        if next.is_none() {
            *self.missed.get_mut() &= !part.bit();
        }
    }

    /// Adds an entry under its keys.
    #[inline]
    pub(crate) fn insert(&mut self, id: u32, keys: &[Key]) {
        for key in keys {
            if self.holds(Part::Equality(key.index), id) {
                self.insert_new(id, *key);
            }
        }
    }

    /// Adds an entry to an index that is being built.
    #[inline]
    pub(crate) fn insert_new(&mut self, id: u32, key: Key) {
        self.indexes[usize::from(key.index)].equality.insert(key.hash, id);
    }

    /// Removes an entry from the lists of these keys.
    pub(crate) fn remove(&mut self, id: u32, keys: &[Key]) {
        for key in keys {
            if self.holds(Part::Equality(key.index), id) {
                self.indexes[usize::from(key.index)].equality.remove(key.hash, id);
            }
        }
    }

    /// Whether any prefix index is being built or kept up to date.
    #[inline]
    pub(crate) const fn keeps_prefixes(&self) -> bool {
        self.kept >> 32 != 0
    }

    /// Adds the value of an entry to a prefix index, or removes it.
    pub(crate) fn change_prefix(&mut self, index: u8, id: u32, normal: &[u8], insert: bool) {
        self.indexes[usize::from(index)].prefix.change(id, normal, insert);
    }
}

impl AttributeIndex {
    fn new(attribute: AttributeId, schema: &Schema) -> Self {
        let name = schema.canonical_name(attribute);
        // memberOf is constructed from the index on member.
        let from_the_start = FROM_THE_START.contains(&name) || name == "member" && schema.has_member_of();
        Self {
            attribute,
            matching: schema.naming_rule(attribute),
            equality: EqualityIndex::default(),
            equality_end: if from_the_start { BUILT } else { 0 },
            prefix: PrefixIndex::default(),
            prefix_end: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn the_salt_in_uuids_is_not_the_index_hash_of_zero() {
        let store = Store::new(Schema::standard());
        let hashes = &store.indexes.hasher;
        assert!(![hashes.hash_one(0), hashes.hash_one(0u32), hashes.hash_one(0u64)].contains(&store.salt));
    }
}
