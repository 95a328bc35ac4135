//! What a target may cost: so much for each byte, whatever the bytes are.

use rustix::time::{ClockId, clock_gettime};

/// What a short input may cost: an allocation that has to ask the kernel, a cache gone cold, a host that is busy.
const NS_AT_LEAST: u64 = 1_000_000;

/// An interrupt counts as this thread's time: only what is dear every time is.
const TRIES: usize = 4;

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Runs a target, which panics where something is wrong; panics, too, where it costs more than its bytes may.
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
