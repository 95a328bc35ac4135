//! Searches that can be suspended and resumed.
//!
//! A cursor holds the source of candidates and the number of the next candidate. Every source yields
//! candidates in ascending order of their numbers. So a position is one number, no entry is found twice, and
//! entries may be added and removed between two steps. An entry that exists throughout the search is found.

mod advance;
mod plan;
mod source;

pub(crate) use source::Source;

use wire::ldap::Scope;

use crate::store::EntryId;

/// The position of a search. It holds no references; see [`crate::store::Store::search`].
#[derive(Debug, Clone)]
pub struct Cursor {
    reach: Reach,
    source: Source,
    next: u32,
}

impl Cursor {
    /// The bytes of heap memory that the candidates take.
    pub(crate) fn bytes(&self) -> usize {
        self.source.bytes()
    }

    /// Goes back to a match, so that it is the next match again.
    pub(crate) const fn back_to(&mut self, id: EntryId) {
        self.next = id.0;
    }
}

impl Default for Cursor {
    /// A search without results.
    fn default() -> Self {
        let reach = Reach { base: None, added: (0, 0), scope: Scope::Base };
        Self { reach, source: Source::Nothing, next: 0 }
    }
}

/// The part of the tree that is searched.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// `None` for the root above all suffixes.
    base: Option<u32>,
    /// When the base was added, to notice that another entry has replaced it.
    added: (u32, u32),
    scope: Scope,
}

/// The work that one call of [`crate::store::Store::advance`] may do.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// The most entries to evaluate.
    pub candidates: usize,
    /// The most matches.
    pub matches: usize,
    /// Whether the call may evaluate an entry that takes long.
    pub long: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The budget is exhausted: the caller has to call again.
    More,
    /// The next entry takes long: the caller has to call again in a turn for long requests.
    Long,
    /// All matches have been found.
    Done,
    /// The filter has too many terms for an entry's values ([`Limits::filter_work`]).
    ///
    /// [`Limits::filter_work`]: crate::limits::Limits::filter_work
    TooCostly,
}
