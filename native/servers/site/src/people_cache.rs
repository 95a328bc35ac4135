//! Reads people for pages: from the database, or from an optional cache (`row_cache`), which shows how much a
//! site gains that does not read its database for every page.

use crate::stats::Counters;
use crate::upd::{Commits, Person, Reader, TEXTS};

/// A thread's reader, and its cache if it has one.
#[derive(Debug)]
pub(crate) struct PeopleCache<'c> {
    reader: Reader<'c>,
    commits: Commits,
    /// People whose numbers have the same remainder share a place, which holds the person that was read last. There
    /// are no places without a cache. Changes by other programs are not noticed.
    places: Vec<Option<CachedPerson>>,
}

#[derive(Debug)]
struct CachedPerson {
    id: u64,
    version: u64,
    texts: [Box<str>; TEXTS],
    numbers: [i64; 3],
}

impl<'c> PeopleCache<'c> {
    pub(crate) fn new(reader: Reader<'c>, commits: Commits, size: usize) -> Self {
        Self { reader, commits, places: std::iter::repeat_with(|| None).take(size).collect() }
    }

    /// Passes a person to `show`; `None` if the database has no person with that number.
    #[inline]
    pub(crate) fn show<T>(
        &mut self,
        id: u64,
        counters: &mut Counters,
        show: impl FnOnce(&Person<'_>) -> T,
    ) -> rusqlite::Result<Option<T>> {
        // The version is read before the row, so that an old row is never cached under a new version.
        let version = self.commits.version(id);
        let place = (id % self.places.len().max(1) as u64) as usize;
        let mut place = self.places.get_mut(place);
        if let Some(Some(cached)) = &place
            && (cached.id, cached.version) == (id, version)
        {
            let texts = cached.texts.each_ref().map(|text| &**text);
            return Ok(Some(show(&Person::new(id, texts, cached.numbers))));
        }
        counters.upd_reads += 1;
        self.reader.read(id, |person| {
            if let Some(place) = &mut place {
                let (texts, numbers) = (person.texts().map(Box::from), person.numbers());
                **place = Some(CachedPerson { id, version, texts, numbers });
            }
            show(person)
        })
    }

    /// Ends the snapshot, at the end of a turn.
    pub(crate) fn release(&mut self) {
        // If ending the snapshot fails, the next read ends it or reports the error.
        let _ = self.reader.release();
    }
}
