//! The store's idea of time: whole seconds that the caller hands in.

/// Seconds since 1970-01-01T00:00:00Z. The store has no clock, so the time is an
/// argument of every operation that needs it. Good until 2106.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub u32);
