//! How far an index that was not wanted from the start has been made.

/// See the module. Entries go in by number, so that one number says which are in.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Nobody has asked for it.
    #[default]
    Unmade,
    /// Entries below this number are in.
    Making(u32),
    /// All are in.
    Made,
}

impl Progress {
    /// Whether the entry of this number is in, and has to be kept up with.
    #[inline]
    pub(crate) const fn holds(self, id: u32) -> bool {
        match self {
            Self::Unmade => false,
            Self::Making(next) => id < next,
            Self::Made => true,
        }
    }

    /// Where making it goes on; `None` when it is made.
    pub(crate) const fn next(self) -> Option<u32> {
        match self {
            Self::Unmade => Some(0),
            Self::Making(next) => Some(next),
            Self::Made => None,
        }
    }
}
