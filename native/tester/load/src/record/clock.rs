//! The two clocks: wall time of events, and CPU time of this thread.

use rustix::time::{ClockId, Timespec, clock_gettime};

pub(crate) const SECOND: u64 = 1_000_000_000;

pub(crate) const MILLI: u64 = 1_000_000;

/// The current time on the clock of Python's `time.monotonic_ns` (CLOCK_MONOTONIC). Costs about 25 ns and no
/// system call.
pub fn now_ns() -> u64 {
    nanos(clock_gettime(ClockId::Monotonic))
}

/// CPU time that the calling thread has used since it started.
pub fn thread_cpu_ns() -> u64 {
    nanos(clock_gettime(ClockId::ThreadCPUTime))
}

const fn nanos(time: Timespec) -> u64 {
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

pub(crate) const fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / SECOND) as i64, tv_nsec: (ns % SECOND) as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_cpu_time_advances_while_the_thread_works() {
        let (time, cpu) = (now_ns(), thread_cpu_ns());
        while now_ns() - time < 30 * MILLI {}
        // Even on a busy machine, the thread gets some CPU time.
        assert!(thread_cpu_ns() - cpu > MILLI);
    }

    #[test]
    fn thread_cpu_time_stops_while_the_thread_sleeps() {
        let (time, cpu) = (now_ns(), thread_cpu_ns());
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert!(now_ns() - time >= 30 * MILLI);
        assert!(thread_cpu_ns() - cpu < 15 * MILLI);
    }

    #[test]
    fn an_instant_converts_to_a_timespec_and_back() {
        assert_eq!(nanos(timespec(12_345_678_901)), 12_345_678_901);
    }
}
