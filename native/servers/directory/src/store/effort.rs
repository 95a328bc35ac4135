//! What evaluating a filter on one entry may cost, and what it has prepared.

use super::budget::Budget;
use super::prepared::PreparedLists;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Effort {
    pub(crate) budget: Budget,
    pub(crate) lists: PreparedLists,
    /// A value on its way to another form.
    pub(crate) buffer: Vec<u8>,
}

impl Effort {
    /// Begins with the next entry.
    #[inline]
    pub(crate) fn begin(&mut self, bytes: usize) {
        self.budget = Budget::new(bytes);
        self.lists.clear();
    }
}
