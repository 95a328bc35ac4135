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

pub(crate) struct Turn<'t> {
    pub(crate) settings: &'t Settings,
    pub(crate) access: Access<'t>,
    /// Answers to the messages of this turn.
    pub(crate) out: Vec<u8>,
    pub(crate) counters: Counters,
    pub(crate) scratch: Scratch,
    pub(crate) slow_binds: &'t Arc<SlowBinds>,
    pub(crate) now: Now,
    /// The part of the turn for long work.
    pub(crate) slice: TimeSlice,
}

/// Reused buffers.
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

    /// Whether this turn's time slice for long work is used up. The first call begins the slice.
    pub(crate) fn is_over(&mut self) -> bool {
        self.slice.begin();
        self.slice.is_over()
    }
}

/// The store's lock. It is taken at the first use, kept for the following messages, and released before
/// anything that takes time.
pub(crate) struct Access<'t> {
    lock: &'t ShardedLock<Store>,
    reading: Option<ShardedLockReadGuard<'t, Store>>,
    writing: Option<ShardedLockWriteGuard<'t, Store>>,
    /// Whether this turn could have written to the store.
    pub(crate) wrote: bool,
}

impl<'t> Access<'t> {
    pub(crate) const fn new(lock: &'t ShardedLock<Store>) -> Self {
        Self { lock, reading: None, writing: None, wrote: false }
    }

    #[inline]
    pub(crate) fn read(&mut self) -> &Store {
        match &self.writing {
            Some(store) => store,
            // A panic during a write is a bug. Serving the store as that write left it is better than ending
            // the connections of all other clients.
            None => {
                self.reading.get_or_insert_with(|| self.lock.read().unwrap_or_else(PoisonError::into_inner))
            }
        }
    }

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
