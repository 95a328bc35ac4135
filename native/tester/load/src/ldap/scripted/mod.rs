//! Requests of scenario files: whatever LDAP can ask, filled in from data.
//!
//! `ask` compiles a step, `writing` the frame and the fields of its request, and `judge` looks at answers. Programs are
//! `crate::scripted`'s.

mod ask;
mod judge;
mod lower;
mod writing;

pub use ask::Ask;
pub(crate) use lower::Requests;
pub use lower::check;
