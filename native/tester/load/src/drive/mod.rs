//! The threads that run lanes: they start and stop lanes, wait for sockets and timers, and collect records.

mod batch;
mod context;
pub(crate) mod driver;
mod lane;
mod pool;
pub(crate) mod snapshot;
mod timers;
mod worker;
