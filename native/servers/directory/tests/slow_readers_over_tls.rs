//! What clients that do not read cost over TLS; alone in its process, as its helper says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is a test")]

mod common;

use common::slow_readers::take_neither_memory_nor_turns;
use common::{Client, crowd, eventually, trusting};

/// Each is a handshake, and memory on both sides.
const SLOW: usize = 300;

/// None is cut off while it is looked at.
const PATIENT: &str = r#"{"tls": {"start": true}, "limits": {"stall_ms": 120000}}"#;

#[test]
fn answers_over_tls_wait_for_slow_readers_without_taking_memory_or_turns() {
    let directory = crowd(PATIENT);
    let connector = trusting(&directory);
    take_neither_memory_nor_turns(&directory, SLOW, |stream| Client::of(stream).secured(&connector));
    assert!(eventually(|| directory.stats().traffic.tls_handshakes == SLOW as u64 + 1), "and the quick one");
}
