//! Limits the processor time of a fuzz target to a constant for each byte of input.

use rustix::time::{ClockId, clock_gettime};

/// The limit for a short input: an allocation may enter the kernel, a cache may be cold, the host may be
/// busy.
const NS_AT_LEAST: u64 = 1_000_000;

/// The thread's time includes interrupts, so a target fails only if every try exceeds the limit.
const TRIES: usize = 4;

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Runs a target; panics if the target panics or exceeds the time allowed for its bytes.
pub(crate) fn bounded(target: fn(&[u8]), ns_a_byte: u64, bytes: &[u8]) {
    let limit = NS_AT_LEAST + ns_a_byte * bytes.len() as u64;
    let mut took = u64::MAX;
    for _ in 0..TRIES {
        let begun = thread_cpu_ns();
        target(bytes);
        took = took.min(thread_cpu_ns() - begun);
        if took <= limit {
            return;
        }
    }
    panic!("{} bytes cost {} us, and {} are allowed", bytes.len(), took / 1000, limit / 1000);
}
