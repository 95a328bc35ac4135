//! What clients that do not read cost; alone in its process, as its helper says.

use crate::common::slow_readers::take_neither_memory_nor_turns;
use crate::common::{Client, crowd};
use crate::own_process::in_own_process;

/// None is cut off while it is looked at.
const PATIENT: &str = r#"{"limits": {"stall_ms": 120000}}"#;

#[test]
fn long_answers_wait_for_slow_readers_without_taking_memory_or_turns() {
    if in_own_process(long_answers_wait_for_slow_readers_without_taking_memory_or_turns) {
        return;
    }
    take_neither_memory_nor_turns(&crowd(PATIENT), 1000, Client::of);
}
