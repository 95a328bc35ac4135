//! What every server here stands on: listeners that share a port, and connections by number.

mod listener;
mod slab;
mod write;

pub use listener::{ListenError, listen};
pub use slab::Slab;
pub use write::write;
