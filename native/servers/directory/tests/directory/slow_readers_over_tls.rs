//! What clients that do not read cost over TLS; alone in its process, as its helper says.

use crate::common::slow_readers::take_neither_memory_nor_turns;
use crate::common::{Client, crowd, eventually, trusting};
use crate::own_process::in_own_process;

/// Each is a handshake, and memory on both sides.
const SLOW: usize = 300;

/// None is cut off while it is looked at.
const PATIENT: &str = r#"{"tls": {"start": true}, "limits": {"stall_ms": 120000}}"#;

#[test]
fn answers_over_tls_wait_for_slow_readers_without_taking_memory_or_turns() {
    if in_own_process(answers_over_tls_wait_for_slow_readers_without_taking_memory_or_turns) {
        return;
    }
    let directory = crowd(PATIENT);
    let connector = trusting(&directory);
    take_neither_memory_nor_turns(&directory, SLOW, |stream| Client::of(stream).secured(&connector));
    assert!(eventually(|| directory.stats().traffic.tls_handshakes == SLOW as u64 + 1), "and the quick one");
}
