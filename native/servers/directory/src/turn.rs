//! The context of one turn of a thread's loop: the locked store, the buffers, the time.

use std::sync::{Arc, PoisonError};

use crossbeam_utils::sync::{ShardedLock, ShardedLockReadGuard, ShardedLockWriteGuard};
use net::TimeSlice;

use crate::clock::Now;
use crate::entry::Projection;
use crate::filter::CompiledFilter;
use crate::settings::Settings;
use crate::slow_binds::SlowBinds;
use crate::stats::Counters;
use crate::store::{self, EntryId, Prefetch, Store, UnixSeconds};

/// See the module.
pub(crate) struct Turn<'t> {
    pub(crate) settings: &'t Settings,
    pub(crate) access: Access<'t>,
    /// The answers to the messages being handled.
    pub(crate) out: &'t mut Vec<u8>,
    pub(crate) counters: &'t mut Counters,
    pub(crate) scratch: &'t mut Scratch,
    pub(crate) slow_binds: &'t Arc<SlowBinds>,
    pub(crate) now: Now,
    /// The part of the turn for work that takes time.
    pub(crate) slice: TimeSlice,
}

/// Buffers used over and over.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) store: store::Scratch,
    pub(crate) filter: CompiledFilter,
    pub(crate) projection: Projection,
    pub(crate) matches: Vec<EntryId>,
    pub(crate) body: Vec<u8>,
    pub(crate) name: Vec<u8>,
    pub(crate) request: Vec<u8>,
    pub(crate) prefetch: Prefetch,
}

impl Scratch {
    /// Frees memory that few requests need.
    pub(crate) fn trim(&mut self) {
        self.store.trim();
        store::trim(&mut self.matches);
        for buffer in [&mut self.body, &mut self.name, &mut self.request] {
            store::trim(buffer);
        }
        if self.filter.bytes() > store::KEPT {
            self.filter = CompiledFilter::default();
        }
        if self.projection.bytes() > store::KEPT {
            self.projection = Projection::default();
        }
    }
}

impl Turn<'_> {
    /// The time in the store's units.
    pub(crate) fn seconds(&self) -> UnixSeconds {
        self.now.seconds()
    }

    /// Whether this turn's time for scanning is used up. Asking starts it.
    pub(crate) fn is_over(&mut self) -> bool {
        self.slice.begin();
        self.slice.is_over()
    }

    /// Removes up to `budget` entries whose time to live has ended; returns how many.
    pub(crate) fn expire(&mut self, budget: usize) -> usize {
        let now = self.seconds();
        if self.access.read().counts().dynamic == 0 {
            return 0;
        }
        self.access.write().expire(now, budget)
    }

    /// Does up to `budget` entries' worth of postponed work on the indexes; true if more is left.
    pub(crate) fn maintain(&mut self, budget: usize) -> bool {
        if !self.access.read().wants_maintenance() {
            return false;
        }
        let store = self.access.write();
        store.maintain(budget);
        store.wants_maintenance()
    }
}

/// The store's lock: taken at the first need, kept for the messages that follow, and released before
/// anything that takes time.
pub(crate) struct Access<'t> {
    lock: &'t ShardedLock<Store>,
    reading: Option<ShardedLockReadGuard<'t, Store>>,
    writing: Option<ShardedLockWriteGuard<'t, Store>>,
    /// Whether anything may have been written since the turn began.
    pub(crate) wrote: bool,
}

impl<'t> Access<'t> {
    pub(crate) const fn new(lock: &'t ShardedLock<Store>) -> Self {
        Self { lock, reading: None, writing: None, wrote: false }
    }

    /// The store, for reading.
    #[inline]
    pub(crate) fn read(&mut self) -> &Store {
        match &self.writing {
            Some(store) => store,
            // A thread that panicked while it wrote is a bug; going on with the store as it left it is
            // better than ending every other client's connection.
            None => {
                self.reading.get_or_insert_with(|| self.lock.read().unwrap_or_else(PoisonError::into_inner))
            }
        }
    }

    /// The store, for writing.
    #[inline]
    pub(crate) fn write(&mut self) -> &mut Store {
        self.reading = None;
        self.wrote = true;
        self.writing.get_or_insert_with(|| self.lock.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Releases the lock.
    #[inline]
    pub(crate) fn release(&mut self) {
        self.reading = None;
        self.writing = None;
    }
}
