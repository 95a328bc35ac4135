//! The site, tested through real sockets and a real SQLite database.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test they help")]

mod client;
mod common;
mod crash;
mod database;
mod descriptors;
mod limits;
#[path = "../../../../shared/own_process.rs"]
mod own_process;
mod pages;
mod protocol;
mod refusals;
mod slow_readers;
mod trickling;
mod usage;
mod writes;
