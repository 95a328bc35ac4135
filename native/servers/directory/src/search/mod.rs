//! Searches that can be suspended and resumed.
//!
//! A cursor holds the source of candidates and the number of the next one to look at. Every source yields in
//! ascending order of numbers. So a position is one number, no entry is found twice, and entries may be added
//! and removed between two steps. An entry that exists throughout the search is found.

mod advance;
mod plan;
mod source;

pub(crate) use source::Source;

use wire::ldap::Scope;

use crate::store::EntryId;

/// The position of a search. Holds no references; see [`crate::store::Store::search`].
#[derive(Debug, Clone)]
pub struct Cursor {
    reach: Reach,
    source: Source,
    next: u32,
}

impl Cursor {
    /// The heap memory that its candidates take.
    pub(crate) fn bytes(&self) -> usize {
        self.source.bytes()
    }

    /// Goes back to a match that it has yielded, so that it comes next.
    pub(crate) const fn back_to(&mut self, id: EntryId) {
        self.next = id.0;
    }
}

impl Default for Cursor {
    /// A search that finds nothing.
    fn default() -> Self {
        let reach = Reach { base: None, added: (0, 0), scope: Scope::Base };
        Self { reach, source: Source::Nothing, next: 0 }
    }
}

/// Which part of the tree is searched.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// `None` is the root above all suffixes.
    base: Option<u32>,
    /// When the base was added, to notice that another entry has taken its place.
    added: (u32, u32),
    scope: Scope,
}

/// How much one call of [`crate::store::Store::advance`] may do.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Entries to look at.
    pub candidates: usize,
    /// Matches to yield.
    pub matches: usize,
    /// Whether one entry may take long.
    pub long: bool,
}

/// Whether a search goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The budget is spent: call again.
    More,
    /// The next entry takes long: call again when one may.
    Long,
    /// Every match has been yielded.
    Done,
    /// The filter has too many terms for an entry's values ([`Bounds::filter_work`]).
    ///
    /// [`Bounds::filter_work`]: crate::store::Bounds::filter_work
    TooCostly,
}
