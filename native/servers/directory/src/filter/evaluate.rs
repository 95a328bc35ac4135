//! Evaluating a compiled filter on an entry.

use std::cmp::Ordering;

use wire::dn::Dn;
use wire::ldap::Attributes;
use wire::ldap::attributes::Values;

use super::CompiledFilter;
use super::node::{Item, Node, Target, Test};
use crate::matching::{compare, pieces_match};
use crate::schema::{Matching, Schema};
use crate::store::{Effort, Slot, Store, UnixSeconds, has_options};

/// The three values of RFC 4511 section 4.5.1.7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    True,
    False,
    Undefined,
}

impl From<bool> for Truth {
    fn from(is: bool) -> Self {
        if is { Self::True } else { Self::False }
    }
}

/// What a filter is evaluated on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'s> {
    pub(crate) schema: &'s Schema,
    pub(crate) dn: &'s [u8],
    pub(crate) attributes: Attributes<'s>,
    /// Where computed attributes come from; without it the list has all.
    pub(crate) computed: Option<Computed<'s>>,
}

/// See [`Subject::computed`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Computed<'s> {
    pub(crate) store: &'s Store,
    pub(crate) id: u32,
    pub(crate) slot: &'s Slot,
    pub(crate) now: UnixSeconds,
}

impl CompiledFilter {
    /// Whether the filter is true of an entry that no store holds, such as the root's.
    pub fn matches(&self, schema: &Schema, dn: &[u8], attributes: Attributes<'_>) -> bool {
        let subject = Subject { schema, dn, attributes, computed: None };
        self.evaluate(&subject, &mut Effort::default()) == Truth::True
    }

    /// Evaluates the filter on an entry. An empty filter, never compiled, is undefined.
    #[inline]
    pub(crate) fn evaluate(&self, subject: &Subject<'_>, effort: &mut Effort) -> Truth {
        self.node(0, subject, effort).0
    }

    /// The value of the node at `at`, and the index of the next one. Depth is bounded by
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

    /// `decisive` as soon as one of them has that value; Undefined if none has it and one is Undefined; else
    /// the other value, also of an empty list (RFC 4526).
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
            if effort.left == 0 {
                effort.cut = true;
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
            effort.charge(Effort::EACH);
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

    /// Looks for the very bytes that are asserted before anything is normalised: entries found by an index
    /// nearly always hold them.
    #[inline]
    fn any_value(&self, test: &Test, values: Values<'_>, schema: &Schema, effort: &mut Effort) -> bool {
        if values.0.len() > effort.longest {
            effort.cut = true;
            effort.left = 0;
            return false;
        }
        if let Test::Equal { raw, .. } | Test::Class { raw, .. } = test {
            // Comparing bytes takes little.
            effort.charge(values.0.len() / 16);
            let raw = raw.of(&self.bytes);
            if values.iter().flatten().any(|value| value == raw) {
                return true;
            }
        }
        values.iter().flatten().any(|value| self.test(test, value, schema, effort))
    }

    #[inline]
    fn is_target(&self, target: &Target, test: &Test, name: &[u8], schema: &Schema) -> bool {
        if target.attribute.is_none() {
            return fits(schema, test, name);
        }
        let known = self.known.text(target.name);
        // Most types have no subtypes, and most descriptions no options.
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
        let mut value = Vec::new();
        let Computed { store, id, slot, now } = computed;
        store.write_operational(id, slot, what, now, &mut value)
            && self.test(&item.test, &value, subject.schema, effort)
    }

    /// Whether the item is true of the entry's name (RFC 4511 section 4.5.1.7.7, dnAttributes).
    fn name_is_true(&self, item: &Item, subject: &Subject<'_>, effort: &mut Effort) -> bool {
        let Ok(dn) = Dn::parse(subject.dn) else {
            return false;
        };
        effort.charge(subject.dn.len());
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
        effort.charge(Effort::EACH + value.len());
        effort.buffer.clear();
        let is = self.holds(test, value, schema, effort);
        // A normal form may have eleven times the bytes (NFKC).
        effort.charge(effort.buffer.len());
        is
    }

    #[inline]
    fn holds(&self, test: &Test, value: &[u8], schema: &Schema, effort: &mut Effort) -> bool {
        match *test {
            Test::Present => true,
            Test::Equal { matching, raw, normal } => matching.matches(
                schema,
                value,
                raw.of(&self.bytes),
                normal.of(&self.bytes),
                &mut effort.buffer,
            ),
            Test::Class { raw, class } => {
                let raw = raw.of(&self.bytes);
                value == raw || class_matches(schema, value, raw, class)
            }
            Test::Pieces { matching, pieces } => {
                let pieces = pieces.of(&self.pieces).iter();
                effort.charge(Effort::EACH * pieces.len());
                let buffer = &mut effort.buffer;
                buffer.clear();
                matching.prepare_for_pieces(schema, value, buffer)
                    && pieces_match(buffer, pieces.map(|piece| (piece.kind, piece.text.of(&self.bytes))))
            }
            Test::AtLeast { matching, normal } => {
                order(matching, schema, value, normal.of(&self.bytes), &mut effort.buffer)
                    .is_some_and(Ordering::is_ge)
            }
            Test::AtMost { matching, normal } => {
                order(matching, schema, value, normal.of(&self.bytes), &mut effort.buffer)
                    .is_some_and(Ordering::is_le)
            }
            Test::Before { matching, normal } => {
                order(matching, schema, value, normal.of(&self.bytes), &mut effort.buffer)
                    .is_some_and(Ordering::is_lt)
            }
        }
    }
}

/// A subclass is as good as the class (RFC 4512 section 2.4.2); an undefined class is compared by name.
fn class_matches(schema: &Schema, value: &[u8], asserted: &[u8], class: Option<u16>) -> bool {
    match class {
        Some(class) => schema.class_derives(value, class),
        None => value.eq_ignore_ascii_case(asserted.trim_ascii()),
    }
}

fn order(
    matching: Matching,
    schema: &Schema,
    value: &[u8],
    normal: &[u8],
    buffer: &mut Vec<u8>,
) -> Option<Ordering> {
    buffer.clear();
    matching.normalise(schema, value, buffer).then(|| compare(matching, buffer, normal))
}

/// Whether a rule applies to an attribute of this name: one that is compared in the same way, where text with
/// and text without case count as the same.
fn fits(schema: &Schema, test: &Test, name: &[u8]) -> bool {
    let (Test::Equal { matching, .. }
    | Test::AtLeast { matching, .. }
    | Test::AtMost { matching, .. }
    | Test::Before { matching, .. }
    | Test::Pieces { matching, .. }) = test
    else {
        return false;
    };
    let rule = schema.resolve(name).and_then(|id| schema.attribute(id).equality);
    rule.is_some_and(|rule| rule.matching.is_text() && matching.is_text() || rule.matching == *matching)
}
