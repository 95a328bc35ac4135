//! The threads that run lanes: starting and stopping them, waiting for sockets and timers, collecting
//! what they recorded.

mod batch;
mod context;
pub(crate) mod driver;
mod lane;
mod pool;
pub(crate) mod snapshot;
mod timers;
mod worker;
