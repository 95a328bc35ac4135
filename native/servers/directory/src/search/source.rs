//! Sources of candidates.

use crate::index::{Hits, Key};
use crate::store::Store;

/// The entries that may match. All sources yield them in ascending order.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Nothing,
    /// The numbers of entries, sorted.
    Few([u32; 8], usize),
    /// The numbers of entries, sorted.
    Sorted(Box<[u32]>),
    /// The entries under a key of an index.
    Listed(Key),
    /// The children of an entry.
    Children(u32),
    Everything,
    /// The entries of several sources.
    Union(Box<[Source]>),
}

impl Source {
    pub(super) const fn one(id: u32) -> Self {
        Self::Few([id, 0, 0, 0, 0, 0, 0, 0], 1)
    }

    /// The bytes of heap memory that the source holds.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Sorted(ids) => size_of_val(&**ids),
            Self::Union(sources) => size_of_val(&**sources) + sources.iter().map(Self::bytes).sum::<usize>(),
            _ => 0,
        }
    }

    /// Appends up to `limit` candidates from `from` on, in ascending order. Returns true if no further
    /// candidates follow.
    #[inline]
    pub(super) fn collect(&self, store: &Store, from: u32, limit: usize, out: &mut Vec<u32>) -> bool {
        match self {
            Self::Nothing => true,
            Self::Few(ids, count) => append(ids[..*count].iter().copied(), from, limit, out),
            Self::Sorted(ids) => {
                let start = ids.partition_point(|id| *id < from);
                append(ids[start..].iter().copied(), from, limit, out)
            }
            Self::Listed(key) => match store.indexes.get(*key) {
                Some(Hits::Few(mut few, count)) => {
                    few[..count].sort_unstable();
                    append(few[..count].iter().copied(), from, limit, out)
                }
                Some(Hits::Many(list)) => append(list.range(from..), from, limit, out),
                // This cannot happen: an index is never removed.
                None => true,
            },
            Self::Children(id) => match store.children.get(id) {
                Some(children) => append(children.range(from..), from, limit, out),
                None => true,
            },
            Self::Everything => append(from..store.slots.end(), from, limit, out),
            Self::Union(sources) => collect_union(sources, store, from, limit, out),
        }
    }
}

fn append(ids: impl Iterator<Item = u32>, from: u32, limit: usize, out: &mut Vec<u32>) -> bool {
    let before = out.len();
    let mut ids = ids.filter(|id| *id >= from);
    out.extend(ids.by_ref().take(limit));
    out.len() - before < limit || ids.next().is_none()
}

/// Merges the sources' candidates, up to the number that all sources have reached.
fn collect_union(sources: &[Source], store: &Store, from: u32, limit: usize, out: &mut Vec<u32>) -> bool {
    let start = out.len();
    let mut horizon = u32::MAX;
    let mut exhausted = true;
    for source in sources {
        let before = out.len();
        if !source.collect(store, from, limit, out) {
            exhausted = false;
            horizon = out[before..].last().map_or(horizon, |last| horizon.min(*last));
        }
    }
    let mut ids = out.split_off(start);
    ids.retain(|id| *id <= horizon);
    ids.sort_unstable();
    ids.dedup();
    if ids.len() > limit {
        exhausted = false;
        ids.truncate(limit);
    }
    out.extend(ids);
    exhausted
}
