//! The entries by prefixes of their values: an ordered set.

use std::collections::BTreeSet;

/// The length of a stored prefix. Longer values with equal prefixes are distinguished by evaluating the
/// filter.
const KEPT: usize = 12;

/// The beginning of a normal form, padded with zeros, and the entry's number.
type Cell = [u8; KEPT + 4];

/// The most entries that are listed; for more, a scan of all entries is no slower.
pub(crate) const MOST: usize = 1 << 16;

#[derive(Debug, Default)]
pub(crate) struct PrefixIndex {
    cells: BTreeSet<Cell>,
}

impl PrefixIndex {
    /// Adds or removes a value of an entry.
    pub(crate) fn change(&mut self, id: u32, normal: &[u8], insert: bool) {
        let cell = cell(normal, id, 0);
        if insert {
            self.cells.insert(cell);
        } else {
            self.cells.remove(&cell);
        }
    }

    /// The entries that may have a value whose normal form starts with `prefix`, in ascending order. `None`
    /// if there are more than `most` or more than `left` entries. The number of visited entries is subtracted
    /// from `left`.
    pub(crate) fn get(&self, prefix: &[u8], most: usize, left: &mut usize) -> Option<Vec<u32>> {
        let most = most.min(*left);
        let range = cell(prefix, 0, 0)..=cell(prefix, u32::MAX, u8::MAX);
        let mut ids: Vec<u32> = self.cells.range(range).take(most + 1).map(id_of).collect();
        *left -= ids.len().min(most);
        if ids.len() > most {
            return None;
        }
        ids.sort_unstable();
        ids.dedup();
        Some(ids)
    }
}

fn cell(normal: &[u8], id: u32, padding: u8) -> Cell {
    let mut cell = [padding; KEPT + 4];
    let kept = normal.len().min(KEPT);
    cell[..kept].copy_from_slice(&normal[..kept]);
    cell[KEPT..].copy_from_slice(&id.to_be_bytes());
    cell
}

fn id_of(cell: &Cell) -> u32 {
    let [.., a, b, c, d] = *cell;
    u32::from_be_bytes([a, b, c, d])
}
