//! The site from outside: real sockets, real SQLite.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test they help")]

mod client;
mod common;
mod crash;
mod database;
mod limits;
mod pages;
mod protocol;
mod refusals;
mod trickling;
mod writes;
