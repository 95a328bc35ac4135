//! What the threads of a server share.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};

use crossbeam_utils::sync::ShardedLock;
use net::Gate;

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
    pub(super) gate: Arc<Gate>,
}

impl Shared {
    pub(super) fn new(store: Store, settings: Settings, clock: Clock, threads: usize) -> Self {
        let limits = &settings.limits;
        Self {
            gate: Gate::new(limits.connections, limits.connections_per_address),
            store: ShardedLock::new(store),
            settings,
            clock,
            stopping: AtomicBool::new(false),
            published: (0..threads).map(|_| Published::default()).collect(),
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
