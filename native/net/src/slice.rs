//! How long one turn of a thread's loop may take.

use std::time::{Duration, Instant};

/// What takes long gets this much of a turn together: what other clients send waits no longer.
pub(crate) const LENGTH: Duration = Duration::from_millis(1);

/// The part of a turn in which work that takes long is done: when it began, once it has.
///
/// It begins with the first piece of such work. Where nothing takes long, nothing reads the clock.
#[derive(Debug, Default)]
pub struct TimeSlice(Option<Instant>);

impl TimeSlice {
    /// Begins it, if it has not yet begun.
    pub fn begin(&mut self) {
        self.0.get_or_insert_with(Instant::now);
    }

    /// Begins it with work that has been done and has taken about so long, if it has not yet begun.
    pub fn begin_before(&mut self, spent: Duration) {
        self.0.get_or_insert_with(|| Instant::now().checked_sub(spent).unwrap_or_else(Instant::now));
    }

    /// How much of it has been used: nothing if it has not begun.
    #[inline]
    pub fn spent(&self) -> Duration {
        self.0.map_or(Duration::ZERO, |begun| begun.elapsed())
    }

    /// Whether it has begun and is used up.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.spent() >= LENGTH
    }
}
