//! The people that templates have fields of.

use std::sync::Arc;

use people::visitor::{Visitor, Visitors};

use super::field::{Field, FieldValues};
use super::template::Template;

/// A person of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Person {
    /// What the site calls them.
    pub(super) id: u64,
    /// The number that their properties are derived from.
    pub(super) number: u64,
}

impl Person {
    pub(super) const fn known(number: u64) -> Self {
        Self { id: number, number }
    }
}

/// The properties of a person that some templates use.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Needs {
    visitor: bool,
    moved_to: bool,
}

impl Needs {
    pub(super) fn of<'t>(templates: impl Iterator<Item = &'t Template>) -> Self {
        templates.flat_map(Template::fields).fold(Self::default(), |needs, field| Self {
            visitor: needs.visitor | field.needs_visitor(),
            moved_to: needs.moved_to | field.needs_move(),
        })
    }

    /// What one field needs.
    pub(super) const fn of_field(field: Field) -> Self {
        Self { visitor: field.needs_visitor(), moved_to: field.needs_move() }
    }

    /// Whether visitors are needed for any of them.
    pub(super) const fn visitors(self) -> bool {
        self.visitor || self.moved_to
    }
}

/// One thread's view of the people: keeps the last visitor it derived.
pub(super) struct PeopleView {
    visitors: Option<Arc<Visitors>>,
    size: u64,
    last: CachedVisitor,
    moved: CachedVisitor,
}

#[derive(Default)]
struct CachedVisitor {
    number: Option<u64>,
    visitor: Visitor,
}

impl CachedVisitor {
    #[inline]
    fn look(&mut self, visitors: &Visitors, number: u64) {
        if self.number != Some(number) {
            visitors.fill(number, &mut self.visitor);
            self.number = Some(number);
        }
    }
}

impl PeopleView {
    pub(super) fn new(visitors: Option<Arc<Visitors>>, size: u64) -> Self {
        Self { visitors, size, last: CachedVisitor::default(), moved: CachedVisitor::default() }
    }

    /// Looks up what `needs` names of `person`.
    #[inline]
    pub(super) fn values<'a>(
        &'a mut self,
        needs: Needs,
        person: Person,
        draw: u64,
        captured: &'a [u8],
    ) -> FieldValues<'a> {
        if let Some(visitors) = &self.visitors {
            if needs.visitor {
                self.last.look(visitors, person.number);
            }
            if needs.moved_to {
                self.moved.look(visitors, (draw >> 8) % self.size);
            }
        }
        FieldValues {
            id: person.id,
            visitor: &self.last.visitor,
            captured,
            draw,
            moved_to: &self.moved.visitor,
        }
    }
}
