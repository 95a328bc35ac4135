//! A cache of resolved names: consecutive filters usually have the same names.

use super::node::{Span, Target};
use crate::schema::{AttributeId, Schema, base};
use crate::store::Operational;

/// A cache with more names than this is cleared before the next filter. Each lookup searches the names of the
/// cache one by one. Filters of programs have two or three names.
const MANY: usize = 32;

#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// The stamp of the schema of the resolved names.
    stamp: u64,
    descriptions: Vec<(Span, AttributeId, Target)>,
    classes: Vec<(Span, u16)>,
    /// The position where the search for the next description begins: after the description that was found
    /// last, because filters usually repeat the order of the previous filter.
    next: usize,
    names: Vec<Span>,
    bytes: Vec<u8>,
}

impl Known {
    /// The bytes of heap memory that the cache holds.
    pub(super) fn bytes(&self) -> usize {
        let (descriptions, classes) =
            (size_of_val(self.descriptions.as_slice()), size_of_val(self.classes.as_slice()));
        descriptions + classes + size_of_val(self.names.as_slice()) + self.bytes.len()
    }

    /// Frees unused capacity.
    pub(super) fn shrink(&mut self) {
        self.descriptions.shrink_to_fit();
        self.classes.shrink_to_fit();
        self.names.shrink_to_fit();
        self.bytes.shrink_to_fit();
    }

    /// Clears the cache if the schema has changed.
    #[inline]
    pub(super) fn start(&mut self, schema: &Schema) {
        self.next = 0;
        if self.stamp != schema.stamp || self.descriptions.len() > MANY || self.classes.len() > MANY {
            *self = Self { stamp: schema.stamp, ..Self::default() };
        }
    }

    /// The type of a description, and the names of the stored attributes with values of the type.
    #[inline]
    pub(super) fn target(&mut self, schema: &Schema, description: &[u8]) -> Option<(AttributeId, Target)> {
        let is_it = |&(span, ..): &(Span, AttributeId, Target)| span.of(&self.bytes) == description;
        let at = match self.descriptions.get(self.next) {
            Some(next) if is_it(next) => self.next,
            _ => match self.descriptions.iter().take(MANY).position(is_it) {
                Some(at) => at,
                None => return self.resolve(schema, description),
            },
        };
        self.next = at + 1;
        self.descriptions.get(at).map(|&(_, id, target)| (id, target))
    }

    #[inline]
    pub(super) fn class(&mut self, schema: &Schema, name: &[u8]) -> Option<u16> {
        if let Some((_, class)) =
            self.classes.iter().take(MANY).find(|(span, _)| span.of(&self.bytes) == name)
        {
            return Some(*class);
        }
        let class = schema.class_number(name)?;
        self.classes.push((Span::push(name, &mut self.bytes), class));
        Some(class)
    }

    #[inline]
    pub(super) fn text(&self, span: Span) -> &[u8] {
        span.of(&self.bytes)
    }

    /// The names of a target's subtypes.
    #[inline]
    pub(super) fn subtypes(&self, target: &Target) -> impl Iterator<Item = &[u8]> {
        target.subtypes.of(&self.names).iter().map(|name| self.text(*name))
    }

    fn resolve(&mut self, schema: &Schema, description: &[u8]) -> Option<(AttributeId, Target)> {
        let id = schema.resolve(description)?;
        let name = Span::push(schema.canonical_name(id).as_bytes(), &mut self.bytes);
        let start = self.names.len();
        for &subtype in schema.subtypes(id).iter().filter(|subtype| **subtype != id) {
            self.names.push(Span::push(schema.canonical_name(subtype).as_bytes(), &mut self.bytes));
        }
        let asked = Span::push(description, &mut self.bytes);
        let has_options = base(description).len() < description.len();
        let target = Target {
            attribute: Some(id),
            computed: Operational::of(schema, id),
            name,
            subtypes: Span::since(start, &self.names),
            options: if has_options { asked } else { Span::default() },
            dn_attributes: false,
        };
        self.descriptions.push((asked, id, target));
        Some((id, target))
    }
}
