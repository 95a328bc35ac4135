//! The memory and the processor time that this process uses.

use rustix::time::{ClockId, clock_gettime};

pub fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

pub fn used_ms() -> u128 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as u128 * 1_000 + used.tv_nsec as u128 / 1_000_000
}
