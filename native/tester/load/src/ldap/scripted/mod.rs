//! Requests of scenario files: whatever LDAP can ask, filled in from data.
//!
//! `ask` turns a step into a frame and what fills it, and `judge` looks at answers. Programs are `crate::scripted`'s.

mod ask;
mod judge;
mod lower;

pub use ask::Ask;
pub(crate) use lower::Requests;
pub use lower::check;
