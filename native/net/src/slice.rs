//! How long one turn of a thread's loop may take.

use std::time::{Duration, Instant};

/// What takes long gets this much of a turn together: what other clients send waits no longer.
const LENGTH: Duration = Duration::from_millis(1);

/// The part of a turn in which work that takes long is done: when it ends, once it has begun.
///
/// It begins with the first piece of such work. Where nothing takes long, nothing reads the clock.
#[derive(Debug, Default)]
pub struct TimeSlice(Option<Instant>);

impl TimeSlice {
    /// Begins it, if it has not yet begun.
    pub fn begin(&mut self) {
        self.0.get_or_insert_with(|| Instant::now() + LENGTH);
    }

    /// Whether it has begun and is used up.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}
