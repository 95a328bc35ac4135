//! Requests of scenario files: whatever a site can be asked, filled in from data.
//!
//! `ask` turns a step into what is sent and looked for, `fill` writes its texts, `jar` keeps cookies, and `judge` looks
//! at answers. Programs are `crate::scripted`'s.

mod ask;
#[cfg(test)]
mod built_in;
mod fill;
mod jar;
mod judge;
mod lower;

pub use ask::Ask;
pub(super) use judge::{Visit, conclude_ask};
pub use lower::check;
pub(crate) use lower::{Requests, VisitorColumns};
