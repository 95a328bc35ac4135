//! Valid scenarios, and refused scenarios.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "only tests are in here")]

mod any_text;
mod examples;
mod refusals;
mod schema;
mod secrets;
mod types;
