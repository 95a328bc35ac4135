//! Timers of waiting lanes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::io::Result;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use crate::record::clock::{now_ns, timespec};

pub(crate) const NEVER: u64 = u64::MAX;

/// A timer that ends a poll. Its resolution is microseconds, whereas the timeout of epoll_wait counts whole
/// milliseconds.
#[derive(Debug)]
pub(crate) struct Alarm {
    fd: OwnedFd,
    set_for: u64,
}

impl Alarm {
    pub(crate) fn new() -> Result<Self> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Self { fd, set_for: 0 })
    }

    pub(crate) fn raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Sets the alarm to `time_ns`. This costs a system call only if the time changes.
    pub(crate) fn set(&mut self, time_ns: u64) -> Result<()> {
        if self.set_for == time_ns {
            return Ok(());
        }
        self.set_for = time_ns;
        let once = Itimerspec { it_interval: timespec(0), it_value: timespec(time_ns.max(1)) };
        timerfd_settime(self.fd.as_fd(), TimerfdTimerFlags::ABSTIME, &once).map(drop)
    }

    /// The time of the next alarm; [`NEVER`] if it is not set.
    pub(crate) const fn due_ns(&self) -> u64 {
        if self.set_for == 0 { NEVER } else { self.set_for }
    }

    /// Notes that the alarm has fired, so that setting the same time again takes effect.
    pub(crate) const fn mark_fired(&mut self) {
        self.set_for = 0;
    }

    /// Fires every `period_ns` from now on. `due_ns` is then the first time that is not acknowledged.
    pub(crate) fn repeat(&mut self, period_ns: u64) -> Result<()> {
        let period = timespec(period_ns);
        let forever = Itimerspec { it_interval: period, it_value: period };
        timerfd_settime(self.fd.as_fd(), TimerfdTimerFlags::empty(), &forever)?;
        self.set_for = now_ns() + period_ns;
        Ok(())
    }

    /// Acknowledges the periods that have passed.
    pub(crate) fn acknowledge(&mut self, period_ns: u64) {
        let mut periods = [0; 8];
        // If no period has passed, nothing is read and nothing is added.
        let _ = rustix::io::read(self.fd.as_fd(), &mut periods);
        self.set_for += u64::from_ne_bytes(periods) * period_ns;
    }
}

/// Lanes that think or back off, by the time of their wake-up.
///
/// If a lane continues for another reason, its entry stays until it is due. The serial number shows that the
/// entry is stale.
#[derive(Debug, Default)]
pub(crate) struct Timers(BinaryHeap<Reverse<(u64, u32, u32)>>);

impl Timers {
    pub(crate) fn add(&mut self, due_ns: u64, lane: u32, serial: u32) {
        self.0.push(Reverse((due_ns, lane, serial)));
    }

    /// The time of the first wake-up.
    pub(crate) fn peek(&self) -> Option<u64> {
        self.0.peek().map(|Reverse((due, ..))| *due)
    }

    /// Removes the first lane if its wake-up is due. Returns the due time, the lane and the serial number of
    /// its sleep.
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<(u64, u32, u32)> {
        if self.peek()? > now_ns {
            return None;
        }
        self.0.pop().map(|Reverse(entry)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::clock::MILLI;

    #[test]
    fn a_repeating_timer_is_due_one_period_after_its_last_expiry() {
        let mut tick = Alarm::new().unwrap();
        assert_eq!(tick.due_ns(), NEVER);
        tick.repeat(MILLI).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(tick.due_ns() < now_ns());
        let before_ns = now_ns();
        tick.acknowledge(MILLI);
        assert!((before_ns..=now_ns() + MILLI).contains(&tick.due_ns()));
    }

    #[test]
    fn lanes_wake_in_the_order_of_their_due_times_and_not_before() {
        let mut timers = Timers::default();
        timers.add(30, 1, 0);
        timers.add(10, 2, 7);
        timers.add(20, 3, 0);
        assert_eq!(timers.pop_due(9), None);
        assert_eq!(timers.pop_due(25), Some((10, 2, 7)));
        assert_eq!(timers.pop_due(25), Some((20, 3, 0)));
        assert_eq!(timers.pop_due(25), None);
        assert_eq!(timers.peek(), Some(30));
    }
}
