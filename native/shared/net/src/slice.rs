//! The time that long work gets in one turn of a thread's loop.

use std::time::{Duration, Instant};

/// The time for all long work of a turn together. The limit bounds the wait of other clients.
pub(crate) const LENGTH: Duration = Duration::from_micros(250);

/// The part of a turn for long work.
///
/// The slice begins with the first piece of such work. Without such work, nothing reads the clock.
#[derive(Debug, Default)]
pub struct TimeSlice {
    begun: Option<Instant>,
    long: bool,
}

impl TimeSlice {
    /// A slice for requests that take long and cannot be split.
    pub(crate) const fn for_long() -> Self {
        Self { begun: None, long: true }
    }

    /// Whether a request may take longer than the slice. If not, the service returns
    /// [`Step::Later`](crate::Step::Later) for such a request.
    #[inline]
    pub const fn may_take_long(&self) -> bool {
        self.long
    }

    /// Begins the slice, unless it has begun.
    pub fn begin(&mut self) {
        self.begun.get_or_insert_with(Instant::now);
    }

    /// Begins the slice `spent` ago, for work that has been done already. Does nothing if the slice has
    /// begun.
    pub fn begin_before(&mut self, spent: Duration) {
        self.begun.get_or_insert_with(|| Instant::now().checked_sub(spent).unwrap_or_else(Instant::now));
    }

    /// Whether the slice has begun and is used up.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.begun.is_some_and(|begun| begun.elapsed() >= LENGTH)
    }
}
