//! An optional cache of rows (`row_cache`). It shows how much a site gains that does not read its database
//! for every page.

use super::commits::Commits;
use super::person::{Person, TEXTS};

/// People whose numbers have the same remainder share a place, which holds one of them: the person that was
/// read last.
#[derive(Debug)]
pub(crate) struct Cache {
    places: Vec<Option<Kept>>,
    commits: Commits,
}

#[derive(Debug)]
struct Kept {
    id: u64,
    version: u64,
    texts: [Box<str>; TEXTS],
    numbers: [i64; 3],
}

impl Cache {
    /// `None` for size 0. Changes by other programs are not noticed.
    pub(crate) fn new(size: usize, commits: Commits) -> Option<Self> {
        (size > 0).then(|| Self { places: std::iter::repeat_with(|| None).take(size).collect(), commits })
    }

    /// The person's version. Must be read before the row, and passed to [`Cache::keep`] with the row.
    pub(crate) fn version(&self, id: u64) -> u64 {
        self.commits.version(id)
    }

    /// The person, if cached and unchanged.
    pub(crate) fn find(&self, id: u64) -> Option<Person<'_>> {
        let kept = self.places.get(self.place(id)).and_then(Option::as_ref)?;
        let fresh = kept.id == id && kept.version == self.version(id);
        fresh.then(|| Person::new(id, kept.texts.each_ref().map(|text| &**text), kept.numbers))
    }

    /// Caches a person that was read after `version`.
    pub(crate) fn keep(&mut self, version: u64, person: &Person<'_>) {
        let place = self.place(person.id);
        if let Some(place) = self.places.get_mut(place) {
            let texts = person.texts().map(Box::from);
            *place = Some(Kept { id: person.id, version, texts, numbers: person.numbers() });
        }
    }

    fn place(&self, id: u64) -> usize {
        (id % self.places.len().max(1) as u64) as usize
    }
}
