//! How long one turn of a thread's loop may take.

use std::time::{Duration, Instant};

/// All work of a turn that takes time gets this much together, so that other clients wait no longer.
pub(crate) const LENGTH: Duration = Duration::from_micros(250);

/// The part of a turn in which work that takes time is done.
///
/// It begins with the first piece of such work. Where nothing takes time, nothing reads the clock.
#[derive(Debug, Default)]
pub struct TimeSlice {
    begun: Option<Instant>,
    long: bool,
}

impl TimeSlice {
    /// One for requests that take long and cannot be cut.
    pub(crate) const fn for_long() -> Self {
        Self { begun: None, long: true }
    }

    /// Whether a request may take longer than the slice. If not, the service returns
    /// [`Step::Later`](crate::Step::Later) for such a request.
    #[inline]
    pub const fn may_take_long(&self) -> bool {
        self.long
    }

    /// Begins it, if it has not yet begun.
    pub fn begin(&mut self) {
        self.begun.get_or_insert_with(Instant::now);
    }

    /// Begins it `spent` ago, for work that has been done already, if it has not yet begun.
    pub fn begin_before(&mut self, spent: Duration) {
        self.begun.get_or_insert_with(|| Instant::now().checked_sub(spent).unwrap_or_else(Instant::now));
    }

    /// Whether it has begun and is used up.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.begun.is_some_and(|begun| begun.elapsed() >= LENGTH)
    }
}
