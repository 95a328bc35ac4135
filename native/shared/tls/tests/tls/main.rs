//! Both sides of TLS, and what a hostile one does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "only tests are in here")]

mod common;
mod floods;
mod hostile;
mod session;
