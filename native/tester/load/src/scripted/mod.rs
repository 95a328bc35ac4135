//! Programs of scenario files, for all protocols.
//!
//! `convert` makes a program of a scenario: operations and their deck, the steps of `[start]`, and the
//! opening and closing of connections. The protocol compiles the steps to requests ([`Lower`]). `fill`
//! provides rows and values.

mod capture;
mod convert;
mod hide;
mod sent;

pub(crate) use capture::{Capture, captures};
pub(crate) use hide::hide;
pub(crate) use sent::{about, rest, texts_of};

pub(crate) use convert::{Lower, Place, connection, convert, one_of, think};

use std::sync::Arc;

use crate::choose::deal::Sharer;
use crate::fill::{LaneData, NoRow, Plan, Preparation, RowDealers, Text};
use crate::protocol::Encoded;
use crate::record::report::Report;

/// A scenario of an engine, shared by all threads.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) plan: Arc<Plan>,
    pub(crate) sharer: Sharer,
}

/// A scenario as one thread runs it.
pub(crate) struct Running {
    pub(crate) plan: Arc<Plan>,
    pub(crate) dealers: RowDealers,
}

impl Running {
    pub(crate) fn new(script: &Script, thread: usize) -> Self {
        let dealers = RowDealers::new(&script.plan, script.sharer, thread);
        Self { plan: script.plan.clone(), dealers }
    }

    /// A report of a request: its text, the rest of its values, the user, the rows, and the captures.
    pub(crate) fn report<F>(
        &self,
        memory: &Memory,
        operation: Option<usize>,
        captures: &[Capture<F>],
        texts: [&Text; 2],
        rng: &mut fastrand::Rng,
    ) -> Report {
        let text = |text| String::from_utf8_lossy(&self.plan.written(text, &memory.data, rng)).into_owned();
        let [request, rest] = texts.map(text);
        let (user, iteration) = memory.data.user_and_iteration();
        let captures =
            captures.iter().filter_map(|capture| self.plan.captured_into(capture.place, &memory.data));
        let (captured, rows) = (captures.collect(), self.plan.rows_of(operation, &memory.data));
        Report { request, rest, user, iteration, rows, captured, ..Report::default() }
    }

    /// Draws rows and values for the following steps; `taken` is the person that the lane is to
    /// add. Nothing is sent.
    #[inline]
    pub(crate) fn prepare(
        &mut self,
        preparation: &Preparation,
        memory: &mut Memory,
        taken: Option<u64>,
        rng: &mut fastrand::Rng,
    ) -> Encoded {
        memory.script = preparation.script;
        memory.give_up(&mut self.dealers);
        match self.dealers.draw(&self.plan, &preparation.draws, &mut memory.data, taken, rng) {
            Ok(()) => Encoded::Skip,
            Err(NoRow::Exhausted) => Encoded::Exhausted,
            Err(NoRow::Held) => Encoded::Held,
        }
    }
}

/// A lane's state of its scenario.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) data: LaneData,
    /// The index of the scenario in the engine.
    pub(crate) script: usize,
    /// Whether a request without an answer is in flight that must not be retried: a change, or a bind.
    pub(crate) changing: bool,
    /// The number of values of each capture of the current answer.
    value_counts: Vec<u64>,
    /// Whether a list exceeded its limit.
    pub(crate) too_many: bool,
    /// The state of a paged search.
    pub(crate) pages: Pages,
    /// The wrong part of the last wrong entry.
    pub(crate) differs: Option<Differs>,
}

/// A part of an entry; numbers are indexes of expected values or of columns of people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Differs {
    Value(usize),
    Column(usize),
    Name,
    Person,
}

impl Memory {
    /// Gives up a request that was never answered. The target may still perform or may have refused the
    /// request, so no other lane gets its rows.
    #[inline]
    pub(crate) fn give_up(&mut self, dealers: &mut RowDealers) {
        if std::mem::take(&mut self.changing) {
            dealers.lose(&mut self.data);
        }
    }

    /// Releases the exclusive rows of a lane that has ended, except rows that may still change.
    pub(crate) fn leave(&mut self, scripts: &mut [Running]) {
        if let Some(script) = scripts.get_mut(self.script) {
            self.give_up(&mut script.dealers);
            script.dealers.give_back(&mut self.data);
        }
    }
}

/// The state of a paged search.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    /// The filled-in fields one after the other, and the end of each. All pages have the same fields.
    pub(crate) filled: Vec<u8>,
    pub(crate) ends: Vec<usize>,
    /// The cookie of the last page.
    pub(crate) cookie: Vec<u8>,
    /// Entries of earlier pages.
    pub(crate) before: u64,
    pub(crate) count: u64,
    /// Empty pages in a row.
    pub(crate) empty: u64,
}
