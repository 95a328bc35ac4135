//! Which person an operation is about, and when it starts: random draws and schedules, no I/O.

pub(crate) mod keys;
pub(crate) mod ring;
pub(crate) mod schedule;
