//! The progress of an index that is built on demand.

/// Entries are indexed in the order of their numbers, so one number is enough.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// No search has missed it yet.
    #[default]
    Absent,
    /// Entries below this number are indexed.
    Building(u32),
    Built,
}

impl Progress {
    /// Whether the entry of this number is indexed, so that the index has to follow its changes.
    #[inline]
    pub(crate) const fn holds(self, id: u32) -> bool {
        match self {
            Self::Absent => false,
            Self::Building(next) => id < next,
            Self::Built => true,
        }
    }

    /// The entry to continue with; `None` once the index is built.
    pub(crate) const fn next(self) -> Option<u32> {
        match self {
            Self::Absent => Some(0),
            Self::Building(next) => Some(next),
            Self::Built => None,
        }
    }
}
