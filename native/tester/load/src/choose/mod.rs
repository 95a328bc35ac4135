//! Chooses the person or row of an operation, and its start: draws, deals and schedules, without I/O.

pub(crate) mod deal;
pub(crate) mod keys;
pub(crate) mod owned_keys;
pub(crate) mod ring;
pub(crate) mod schedule;
