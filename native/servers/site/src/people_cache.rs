//! Reads people for pages: from the database, or from an optional cache.

use crate::stats::Counters;
use crate::upd::{Cache, Person, Reader};

/// A thread's reader, and its cache if it has one.
#[derive(Debug)]
pub(crate) struct PeopleCache<'c> {
    reader: Reader<'c>,
    cache: Option<Cache>,
}

impl<'c> PeopleCache<'c> {
    pub(crate) const fn new(reader: Reader<'c>, cache: Option<Cache>) -> Self {
        Self { reader, cache }
    }

    /// Passes a person to `show`; `None` if the database has no person with that number.
    #[inline]
    pub(crate) fn show<T>(
        &mut self,
        id: u64,
        counters: &mut Counters,
        show: impl FnOnce(&Person<'_>) -> T,
    ) -> rusqlite::Result<Option<T>> {
        let Some(cache) = &mut self.cache else {
            counters.upd_reads += 1;
            return self.reader.read(id, show);
        };
        if let Some(person) = cache.find(id) {
            return Ok(Some(show(&person)));
        }
        let version = cache.version(id);
        counters.upd_reads += 1;
        self.reader.read(id, |person| {
            cache.keep(version, person);
            show(person)
        })
    }

    /// Ends the snapshot, at the end of a turn.
    pub(crate) fn release(&mut self) {
        // If ending the snapshot fails, the next read ends it or reports the error.
        let _ = self.reader.release();
    }
}
