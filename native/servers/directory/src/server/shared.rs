//! The shared state of a directory's threads.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};

use crossbeam_utils::sync::ShardedLock;
use net::Traffic;

use crate::clock::Clock;
use crate::settings::Settings;
use crate::slow_binds::SlowBinds;
use crate::stats::{Counters, Published, Stats};
use crate::store::Store;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: ShardedLock<Store>,
    pub(crate) settings: Settings,
    pub(super) slow_binds: Arc<SlowBinds>,
    pub(super) clock: Clock,
    /// Whether the server is stopping. A stopping server ignores further messages.
    pub(super) stopping: AtomicBool,
    pub(super) published: Box<[Published]>,
}

impl Shared {
    pub(super) fn new(
        store: Store,
        settings: Settings,
        slow_binds: Arc<SlowBinds>,
        clock: Clock,
        threads: usize,
    ) -> Self {
        let published = (0..threads).map(|_| Published::default()).collect();
        let stopping = AtomicBool::new(false);
        Self { store: ShardedLock::new(store), settings, slow_binds, clock, stopping, published }
    }

    pub(super) fn stats(&self, traffic: Traffic) -> Stats {
        let counts = self.store.read().unwrap_or_else(PoisonError::into_inner).counts();
        let served = Counters::sum(&self.published);
        Stats { traffic, served, entries: counts.entries, answer_bytes: counts.body_bytes }
    }
}
