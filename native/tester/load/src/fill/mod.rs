//! The values of a scenario's requests: rows of its data, drawn values, captures.
//!
//! A [`Plan`] is made once per scenario and resolves all fields, so that a lane only copies values. Each
//! thread deals rows from cursors of its own ([`RowDealers`]); a lane keeps its drawn values ([`LaneData`]) until
//! the next draw.

mod clock;
mod plan;
mod source;
mod text;

pub use plan::Preparation;
pub(crate) use plan::{Draw, Inputs, Plan};
pub use source::Tables;
pub(crate) use source::{DataSources, People};
pub(crate) use text::{Text, write_number};

use crate::choose::deal::{RowCursor, Sharer};
use crate::choose::keys::Keys;
use crate::choose::owned_keys::OwnedKeys;
use source::{Dealt, Source};

/// The cursors from which one thread deals rows.
pub(crate) struct RowDealers {
    dealers: Vec<RowDealer>,
    /// Exclusive rows that were given back or lost since [`RowDealers::take_returned`].
    returned: u64,
    /// The number of the next user of this thread.
    next_user: u64,
    stride: u64,
}

enum RowDealer {
    Cursor(RowCursor),
    Keys(Keys),
    Owned(OwnedKeys, Keys),
    /// A deal of exclusive rows, with the number of lanes that wait for a row.
    Held(RowCursor, u64),
    Taken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRow {
    /// All rows were dealt, or are lost.
    Exhausted,
    /// Other lanes hold all rows.
    Held,
}

impl RowDealers {
    pub(crate) fn new(plan: &Plan, sharer: Sharer, thread: usize) -> Self {
        let thread = thread as u64;
        let dealer = |source: &Source| match &source.dealt {
            Dealt::Each(dealer) => RowDealer::Cursor(dealer.cursor(thread)),
            Dealt::Drawn(keys) => RowDealer::Keys(keys.clone()),
            Dealt::Owned(keys) => {
                let (place, stride) = sharer.of_thread(thread);
                RowDealer::Owned(OwnedKeys::new(source.count, place, stride), keys.clone())
            }
            Dealt::Held(dealer) => RowDealer::Held(dealer.cursor(thread), 0),
            Dealt::Taken => RowDealer::Taken,
        };
        let (first, stride) = sharer.of_thread(thread);
        let dealers = plan.sources.iter().map(dealer).collect();
        Self { dealers, returned: 0, next_user: 1 + first, stride }
    }

    /// Draws the rows and values of a lane; `taken` is the person that the lane is to add. Draws
    /// nothing if other lanes hold all rows, or wait for a row.
    #[inline]
    pub(crate) fn draw(
        &mut self,
        plan: &Plan,
        draws: &[Draw],
        data: &mut LaneData,
        taken: Option<u64>,
        rng: &mut fastrand::Rng,
    ) -> Result<(), NoRow> {
        for draw in draws {
            match draw {
                Draw::Iteration => data.iteration += 1,
                Draw::Row { source, once: false } => match &mut self.dealers[*source] {
                    RowDealer::Keys(keys) => data.rows[*source] = keys.draw(rng),
                    _ => self.draw_row(draws, *source, data, taken, rng)?,
                },
                _ => self.draw_other(plan, draw, data, rng),
            }
        }
        Ok(())
    }

    /// Performs any draw except the draw of a row for an iteration.
    fn draw_other(&mut self, plan: &Plan, draw: &Draw, data: &mut LaneData, rng: &mut fastrand::Rng) {
        match draw {
            Draw::User => {
                if data.user == 0 {
                    *data = LaneData::new(plan, self.next_user);
                    self.next_user += self.stride;
                }
            }
            Draw::Row { source, .. } => {
                data.rows[*source] = (data.user - 1) % plan.sources[*source].count;
            }
            Draw::GiveBack { source } => self.give_back_row(data, *source),
            Draw::Value { place, text } => {
                let mut value = std::mem::take(&mut data.values[*place].bytes);
                value.clear();
                plan.write(text, data, rng, &mut value);
                data.values[*place] = Value { bytes: value, known: true, ..Value::default() };
            }
            Draw::Forget { place } => data.forget(*place),
            Draw::Element { list, place } => data.take_element(*list, *place),
            Draw::Iteration => {}
        }
    }

    /// Draws a row. `draws` are all draws of the block: they are undone if no row is free.
    fn draw_row(
        &mut self,
        draws: &[Draw],
        source: usize,
        data: &mut LaneData,
        taken: Option<u64>,
        rng: &mut fastrand::Rng,
    ) -> Result<(), NoRow> {
        self.give_back_row(data, source);
        let row = match &mut self.dealers[source] {
            RowDealer::Cursor(cursor) => cursor.take(),
            RowDealer::Keys(keys) => Some(keys.draw(rng)),
            RowDealer::Taken => taken,
            RowDealer::Held(cursor, waiting) => {
                let waits = data.waits_for == Some(source);
                let row = if waits || *waiting == 0 { cursor.take() } else { None };
                data.held[source] = row.is_some();
                if row.is_none() {
                    let reason = if cursor.has_lost_all() { NoRow::Exhausted } else { NoRow::Held };
                    self.set_waiting(data, Some(source));
                    // A waiting lane holds none of the block's exclusive rows.
                    for draw in draws {
                        if let Draw::Row { source, .. } = draw {
                            self.give_back_row(data, *source);
                        }
                    }
                    return Err(reason);
                }
                if waits {
                    self.set_waiting(data, None);
                }
                row
            }
            RowDealer::Owned(owned, keys) => {
                let preferred = keys.draw(rng);
                let row = owned.take(preferred);
                data.held[source] = row.is_some();
                // If all rows are owned, two lanes share a row.
                Some(row.unwrap_or_else(|| owned.one(preferred)))
            }
        };
        data.rows[source] = row.ok_or(NoRow::Exhausted)?;
        Ok(())
    }

    pub(crate) fn give_back(&mut self, data: &mut LaneData) {
        // `held` is empty in a lane that has drawn nothing yet.
        for source in 0..data.held.len() {
            self.give_back_row(data, source);
        }
        self.set_waiting(data, None);
    }

    /// Makes a lane wait for rows of one source, or of no source.
    #[cold]
    fn set_waiting(&mut self, data: &mut LaneData, source: Option<usize>) {
        for (source, more) in [(data.waits_for, false), (source, true)] {
            if let Some(RowDealer::Held(_, waiting)) = source.and_then(|source| self.dealers.get_mut(source))
            {
                *waiting = if more { *waiting + 1 } else { *waiting - 1 };
            }
        }
        data.waits_for = source;
    }

    /// Returns the number of exclusive rows given back or lost since the last call.
    pub(crate) fn take_returned(&mut self) -> u64 {
        std::mem::take(&mut self.returned)
    }

    /// Counts a lane's exclusive rows as lost: an unanswered change to them may still take place.
    #[cold]
    pub(crate) fn lose(&mut self, data: &mut LaneData) {
        for (dealer, held) in self.dealers.iter_mut().zip(&mut data.held) {
            if let (true, RowDealer::Held(cursor, _)) = (std::mem::take(held), dealer) {
                cursor.lost += 1;
                self.returned += 1;
            }
        }
    }

    pub(crate) fn lost(&self) -> u64 {
        let of = |dealer: &RowDealer| if let RowDealer::Held(cursor, _) = dealer { cursor.lost } else { 0 };
        self.dealers.iter().map(of).sum()
    }

    fn give_back_row(&mut self, data: &mut LaneData, source: usize) {
        if !std::mem::take(&mut data.held[source]) {
            return;
        }
        match &mut self.dealers[source] {
            RowDealer::Owned(owned, _) => owned.give_back(data.rows[source]),
            RowDealer::Held(cursor, _) => {
                self.returned += 1;
                cursor.give_back(data.rows[source]);
            }
            _ => {}
        }
    }

    /// Marks a row as changed if another lane may hold the same row.
    pub(crate) fn changes(&mut self, data: &LaneData, source: usize) {
        if let RowDealer::Owned(owned, _) = &mut self.dealers[source]
            && !data.held[source]
        {
            owned.mark_contested(data.rows[source]);
        }
    }

    /// Whether no other lane can have changed the row since this lane drew it.
    pub(crate) fn is_ours(&self, data: &LaneData, source: usize) -> bool {
        match &self.dealers[source] {
            RowDealer::Owned(owned, _) => data.held[source] && !owned.is_contested(data.rows[source]),
            _ => true,
        }
    }
}

/// Limits of a list: its number of values, and their bytes.
const MOST_VALUES: usize = 1_000_000;
const MOST_LIST_BYTES: usize = 16 << 20;

/// A captured value with a larger capacity is freed at the end of an iteration.
const MOST_KEPT: usize = 64 << 10;

/// The row number of a lane that has drawn no row.
const NONE: u64 = u64::MAX;

/// The drawn values and captures of a lane.
#[derive(Debug, Default)]
pub(crate) struct LaneData {
    /// The number of the lane's user, from 1.
    user: u64,
    iteration: u64,
    rows: Box<[u64]>,
    /// By source: whether the lane holds its row alone.
    held: Box<[bool]>,
    /// The source whose rows the lane waits for.
    waits_for: Option<usize>,
    values: Box<[Value]>,
}

#[derive(Debug, Clone, Default)]
struct Value {
    bytes: Vec<u8>,
    known: bool,
    /// For a list, the end of each value.
    ends: Vec<u32>,
    /// For a list, the index of the next value.
    next: usize,
}

impl LaneData {
    fn new(plan: &Plan, user: u64) -> Self {
        let rows = vec![NONE; plan.sources.len()].into();
        let held = vec![false; plan.sources.len()].into();
        let values = vec![Value::default(); plan.values.len()].into();
        Self { user, iteration: 0, rows, held, waits_for: None, values }
    }

    pub(crate) fn waits(&self) -> bool {
        self.waits_for.is_some()
    }

    /// The numbers of the user and of its iteration, once they have begun.
    pub(crate) fn user_and_iteration(&self) -> (Option<u64>, Option<u64>) {
        let begun = |number: u64| Some(number).filter(|number| *number > 0);
        (begun(self.user), begun(self.iteration))
    }

    pub(crate) fn row(&self, source: usize) -> u64 {
        self.rows[source]
    }

    fn drawn_row(&self, source: usize) -> Option<u64> {
        self.rows.get(source).copied().filter(|row| *row != NONE)
    }

    /// A value for readers, if it is known. For a list, the number of values.
    fn shown(&self, place: usize) -> Option<String> {
        let value = self.values.get(place).filter(|value| value.known)?;
        Some(match value.ends.len() {
            0 => String::from_utf8_lossy(&value.bytes).into_owned(),
            count => format!("{count} values"),
        })
    }

    pub(crate) fn has_value(&self, place: usize) -> bool {
        self.values.get(place).is_some_and(|value| value.known)
    }

    pub(crate) fn forget(&mut self, place: usize) {
        if let Some(value) = self.values.get_mut(place) {
            value.known = false;
            if value.bytes.capacity() > MOST_KEPT {
                *value = Value::default();
            }
        }
    }

    pub(crate) fn empty(&mut self, place: usize) {
        if let Some(value) = self.values.get_mut(place) {
            value.bytes.clear();
            value.ends.clear();
            value.next = 0;
        }
    }

    /// Adds a value to a list. `false` if the list is at its limit.
    pub(crate) fn add(&mut self, place: usize, bytes: &[u8]) -> bool {
        let Some(value) = self.values.get_mut(place) else { return false };
        if value.ends.len() >= MOST_VALUES || value.bytes.len() + bytes.len() > MOST_LIST_BYTES {
            return false;
        }
        value.bytes.extend_from_slice(bytes);
        value.ends.push(value.bytes.len() as u32);
        value.known = true;
        true
    }

    /// Marks a list as known, even if it is empty.
    pub(crate) fn list_is_known(&mut self, place: usize) {
        if let Some(value) = self.values.get_mut(place) {
            value.known = true;
        }
    }

    /// Rewinds a list and returns the number of its values; 0 if the list is unknown.
    pub(crate) fn begin(&mut self, list: usize) -> u64 {
        let Some(value) = self.values.get_mut(list).filter(|value| value.known) else { return 0 };
        value.next = 0;
        value.ends.len() as u64
    }

    /// Copies a list's next value to `place`.
    fn take_element(&mut self, list: usize, place: usize) {
        let mut value = std::mem::take(&mut self.values[place]);
        let of = &mut self.values[list];
        // A step of the repeat may have captured the list again.
        let end = |at: usize| of.ends.get(at).map(|end| *end as usize);
        let start = of.next.checked_sub(1).map_or(Some(0), end);
        let element = start.zip(end(of.next)).and_then(|(start, end)| of.bytes.get(start..end));
        value.bytes.clear();
        value.bytes.extend_from_slice(element.unwrap_or_default());
        value.known = element.is_some();
        of.next += 1;
        self.values[place] = value;
    }

    pub(crate) fn keep(&mut self, place: usize, bytes: &[u8]) {
        if let Some(value) = self.values.get_mut(place) {
            value.bytes.clear();
            value.bytes.extend_from_slice(bytes);
            // The name may have stood for a list before.
            value.ends.clear();
            value.known = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_list_has_a_maximum_length_and_releases_its_memory() {
        let mut data = LaneData { values: vec![Value::default(); 2].into(), ..LaneData::default() };
        let added = (0..=MOST_VALUES).filter(|n| data.add(0, n.to_string().as_bytes())).count();
        assert_eq!(added, MOST_VALUES);
        assert!(data.values[0].bytes.len() <= MOST_LIST_BYTES);
        data.begin(0);
        for expected in ["0", "1", "2"] {
            data.take_element(0, 1);
            assert_eq!(data.values[1].bytes, expected.as_bytes());
        }
        // A step of the repeat captures the name again: first a list with fewer values, then a single value.
        data.empty(0);
        data.add(0, b"alone");
        data.values[0].next = 3;
        data.take_element(0, 1);
        assert!(!data.has_value(1));
        data.keep(0, b"one value");
        assert_eq!(data.begin(0), 0);
        data.forget(0);
        assert_eq!((data.begin(0), data.values[0].bytes.capacity()), (0, 0));
        assert!(!data.add(0, &vec![0; MOST_LIST_BYTES + 1]) && data.add(0, &vec![0; MOST_LIST_BYTES]));
    }
}
