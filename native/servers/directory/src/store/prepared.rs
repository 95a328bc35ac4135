//! Long lists of values, prepared once for all terms of a filter, so that the cost grows with the sum of the
//! numbers of values and terms, not with their product.

use hashbrown::HashMap;
use wire::ldap::attributes::Values;

use super::budget::Budget;
use super::work;
use crate::matching::compare;
use crate::schema::{Matching, Schema};

/// How often the values of a list are compared without preparation before they are prepared. Most searches
/// assert a value in its stored spelling, and preparing a value takes thirty times as long as comparing it.
const RAW_SCANS: u8 = 8;

/// The lists of one entry. The key is the position of the list in the body, the matching rule, and the form.
#[derive(Debug, Default)]
pub(crate) struct PreparedLists(HashMap<(usize, Matching, Form), PreparedList>);

/// The form of values that a test compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    Normal,
    /// The form in which substrings are searched.
    Pieces,
}

#[derive(Debug, Default)]
pub(crate) struct PreparedList {
    raw_scans: u8,
    forms: Option<Forms>,
}

/// Prepared values. Values that violate the syntax are omitted.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    bytes: Vec<u8>,
    /// The start and end of each form in `bytes`; normal forms are sorted by their rule.
    spans: Vec<(usize, usize)>,
}

impl PreparedLists {
    /// Removes the lists of the previous entry.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The prepared list of these values.
    pub(crate) fn of(&mut self, values: Values<'_>, (matching, form): (Matching, Form)) -> &mut PreparedList {
        self.0.entry((values.0.as_ptr().addr(), matching, form)).or_default()
    }
}

impl PreparedList {
    /// Whether values should be compared without preparation first.
    pub(crate) fn is_scanned_raw(&mut self, values: Values<'_>, budget: &mut Budget) -> bool {
        if self.forms.is_some() || self.raw_scans == RAW_SCANS {
            return false;
        }
        self.raw_scans += 1;
        budget.spend(values.0.len() / 8)
    }

    /// The forms of the values, unless the budget is too small to prepare them.
    pub(crate) fn prepare(
        &mut self,
        schema: &Schema,
        values: Values<'_>,
        (matching, form): (Matching, Form),
        budget: &mut Budget,
    ) -> Option<&Forms> {
        if self.forms.is_none() {
            // Estimating the cost of the values takes time as well.
            if !budget.spend(values.0.len() / 4) {
                return None;
            }
            let mut decoded = Vec::new();
            let weigh = |value| Budget::UNIT * work::of_value(matching, value, &mut decoded);
            if !budget.spend(values.iter().flatten().map(weigh).sum()) {
                return None;
            }
            self.forms = Some(Forms::new(schema, values, matching, form));
        }
        self.forms.as_ref()
    }
}

impl Forms {
    fn new(schema: &Schema, values: Values<'_>, matching: Matching, form: Form) -> Self {
        let Self { mut bytes, mut spans } = Self::default();
        for value in values.iter().flatten() {
            let start = bytes.len();
            let is_valid = match form {
                Form::Normal => matching.normalise(schema, value, &mut bytes),
                Form::Pieces => matching.prepare_for_pieces(schema, value, &mut bytes),
            };
            if is_valid {
                spans.push((start, bytes.len()));
            }
        }
        if form == Form::Normal {
            spans.sort_unstable_by(|a, b| compare(matching, &bytes[a.0..a.1], &bytes[b.0..b.1]));
        }
        Self { bytes, spans }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.spans.iter().map(|span| self.of(span))
    }

    /// Whether a value has this normal form.
    pub(crate) fn holds(&self, matching: Matching, normal: &[u8]) -> bool {
        self.spans.binary_search_by(|span| compare(matching, self.of(span), normal)).is_ok()
    }

    fn of(&self, &(start, end): &(usize, usize)) -> &[u8] {
        self.bytes.get(start..end).unwrap_or_default()
    }
}

/// The cost of evaluating a filter on one entry, and the prepared values.
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
