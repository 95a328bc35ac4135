//! Both sides of TLS, and hostile peers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "only tests are in here")]

mod common;
mod floods;
mod hostile;
mod session;
