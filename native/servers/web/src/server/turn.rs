//! What answers are made from and counted in, on one thread.

use std::sync::mpsc::SyncSender;

use http::http_date;
use net::OUT_BYTES;

use super::shared::Shared;
use crate::cgi::Job;
use crate::files::OpenFiles;
use crate::stats::Counters;

/// See the module.
pub(super) struct Turn<'t> {
    pub(super) shared: &'t Shared,
    pub(super) files: Option<OpenFiles>,
    /// Where requests for programs go, where there are some.
    pub(super) jobs: Option<SyncSender<Job>>,
    pub(super) counters: Counters,
    /// Answers not yet handed to the kernel.
    pub(super) out: Vec<u8>,
    /// For bodies whose length is known only when they are made.
    pub(super) scratch: Vec<u8>,
    pub(super) now: Now,
    /// The number of the next random text.
    pub(super) text: u64,
}

/// The time of a turn.
#[derive(Debug)]
pub(super) struct Now {
    /// Since the thread's start.
    pub(super) ms: u64,
    pub(super) unix_s: u64,
    /// As a Date header has it, written once a second.
    pub(super) date: String,
}

impl<'t> Turn<'t> {
    pub(super) fn new(shared: &'t Shared, jobs: Option<SyncSender<Job>>) -> Self {
        Self {
            shared,
            files: shared.root.as_ref().map(|root| OpenFiles::new(root.clone(), shared.limits.open_files)),
            jobs,
            counters: Counters::default(),
            out: Vec::with_capacity(OUT_BYTES),
            scratch: Vec::new(),
            now: Now { ms: 0, unix_s: 0, date: http_date(0) },
            text: 0,
        }
    }
}
