//! The number of commits, which readers compare with the number of their snapshot.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// People whose numbers have the same remainder share a version. If one of them changes, readers with a cache
/// read all of them again, at the cost of one read per person.
const STRIPES: usize = 4_096;

/// Counts commits. A reader takes a new snapshot if the count differs from the count of its snapshot, so that
/// a page requested after an update's answer shows the update.
#[derive(Debug, Clone)]
pub(crate) struct Commits(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    commits: AtomicU64,
    versions: Box<[AtomicU64]>,
}

impl Default for Commits {
    fn default() -> Self {
        let versions = (0..STRIPES).map(|_| AtomicU64::new(0)).collect();
        Self(Arc::new(Counts { commits: AtomicU64::new(0), versions }))
    }
}

impl Commits {
    /// Called after a commit that changed these people, and before any of their clients is answered.
    ///
    /// Commits are counted before versions, so a reader that sees a new version takes a new snapshot, too,
    /// and does not cache an old row under it. Release here and Acquire in the reader would be enough for
    /// this order. SeqCst has the same instructions on x86-64 for a commit and a page, and makes this
    /// argument unnecessary.
    pub(super) fn note(&self, changed: impl Iterator<Item = u64>) {
        self.0.commits.fetch_add(1, Ordering::SeqCst);
        for id in changed {
            if let Some(version) = self.0.versions.get(stripe(id)) {
                version.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.0.commits.load(Ordering::SeqCst)
    }

    /// A number that changes whenever this person changes.
    pub(crate) fn version(&self, id: u64) -> u64 {
        self.0.versions.get(stripe(id)).map_or(0, |version| version.load(Ordering::SeqCst))
    }
}

const fn stripe(id: u64) -> usize {
    (id % STRIPES as u64) as usize
}
