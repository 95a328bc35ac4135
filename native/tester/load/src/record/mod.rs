//! The records of operations: times of sending and answering, bytes and failures.

pub(crate) mod clock;
pub(crate) mod examples;
pub(crate) mod failure;
pub(crate) mod log;
pub(crate) mod metric;
pub(crate) mod recorder;
pub(crate) mod report;
