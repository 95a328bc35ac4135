//! Evaluates a compiled filter on an entry.

use wire::dn::Dn;
use wire::ldap::Attributes;
use wire::ldap::attributes::Values;

use super::CompiledFilter;
use super::node::{Item, Node, Span, Target, Test};
use crate::matching::{compare, number, pieces_match};
use crate::schema::{Matching, Schema};
use crate::store::{Budget, Effort, Form, Operational, Slot, Store, UnixSeconds, has_options, work};

/// The values of a longer list are prepared once and reused for all terms.
const SHORT_BYTES: usize = 1 << 10;

/// The three values of RFC 4511 section 4.5.1.7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    True,
    False,
    Undefined,
}

impl From<bool> for Truth {
    fn from(is: bool) -> Self {
        if is { Self::True } else { Self::False }
    }
}

/// The entry that a filter is evaluated on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'s> {
    pub(crate) schema: &'s Schema,
    pub(crate) dn: &'s [u8],
    pub(crate) attributes: Attributes<'s>,
    /// The source of computed attributes; if absent, `attributes` has all attributes.
    pub(crate) computed: Option<Computed<'s>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Computed<'s> {
    pub(crate) store: &'s Store,
    pub(crate) id: u32,
    pub(crate) slot: &'s Slot,
    pub(crate) now: UnixSeconds,
}

impl CompiledFilter {
    /// Whether the filter is true of an entry. A filter that was never compiled is Undefined.
    #[inline]
    pub(crate) fn matches(&self, subject: &Subject<'_>, effort: &mut Effort) -> bool {
        self.node(0, subject, effort).0 == Truth::True
    }

    /// The value of the node at `at`, and the index of the next node. Depth is bounded by
    /// [`wire::ldap::MAX_FILTER_DEPTH`].
    fn node(&self, at: usize, subject: &Subject<'_>, effort: &mut Effort) -> (Truth, usize) {
        match self.nodes.get(at) {
            Some(Node::And { end }) => (self.combine(at, *end, Truth::False, subject, effort), *end as usize),
            Some(Node::Or { end }) => (self.combine(at, *end, Truth::True, subject, effort), *end as usize),
            Some(Node::Not { end }) => {
                let truth = match self.node(at + 1, subject, effort).0 {
                    Truth::True => Truth::False,
                    Truth::False => Truth::True,
                    Truth::Undefined => Truth::Undefined,
                };
                (truth, *end as usize)
            }
            Some(Node::Item(item)) => (self.item_is_true(item, subject, effort).into(), at + 1),
            Some(Node::Undefined) | None => (Truth::Undefined, at + 1),
        }
    }

    /// Combines the operands of an And or Or. The value is `decisive` if an operand has this value; otherwise
    /// Undefined if an operand is Undefined; otherwise the opposite of `decisive`, which is also the value
    /// without operands (RFC 4526).
    fn combine(
        &self,
        at: usize,
        end: u32,
        decisive: Truth,
        subject: &Subject<'_>,
        effort: &mut Effort,
    ) -> Truth {
        let mut result = if decisive == Truth::True { Truth::False } else { Truth::True };
        let mut next = at + 1;
        while next < end as usize {
            if effort.budget.is_spent() {
                return Truth::Undefined;
            }
            let (truth, after) = self.node(next, subject, effort);
            if truth == decisive {
                return decisive;
            }
            if truth == Truth::Undefined {
                result = Truth::Undefined;
            }
            next = after;
        }
        result
    }

    #[inline]
    fn item_is_true(&self, item: &Item, subject: &Subject<'_>, effort: &mut Effort) -> bool {
        for attribute in subject.attributes.iter().flatten() {
            effort.budget.charge(Budget::EACH);
            if self.is_target(&item.target, &item.test, attribute.name, subject.schema)
                && self.any_value(&item.test, attribute.values, subject.schema, effort)
            {
                return true;
            }
        }
        if item.target.computed.is_some() && self.computed_is_true(item, subject, effort) {
            return true;
        }
        item.target.dn_attributes && self.name_is_true(item, subject, effort)
    }

    /// Compares bytes before any normalisation: entries found by an index nearly always contain exactly the
    /// asserted bytes.
    #[inline]
    fn any_value(&self, test: &Test, values: Values<'_>, schema: &Schema, effort: &mut Effort) -> bool {
        if values.0.len() > SHORT_BYTES
            && let Some(form) = form(test)
        {
            return self.any_of_many(test, form, values, schema, effort);
        }
        if let Test::Equal { raw, .. } | Test::Class { raw, .. } = test {
            // A comparison of bytes is cheap, so it costs a sixteenth of the bytes.
            effort.budget.charge(values.0.len() / 16);
            let raw = raw.of(&self.bytes);
            if values.iter().flatten().any(|value| value == raw) {
                return true;
            }
        }
        values.iter().flatten().any(|value| self.test(test, value, schema, effort))
    }

    /// [`Self::any_value`] for a long list: searches the values that an earlier term has prepared.
    fn any_of_many(
        &self,
        test: &Test,
        form: (Matching, Form),
        values: Values<'_>,
        schema: &Schema,
        effort: &mut Effort,
    ) -> bool {
        let Effort { budget, lists, .. } = effort;
        let list = lists.of(values, form);
        if let Test::Equal { raw, .. } = test
            && list.is_scanned_raw(values, budget)
        {
            let raw = raw.of(&self.bytes);
            if values.iter().flatten().any(|value| value == raw) {
                return true;
            }
        }
        let Some(forms) = list.prepare(schema, values, form, budget) else { return false };
        match *test {
            Test::Equal { matching, normal, .. } => forms.holds(matching, normal.of(&self.bytes)),
            // The forms are sorted, so if the comparison accepts any form, it accepts the first or
            // the last form.
            Test::Ordered { matching, normal, accepts } => {
                let mut ends = forms.iter().next().into_iter().chain(forms.iter().next_back());
                ends.any(|form| accepts(compare(matching, form, normal.of(&self.bytes))))
            }
            Test::Pieces { pieces, .. } => forms.iter().any(|value| self.has_pieces(value, pieces, budget)),
            Test::Present | Test::Class { .. } | Test::Bits { .. } => false,
        }
    }

    /// Whether a prepared value has these pieces; false if the budget is exhausted.
    fn has_pieces(&self, value: &[u8], pieces: Span, budget: &mut Budget) -> bool {
        let mut looked_for = 0;
        let pieces = pieces.of(&self.pieces).iter().inspect(|_| looked_for += 1);
        let has = pieces_match(value, pieces.map(|piece| (piece.kind, piece.text.of(&self.bytes))));
        budget.spend(value.len() / 2 + Budget::EACH * looked_for) && has
    }

    #[inline]
    fn is_target(&self, target: &Target, test: &Test, name: &[u8], schema: &Schema) -> bool {
        if target.attribute.is_none() {
            return fits(schema, test, name);
        }
        let known = self.known.text(target.name);
        // Most types have no subtypes, and most descriptions have no options.
        if name.len() <= known.len() && target.subtypes.is_empty() {
            return name == known && target.options.is_empty();
        }
        let is = |known: &[u8]| match name.strip_prefix(known) {
            Some([]) => target.options.is_empty(),
            Some([b';', ..]) => has_options(name, self.known.text(target.options)),
            _ => false,
        };
        is(known) || self.known.subtypes(target).any(is)
    }

    fn computed_is_true(&self, item: &Item, subject: &Subject<'_>, effort: &mut Effort) -> bool {
        let (Some(what), Some(computed)) = (item.target.computed, subject.computed) else {
            return false;
        };
        let Computed { store, id, slot, now } = computed;
        if let (Operational::MemberInChain, Test::Equal { raw, .. }) = (what, item.test) {
            return store.groups_of(raw.of(&self.bytes), true, now, effort).contains(&id);
        }
        let values = store.computed_values(id, slot, what, now, effort);
        values.iter().any(|value| self.test(&item.test, value, subject.schema, effort))
    }

    /// Whether the item is true of the entry's name (RFC 4511 section 4.5.1.7.7, dnAttributes).
    fn name_is_true(&self, item: &Item, subject: &Subject<'_>, effort: &mut Effort) -> bool {
        let Ok(dn) = Dn::parse(subject.dn) else {
            return false;
        };
        effort.budget.charge(subject.dn.len());
        let mut decoded = Vec::new();
        dn.rdns().flat_map(|rdn| rdn.pairs()).any(|pair| {
            let Some(id) = subject.schema.resolve(pair.attribute) else {
                return false;
            };
            let name = subject.schema.canonical_name(id).as_bytes();
            self.is_target(&item.target, &item.test, name, subject.schema)
                && self.test(&item.test, pair.value.decode(&mut decoded), subject.schema, effort)
        })
    }

    #[inline]
    fn test(&self, test: &Test, value: &[u8], schema: &Schema, effort: &mut Effort) -> bool {
        let Effort { budget, buffer, .. } = effort;
        budget.charge(Budget::EACH + value.len());
        if let Test::Equal { matching, raw, normal } = *test {
            if value == raw.of(&self.bytes) {
                return true;
            }
            if matching.differs_at_once(value, normal.of(&self.bytes)) {
                return false;
            }
        }
        if let Some((matching, _)) = form(test) {
            budget.charge(Budget::UNIT * work::of_value(matching, value, buffer));
        }
        buffer.clear();
        match *test {
            Test::Present => true,
            Test::Bits { mask, all } => number(value).is_some_and(|number| match number & mask {
                bits if all => bits == mask,
                bits => bits != 0,
            }),
            Test::Equal { matching, normal, .. } => {
                matching.normalise(schema, value, buffer) && buffer == normal.of(&self.bytes)
            }
            Test::Class { raw, class } => {
                let raw = raw.of(&self.bytes);
                value == raw || class_matches(schema, value, raw, class)
            }
            Test::Pieces { matching, pieces } => {
                matching.prepare_for_pieces(schema, value, buffer) && self.has_pieces(buffer, pieces, budget)
            }
            Test::Ordered { matching, normal, accepts } => {
                matching.normalise(schema, value, buffer)
                    && accepts(compare(matching, buffer, normal.of(&self.bytes)))
            }
        }
    }
}

/// The matching rule of a test and the form of its values; `None` if values are not prepared.
const fn form(test: &Test) -> Option<(Matching, Form)> {
    match *test {
        Test::Present | Test::Class { .. } | Test::Bits { .. } => None,
        Test::Pieces { matching, .. } => Some((matching, Form::Pieces)),
        Test::Equal { matching, .. } | Test::Ordered { matching, .. } => Some((matching, Form::Normal)),
    }
}

/// A subclass matches like its class (RFC 4512 section 2.4.2). An undefined class is compared by name.
fn class_matches(schema: &Schema, value: &[u8], asserted: &[u8], class: Option<u16>) -> bool {
    match class {
        Some(class) => schema.class_derives(value, class),
        None => value.eq_ignore_ascii_case(asserted.trim_ascii()),
    }
}

/// Whether a matching rule applies to an attribute of this name: the attribute has the same rule, or both
/// rules compare text, case-sensitively or not.
fn fits(schema: &Schema, test: &Test, name: &[u8]) -> bool {
    let Some((matching, _)) = form(test) else { return false };
    let rule = schema.resolve(name).and_then(|id| schema.attribute(id).equality);
    rule.is_some_and(|rule| rule.matching.is_text() && matching.is_text() || rule.matching == matching)
}
