//! Which person or row an operation is about, and when it starts: draws, deals and schedules, no I/O.

pub(crate) mod deal;
pub(crate) mod keys;
pub(crate) mod owned_keys;
pub(crate) mod ring;
pub(crate) mod schedule;
