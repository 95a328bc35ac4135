//! The crate's promises, tested through its public interface.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test they help")]

mod common;
mod contents;
mod copies;
mod paths;
mod specs;
mod written;
