//! Seeding a live directory: adds and deletes people, pipelined.
//!
//! [`seed`] adds people and [`remove`] deletes them, over a few connections with a window of outstanding
//! requests each, so that neither network latency nor the commit of each write to disk delays the next request.
//! Both may be repeated at any time: people who already exist count as added, and missing people as deleted.
//!
//! About ten times a second the number of people **done without a gap** is reported, even if it has not
//! changed: a caller that stops can resume at this number. After a kill, [`count`] finds the number.
//!
//! # Limitations
//!
//! Binds are anonymous, simple, or SASL PLAIN and EXTERNAL. Referrals are not followed.

mod config;
mod connection;
mod error;
pub mod groups;
mod inbox;
mod person;
mod pipeline;
mod session;

use std::ops::{ControlFlow, Range};
use std::time::Instant;

use people::Population;
use people::contents::{Contents, Count};

pub use config::{Config, Secret};
pub use error::SeedingError;

use person::Work;
use session::Session;

/// The result of [`seed`] or [`remove`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// The number of people done without a gap, from the first on.
    pub done: u64,
    /// The number of people that this call has added or deleted. The others were added or deleted before.
    pub changed: u64,
}

/// Called with the number of people done so far; `Break` stops the work, without an error.
pub type Progress<'p> = &'p mut dyn FnMut(u64) -> ControlFlow<()>;

/// Adds the missing entries above the people, and then the people of `range`.
pub fn seed(
    config: &Config,
    people: &Population,
    range: Range<u64>,
    progress: Progress<'_>,
) -> Result<Report, SeedingError> {
    config.check(people)?;
    let mut sessions = open(config, &range)?;
    if let Some(session) = sessions.first_mut() {
        session.create_containers(people)?;
    }
    pipeline::run(config, Work::add(people), range, sessions, progress)
}

/// The number of people, at most `size`, that exist without a gap from the first person on, however the
/// seeding ended.
///
/// Bisection finds a person after whom all people are missing. Some of the [`pipeline::REACH`] people before
/// that person may be missing, so each of them is searched for.
pub fn count(config: &Config, people: &Population, size: u64) -> Result<u64, SeedingError> {
    config.check(people)?;
    let mut session = Session::open(config)?;
    let work = Work::find(people);
    let (mut low, mut high) = (0, size);
    while low < high {
        let middle = low + (high - low) / 2;
        if session.exists(&work.dn(middle))? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let unsure = low.saturating_sub(pipeline::REACH)..low;
    let sessions = open(config, &unsure)?;
    let report = pipeline::run(config, work, unsure.clone(), sessions, &mut |_| ControlFlow::Continue(()))?;
    Ok(if report.changed == low - unsure.start { low } else { unsure.start })
}

/// Reads all people below the people's base.
pub fn contents(
    config: &Config,
    people: &Population,
    progress: Progress<'_>,
) -> Result<Contents, SeedingError> {
    config.check(people)?;
    let mut count = Count::of(people.spec().profile);
    let mut reported = Instant::now();
    Session::open(config)?.people_below(people.spec(), &mut |attributes| {
        count.take(attributes);
        if reported.elapsed() >= pipeline::REPORT {
            reported = Instant::now();
            if progress(count.contents.people).is_break() {
                return Err(SeedingError::Interrupted);
            }
        }
        Ok(())
    })?;
    Ok(count.contents)
}

/// Deletes the people of `range`.
pub fn remove(
    config: &Config,
    people: &Population,
    range: Range<u64>,
    progress: Progress<'_>,
) -> Result<Report, SeedingError> {
    config.check(people)?;
    let sessions = open(config, &range)?;
    pipeline::run(config, Work::delete(people), range, sessions, progress)
}

/// The first existing person of `range`; the search stops at that person.
pub fn first(
    config: &Config,
    people: &Population,
    range: Range<u64>,
    progress: Progress<'_>,
) -> Result<Option<u64>, SeedingError> {
    config.check(people)?;
    let sessions = open(config, &range)?;
    pipeline::first(config, Work::find(people), range, sessions, progress)
}

/// Opens and binds as many connections as the range needs.
fn open(config: &Config, range: &Range<u64>) -> Result<Vec<Session>, SeedingError> {
    let people = range.end.saturating_sub(range.start);
    let useful = people.div_ceil(config.window as u64).max(1);
    let count = useful.min(config.connections as u64);
    (0..count).map(|_| Session::open(config)).collect()
}
