//! The memory and time that clients over TLS cost if they do not read their answers. The test runs in its own
//! process, as its helper explains.

use crate::common::slow_readers::take_neither_memory_nor_turns;
use crate::common::{Client, crowd, eventually, trusting};
use crate::own_process::in_own_process;

/// Each connection costs a handshake and memory on both sides.
const SLOW: usize = 300;

/// No client is cut off during the measurement.
const PATIENT: &str = r#"{"tls": {"start": true}, "limits": {"stall_ms": 120000}}"#;

#[test]
fn long_answers_over_tls_wait_for_slow_readers_without_using_memory_or_turns() {
    if in_own_process(long_answers_over_tls_wait_for_slow_readers_without_using_memory_or_turns) {
        return;
    }
    let directory = crowd(PATIENT);
    let connector = trusting(&directory);
    take_neither_memory_nor_turns(&directory, SLOW, |stream| Client::of(stream).secured(&connector));
    assert!(eventually(|| directory.stats().traffic.tls_handshakes == SLOW as u64 + 1), "and the quick one");
}
