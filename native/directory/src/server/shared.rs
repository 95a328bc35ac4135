//! What the threads of a server share.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crossbeam_utils::sync::ShardedLock;

use crate::clock::Clock;
use crate::settings::Settings;
use crate::stats::{Published, Stats};
use crate::store::Store;

/// The store, the settings, and the counts.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: ShardedLock<Store>,
    pub(crate) settings: Settings,
    pub(super) clock: Clock,
    pub(super) stopping: AtomicBool,
    pub(super) published: Box<[Published]>,
    open: AtomicUsize,
}

impl Shared {
    pub(super) fn new(store: Store, settings: Settings, clock: Clock, threads: usize) -> Self {
        Self {
            store: ShardedLock::new(store),
            settings,
            clock,
            stopping: AtomicBool::new(false),
            published: (0..threads).map(|_| Published::default()).collect(),
            open: AtomicUsize::new(0),
        }
    }

    /// Counts a new connection, unless there are as many as there may be.
    pub(super) fn enter(&self) -> bool {
        let within = self.open.fetch_add(1, Relaxed) < self.settings.max_connections;
        if !within {
            self.open.fetch_sub(1, Relaxed);
        }
        within
    }

    /// Counts connections that have ended.
    pub(super) fn left(&self, count: &mut usize) {
        if *count > 0 {
            self.open.fetch_sub(*count, Relaxed);
            *count = 0;
        }
    }

    pub(super) fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        self.published.iter().for_each(|published| stats.add(published));
        let counts = self.store.read().unwrap_or_else(PoisonError::into_inner).counts();
        stats.entries = counts.entries;
        stats.answer_bytes = counts.body_bytes;
        stats
    }
}
