//! Programs of scenario files, whatever their protocol.
//!
//! `convert` makes a program of a scenario: operations and their deck, what is done once, and when connections are
//! opened and closed. What a step asks is the protocol's, which turns it into a request of its own ([`Lower`]).
//! Rows and values are `fill`'s.

mod convert;
mod hide;
mod sent;

pub(crate) use hide::hide;
pub(crate) use sent::{about, rest};

pub(crate) use convert::{Lower, Place, check, connection, convert, one_of, think};

use std::sync::Arc;

use scenario::Take;

use crate::choose::deal::Sharer;
use crate::fill::{Drawers, Kept, Lack, Plan, Preparation};
use crate::protocol::Encoded;
use crate::record::told::Told;

/// One scenario of an engine, as all its threads have it.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) plan: Arc<Plan>,
    pub(crate) sharer: Sharer,
}

/// The same, as one thread runs it.
pub(crate) struct Running {
    pub(crate) plan: Arc<Plan>,
    pub(crate) drawers: Drawers,
}

impl Running {
    pub(crate) fn new(script: &Script, thread: usize) -> Self {
        let drawers = Drawers::new(&script.plan, script.sharer, thread);
        Self { plan: script.plan.clone(), drawers }
    }

    /// Tells whose request of an operation it was, what it was about, and what was captured of its answer.
    pub(crate) fn tell(
        &self,
        memory: &Memory,
        operation: Option<usize>,
        captures: impl Iterator<Item = usize>,
        told: &mut Told,
    ) {
        (told.user, told.iteration) = memory.kept.whose();
        told.rows = self.plan.rows_of(operation, &memory.kept);
        told.captured = captures.filter_map(|place| self.plan.captured_into(place, &memory.kept)).collect();
    }

    /// Chooses what the steps that follow are about; the lane has `taken` a person to add. Nothing is sent for that,
    /// whatever there is to choose from.
    #[inline]
    pub(crate) fn prepare(
        &mut self,
        preparation: &Preparation,
        memory: &mut Memory,
        taken: Option<u64>,
        rng: &mut fastrand::Rng,
    ) -> Encoded {
        memory.script = preparation.script;
        memory.give_up(&mut self.drawers);
        match self.drawers.draw(&self.plan, &preparation.draws, &mut memory.kept, taken, rng) {
            Ok(()) => Encoded::Skip,
            Err(Lack::UsedUp) => Encoded::UsedUp,
            Err(Lack::Held) => Encoded::Held,
        }
    }
}

/// What a lane remembers for its scenario.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) kept: Kept,
    /// Which of the engine's scenarios it is of.
    pub(crate) script: usize,
    /// Whether something is asked for and not answered that must not be asked again: a change, or a bind.
    pub(crate) changing: bool,
    /// Captures of the answer at hand that were found.
    pub(crate) found: u64,
    /// How many values each capture has met that takes any of them.
    pub(crate) met: Vec<u64>,
    /// Whether a list had more values than it may have.
    pub(crate) too_many: bool,
    /// The search that is read in pages.
    pub(crate) pages: Pages,
    /// What of the last wrong entry was not as expected.
    pub(crate) differs: Option<Differs>,
}

/// A part of an entry: the number of an expected value, or of a column of people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Differs {
    Value(usize),
    Column(usize),
    Name,
    Person,
}

impl Memory {
    /// Takes what the file says for what was not found in an answer.
    pub(crate) fn keep_default(&mut self, place: usize, take: Take, texts: &[Vec<u8>]) {
        if take == Take::All {
            self.kept.list_is_known(place);
            self.too_many |= !texts.iter().all(|text| self.kept.add(place, text));
        } else {
            self.kept.keep(place, texts.first().map_or(&b""[..], Vec::as_slice));
        }
    }

    /// What was asked for and never answered may yet take place, or have been refused: no other lane gets the rows.
    #[inline]
    pub(crate) fn give_up(&mut self, drawers: &mut Drawers) {
        if std::mem::take(&mut self.changing) {
            drawers.lose(&mut self.kept);
        }
    }

    /// Lets others have the rows that the lane had alone, but for those that may yet change: it has ended.
    pub(crate) fn leave(&mut self, scripts: &mut [Running]) {
        if let Some(script) = scripts.get_mut(self.script) {
            self.give_up(&mut script.drawers);
            script.drawers.give_back(&mut self.kept);
        }
    }
}

/// How far a search is that is read in pages.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    /// What its fields were filled with, one after the other, and where each ends; every page asks the same.
    pub(crate) filled: Vec<u8>,
    pub(crate) ends: Vec<usize>,
    /// What the last page says of the next.
    pub(crate) cookie: Vec<u8>,
    /// Entries of the pages before.
    pub(crate) before: u64,
    pub(crate) count: u64,
    /// Pages in a row without any entry.
    pub(crate) empty: u64,
}
