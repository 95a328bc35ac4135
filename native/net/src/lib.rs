//! What every server here stands on: listeners that share a port, the door, connections by number, and
//! whether those get on.

mod gate;
mod limit;
mod listener;
mod pace;
mod slab;
mod write;

pub use gate::{Full, Gate, Pass};
pub use limit::{OutOfRange, within};
pub use listener::{ListenError, listen};
pub use pace::Pace;
pub use slab::Slab;
pub use write::write;
