//! The indexes: which entries may match a filter, without looking at them.
//!
//! Every index is a hint. What it yields is evaluated like anything else, so that it may yield too
//! much but never too little.
//!
//! People are looked up by name, and each index costs every addition some hundred nanoseconds and
//! every entry two to ten bytes. So only names are indexed from the start. The first search that misses
//! another index goes through all entries and notes the miss; [`Store::maintain`] then builds the index
//! in small steps, and additions and removals keep it up to date from then on.
//!
//! [`Store::maintain`]: crate::store::Store::maintain

mod equality;
mod prefix;
mod progress;
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
use progress::Progress;

/// The types that entries are searched by, at most 32 of them. Those in [`FROM_THE_START`] are
/// built without waiting for a search that misses them.
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

/// Logins by the last two have no second try.
const FROM_THE_START: [&str; 4] = ["cn", "uid", "sAMAccountName", "userPrincipalName"];

/// The number of the index on objectClass, the first of [`INDEXED`].
pub(crate) const OBJECT_CLASS: u8 = 0;

/// In `by_type`, a type without index.
const NOT_INDEXED: u8 = u8::MAX;

/// A place in one of the equality indexes at which an entry is listed.
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
    /// By type: the index that has its values, its own or an ancestor's.
    by_type: Vec<u8>,
    indexes: Vec<AttributeIndex>,
    hasher: RandomState,
    /// The bits of the parts that searches have missed. Set by readers, once each.
    missed: AtomicU64,
    /// The bits of the parts that are being built or kept up to date.
    kept: u64,
}

#[derive(Debug)]
struct AttributeIndex {
    attribute: AttributeId,
    matching: Matching,
    equality: EqualityIndex,
    equality_progress: Progress,
    prefix: PrefixIndex,
    prefix_progress: Progress,
}

impl Indexes {
    pub(crate) fn new(schema: &Schema) -> Self {
        let known = INDEXED.iter().filter_map(|name| schema.resolve(name.as_bytes()));
        let indexes: Vec<AttributeIndex> =
            known.map(|attribute| AttributeIndex::new(attribute, schema)).collect();
        let number_of = |id| indexes.iter().position(|index| schema.is_a(id, index.attribute));
        let by_type = schema.attributes().map(|(id, _)| number_of(id).map_or(NOT_INDEXED, |at| at as u8));
        let made = |(at, index): (usize, &AttributeIndex)| match index.equality_progress {
            Progress::Built => Part::Equality(at as u8).bit(),
            _ => 0,
        };
        Self {
            by_type: by_type.collect(),
            kept: indexes.iter().enumerate().map(made).sum(),
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

    /// The index that has every entry a filter on this type may match.
    #[inline]
    pub(crate) fn of_assertions(&self, id: AttributeId) -> Option<u8> {
        self.of_values(id).filter(|&index| self.indexes[usize::from(index)].attribute == id)
    }

    /// How the values of an index are compared.
    #[inline]
    pub(crate) fn matching(&self, index: u8) -> Matching {
        self.indexes[usize::from(index)].matching
    }

    /// The hash that normal forms are kept under.
    #[inline]
    pub(crate) fn hash(&self, normal: &[u8]) -> u32 {
        self.chain(0, normal)
    }

    /// The hash of a name from that of its parent: names are hashed from the root down.
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

    /// The entries that may hold the value; `None` if the index is not built yet, which is then noted.
    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<Hits<'_>> {
        let index = &self.indexes[usize::from(key.index)];
        if index.equality_progress == Progress::Built {
            return Some(index.equality.get(key.hash));
        }
        self.note_missed(Part::Equality(key.index));
        None
    }

    /// The entries that may hold a value with this beginning, in ascending order. `None` if they are
    /// too many (see [`PrefixIndex::get`]), or the index is not built yet, which is then noted.
    pub(crate) fn starting_with(
        &self,
        index: u8,
        prefix: &[u8],
        most: usize,
        left: &mut usize,
    ) -> Option<Vec<u32>> {
        let found = &self.indexes[usize::from(index)];
        if found.prefix_progress == Progress::Built {
            return found.prefix.get(prefix, most, left);
        }
        self.note_missed(Part::Prefix(index));
        None
    }

    fn note_missed(&self, part: Part) {
        // The bits are a hint, acted on under the store's lock for writing, which no reader that sets one
        // holds. Setting one loses no other. Looking first keeps the cache line shared among readers.
        if self.missed.load(Ordering::Relaxed) & part.bit() == 0 {
            self.missed.fetch_or(part.bit(), Ordering::Relaxed);
        }
    }

    /// A part to build, and the entry to go on with.
    #[inline]
    pub(crate) fn unfinished(&self) -> Option<(Part, u32)> {
        // A bit that is seen late is acted on in a later turn.
        match self.missed.load(Ordering::Relaxed) {
            0 => None,
            missed => self.unfinished_of(missed),
        }
    }

    fn unfinished_of(&self, missed: u64) -> Option<(Part, u32)> {
        let parts = (0..self.indexes.len() as u8).flat_map(|at| [Part::Equality(at), Part::Prefix(at)]);
        let mut missed = parts.filter(|part| missed & part.bit() != 0);
        missed.find_map(|part| Some((part, self.progress(part).next()?)))
    }

    /// Whether the part has the entry of this number, and has to follow its changes.
    #[inline]
    pub(crate) fn holds(&self, part: Part, id: u32) -> bool {
        self.keeps(part) && self.progress(part).holds(id)
    }

    #[inline]
    fn progress(&self, part: Part) -> Progress {
        match part {
            Part::Equality(index) => self.indexes[usize::from(index)].equality_progress,
            Part::Prefix(index) => self.indexes[usize::from(index)].prefix_progress,
        }
    }

    /// Notes that a part has the entries below `next`, or all of them.
    pub(crate) fn advance(&mut self, part: Part, next: Option<u32>) {
        self.kept |= part.bit();
        let progress = next.map_or(Progress::Built, Progress::Building);
        match part {
            Part::Equality(index) => self.indexes[usize::from(index)].equality_progress = progress,
            Part::Prefix(index) => self.indexes[usize::from(index)].prefix_progress = progress,
        }
        if next.is_none() {
            *self.missed.get_mut() &= !part.bit();
        }
    }

    /// Adds an entry at its places.
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

    /// Takes an entry from its places.
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

    /// Puts the value of an entry into a prefix index, or takes it out.
    pub(crate) fn change_prefix(&mut self, index: u8, id: u32, normal: &[u8], insert: bool) {
        self.indexes[usize::from(index)].prefix.change(id, normal, insert);
    }

    /// Bytes of each equality index, for the measurements.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = (AttributeId, usize)> {
        self.indexes.iter().map(|index| (index.attribute, index.equality.bytes()))
    }
}

impl AttributeIndex {
    fn new(attribute: AttributeId, schema: &Schema) -> Self {
        let name = schema.canonical_name(attribute);
        // memberOf is answered from it.
        let from_the_start = FROM_THE_START.contains(&name) || name == "member" && schema.has_member_of();
        Self {
            attribute,
            matching: schema.naming_rule(attribute),
            equality: EqualityIndex::default(),
            equality_progress: if from_the_start { Progress::Built } else { Progress::Absent },
            prefix: PrefixIndex::default(),
            prefix_progress: Progress::Absent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn what_clients_see_of_a_store_tells_nothing_of_its_hashes() {
        let store = Store::new(Schema::standard());
        let hashes = &store.indexes.hasher;
        assert!(![hashes.hash_one(0), hashes.hash_one(0u32), hashes.hash_one(0u64)].contains(&store.salt));
    }
}
