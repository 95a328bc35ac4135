//! Copies of small files: comparing a body with a copy is faster than generating the content again.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::content::fill;
use crate::set::{File, FileSet};

/// Larger files have no copy: their content is generated in less time than it is received in pieces.
const MOST_EACH: u64 = 64 << 10;
/// Files from this number on have no copy. The places for the copies take 1.5 MiB.
const MOST_FILES: u64 = 64 << 10;
/// The limit on the total size of a set's copies.
const MOST_BYTES: usize = 32 << 20;

/// The contents of a set's first files. A content is copied at its first use, if there is room.
#[derive(Debug)]
pub struct Copies {
    /// The copies by file number. A copy is empty if there was no room.
    contents: Box<[OnceLock<Box<[u8]>>]>,
    bytes: AtomicUsize,
}

impl Copies {
    pub fn of(set: &FileSet) -> Self {
        let places = 0..set.count().min(MOST_FILES);
        Self { contents: places.map(|_| OnceLock::new()).collect(), bytes: AtomicUsize::new(0) }
    }

    /// Makes the copy of file `number`, unless the file has a copy, is too large, or there is no room.
    #[inline]
    pub fn keep(&self, number: u64, file: &File<'_>) {
        if file.size() <= MOST_EACH
            && let Some(content) = usize::try_from(number).ok().and_then(|number| self.contents.get(number))
        {
            content.get_or_init(|| self.copy_of(file));
        }
    }

    /// The copy of file `number`; `None` if the file has to be generated again.
    #[inline]
    pub fn get(&self, number: u64) -> Option<&[u8]> {
        let content = self.contents.get(usize::try_from(number).ok()?)?.get()?;
        (!content.is_empty()).then_some(content)
    }

    #[cold]
    fn copy_of(&self, file: &File<'_>) -> Box<[u8]> {
        let size = usize::try_from(file.size()).unwrap_or(usize::MAX);
        // Relaxed: no other memory depends on the sum.
        if self.bytes.fetch_add(size, Ordering::Relaxed).saturating_add(size) > MOST_BYTES {
            self.bytes.fetch_sub(size, Ordering::Relaxed);
            return Box::default();
        }
        let mut content = vec![0; size];
        fill(file.key(), 0, &mut content);
        content.into_boxed_slice()
    }
}
