//! What clients that do not read cost; alone in its process, as its helper says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is a test")]

mod common;

use common::slow_readers::take_neither_memory_nor_turns;
use common::{Client, crowd};

/// None is cut off while it is looked at.
const PATIENT: &str = r#"{"limits": {"stall_ms": 120000}}"#;

#[test]
fn long_answers_wait_for_slow_readers_without_taking_memory_or_turns() {
    take_neither_memory_nor_turns(&crowd(PATIENT), 1000, Client::of);
}
