//! The crate's promises, tested through its public interface.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test they help")]

mod common;
mod contents;
mod groups;
mod ldif;
mod names;
mod passwords;
mod pools;
mod population;
mod profiles;
mod sizes;
mod visitors;
