//! What answers are made from and counted in, on one thread.

use std::sync::mpsc::Sender;

use http::http_date;
use net::{ConnectionId, OUT_BYTES};

use super::shared::Shared;
use crate::people_cache::PeopleCache;
use crate::stats::Counters;
use crate::upd::{Job, Write};

/// See the module.
pub(super) struct Turn<'t> {
    pub(super) shared: &'t Shared,
    pub(super) people: PeopleCache<'t>,
    pub(super) counters: Counters,
    /// Answers not yet handed to the kernel.
    pub(super) out: Vec<u8>,
    pub(super) now: Now,
    writes: Sender<Job<ConnectionId>>,
}

/// The time of a turn.
#[derive(Debug)]
pub(super) struct Now {
    pub(super) unix_s: u64,
    /// As a Date header has it, written once a second.
    pub(super) date: String,
}

impl<'t> Turn<'t> {
    pub(super) fn new(
        shared: &'t Shared,
        people: PeopleCache<'t>,
        writes: Sender<Job<ConnectionId>>,
    ) -> Self {
        Self {
            shared,
            people,
            counters: Counters::default(),
            out: Vec::with_capacity(OUT_BYTES),
            now: Now { unix_s: 0, date: http_date(0) },
            writes,
        }
    }

    /// Hands a write to the writer; says whether that still runs.
    pub(super) fn write(&self, id: ConnectionId, write: Write) -> bool {
        self.writes.send(Job { ticket: id, write }).is_ok()
    }
}
