//! Long lists of values, prepared once for all terms of a filter: its cost is that of the values and of the
//! terms, not their product.

use hashbrown::HashMap;
use wire::ldap::attributes::Values;

use super::budget::Budget;
use super::work;
use crate::matching::compare;
use crate::schema::{Matching, Schema};

/// How often the values of a list are compared as they are before they are prepared: most searches assert a
/// value in the spelling in which it is stored, and to prepare it takes thirty times as long as to compare it.
const RAW_SCANS: u8 = 8;

/// The lists of one entry, by where they lie in its body and how they are compared.
#[derive(Debug, Default)]
pub(crate) struct PreparedLists(HashMap<(usize, Matching, Form), PreparedList>);

/// Which form of values a test compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    Normal,
    /// The one that substrings are looked for in.
    Pieces,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct PreparedList {
    raw_scans: u8,
    forms: Option<Forms>,
}

/// Prepared values. Those that break the syntax have no form.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    bytes: Vec<u8>,
    /// Where each begins and ends in `bytes`; normal forms are in the order of their rule.
    spans: Vec<(usize, usize)>,
}

impl PreparedLists {
    /// Forgets those of the last entry.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// What is known of these values.
    pub(crate) fn of(&mut self, values: Values<'_>, (matching, form): (Matching, Form)) -> &mut PreparedList {
        self.0.entry((values.0.as_ptr().addr(), matching, form)).or_default()
    }
}

impl PreparedList {
    /// Whether values should be compared as they are, first.
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
            // To weigh them is work as well.
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

    /// The forms, in their order.
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
