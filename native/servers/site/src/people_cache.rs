//! Where pages get their people from: the database on every page, unless a cache was asked for.

use crate::stats::Counters;
use crate::upd::{Cache, Person, Reader};

/// One thread's reader, and its cache if it has one.
#[derive(Debug)]
pub(crate) struct PeopleCache<'c> {
    reader: Reader<'c>,
    cache: Option<Cache>,
}

impl<'c> PeopleCache<'c> {
    pub(crate) const fn new(reader: Reader<'c>, cache: Option<Cache>) -> Self {
        Self { reader, cache }
    }

    /// Shows a person; `None` if the database has no person with that number.
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

    /// Ends what reading has begun; called when a turn is over.
    pub(crate) fn release(&mut self) {
        // A snapshot that cannot be ended is ended by the next reading, or its error says so.
        let _ = self.reader.release();
    }
}
