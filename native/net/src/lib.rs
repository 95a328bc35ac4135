//! What every server here stands on: listeners that share a port, the door, and connections by
//! number.

mod gate;
mod limit;
mod listener;
mod slab;
mod write;

pub use gate::{Full, Gate, Pass};
pub use limit::{OutOfRange, within};
pub use listener::{ListenError, listen};
pub use slab::Slab;
pub use write::write;
