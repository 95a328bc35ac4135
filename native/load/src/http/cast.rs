//! The people templates speak of.

use std::sync::Arc;

use people::visitor::{Visitor, Visitors};

use super::field::Facts;
use super::template::Template;

/// Somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Person {
    /// What the site calls them.
    pub(super) id: u64,
    /// Whose properties they have.
    pub(super) number: u64,
}

impl Person {
    pub(super) const fn known(number: u64) -> Self {
        Self { id: number, number }
    }
}

/// What some templates need to know of a person.
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

    /// Whether any of it takes visitors.
    pub(super) const fn visitors(self) -> bool {
        self.visitor || self.moved_to
    }
}

/// One thread's view of the people: those it looked at last are kept.
pub(super) struct Cast {
    visitors: Option<Arc<Visitors>>,
    size: u64,
    last: Seen,
    moved: Seen,
}

#[derive(Default)]
struct Seen {
    number: Option<u64>,
    visitor: Visitor,
}

impl Seen {
    #[inline]
    fn look(&mut self, visitors: &Visitors, number: u64) {
        if self.number != Some(number) {
            visitors.fill(number, &mut self.visitor);
            self.number = Some(number);
        }
    }
}

impl Cast {
    pub(super) fn new(visitors: Option<Arc<Visitors>>, size: u64) -> Self {
        Self { visitors, size, last: Seen::default(), moved: Seen::default() }
    }

    /// Looks up what `needs` names of `person`.
    #[inline]
    pub(super) fn facts<'a>(
        &'a mut self,
        needs: Needs,
        person: Person,
        draw: u64,
        captured: &'a [u8],
    ) -> Facts<'a> {
        if let Some(visitors) = &self.visitors {
            if needs.visitor {
                self.last.look(visitors, person.number);
            }
            if needs.moved_to {
                self.moved.look(visitors, (draw >> 8) % self.size);
            }
        }
        Facts { id: person.id, visitor: &self.last.visitor, captured, draw, moved_to: &self.moved.visitor }
    }
}
