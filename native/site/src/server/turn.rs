//! What a thread has at hand while it serves: one of these between two polls.

use std::sync::mpsc::Sender;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::shared::Shared;
use crate::page::http_date;
use crate::people_at_hand::PeopleAtHand;
use crate::stats::Counters;
use crate::upd::{Job, Write};

/// Which connection waits for a write. Slots are used again, serials are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) worker: usize,
    pub(super) slot: usize,
    pub(super) serial: u64,
}

pub(super) struct Turn<'t, 'c> {
    pub(super) shared: &'t Shared,
    pub(super) people: &'t mut PeopleAtHand<'c>,
    pub(super) jobs: &'t Sender<Job<Ticket>>,
    pub(super) counters: &'t mut Counters,
    /// Answers not yet handed to the kernel.
    pub(super) out: &'t mut Vec<u8>,
    pub(super) now: Now<'t>,
}

impl Turn<'_, '_> {
    /// Hands a write to the writer; says whether there is one.
    pub(super) fn write(&self, ticket: Ticket, write: Write) -> bool {
        self.jobs.send(Job { ticket, write }).is_ok()
    }
}

/// The time of a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now<'t> {
    /// Milliseconds since the thread began.
    pub(super) ms: u64,
    pub(super) unix_s: u64,
    /// As a Date header has it.
    pub(super) date: &'t str,
}

/// Makes the time of each turn; a second's date is written once.
#[derive(Debug)]
pub(super) struct Clock {
    start: Instant,
    unix_s: u64,
    date: String,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), unix_s: 0, date: http_date(0) }
    }

    pub(super) fn now(&mut self) -> Now<'_> {
        let unix_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if unix_s != self.unix_s {
            self.unix_s = unix_s;
            self.date = http_date(unix_s);
        }
        Now { ms: self.start.elapsed().as_millis() as u64, unix_s, date: &self.date }
    }
}
