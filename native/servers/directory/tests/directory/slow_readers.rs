//! The memory and time that clients cost if they do not read their answers. The test runs in its own process,
//! as its helper explains.

use crate::common::slow_readers::take_neither_memory_nor_turns;
use crate::common::{Client, crowd};
use crate::own_process::in_own_process;

/// No client is cut off during the measurement.
const PATIENT: &str = r#"{"limits": {"stall_ms": 120000}}"#;

#[test]
fn long_answers_wait_for_slow_readers_without_using_memory_or_turns() {
    if in_own_process(long_answers_wait_for_slow_readers_without_using_memory_or_turns) {
        return;
    }
    take_neither_memory_nor_turns(&crowd(PATIENT), 1000, Client::of);
}
