//! The cost of evaluating a filter on one entry, and the prepared values.

use super::budget::Budget;
use super::prepared::PreparedLists;

#[derive(Debug, Default)]
pub(crate) struct Effort {
    pub(crate) budget: Budget,
    pub(crate) lists: PreparedLists,
    /// A value during a conversion.
    pub(crate) buffer: Vec<u8>,
}

impl Effort {
    /// Begins with the next entry, with a budget of this many bytes.
    #[inline]
    pub(crate) fn begin(&mut self, bytes: usize) {
        self.budget = Budget::new(bytes);
        self.lists.clear();
    }
}
