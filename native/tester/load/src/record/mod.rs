//! What is recorded of each operation: when it was sent and answered, how many bytes it took, why it
//! failed.

pub(crate) mod clock;
pub(crate) mod examples;
pub(crate) mod failure;
pub(crate) mod log;
pub(crate) mod metric;
pub(crate) mod recorder;
pub(crate) mod told;
