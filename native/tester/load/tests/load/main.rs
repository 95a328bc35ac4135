//! The engine against servers on real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "only tests are in here")]

mod descriptors;
mod engine;
mod hostile;
mod http;
mod job;
mod listener;
#[path = "../../../../shared/own_process.rs"]
mod own_process;
