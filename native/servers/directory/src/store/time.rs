//! The time of the store: whole seconds, which the caller passes.

/// Seconds since 1970-01-01T00:00:00Z. The store has no clock, so operations that need the time have it as an
/// argument. Valid until 2106.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub u32);
