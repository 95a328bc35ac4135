//! When operations are to start: pure functions of time, no clock.
//!
//! # Closed
//!
//! A lane starts its next operation when the last one is answered, after its think time. A slow target
//! gets less load: what is measured is what it can do, not what it does to people who do not wait for
//! each other.
//!
//! # Open
//!
//! Arrival `n` is due at `origin + n / rate`, fixed before anything starts:
//!
//! ```text
//!  arrivals |                 .-'
//!           |              .-'
//!           |           .-'   slope = rate
//!           |        .-'
//!           |     .-'
//!           |  .-'
//!           |-'
//!           +------------------------ time since origin
//! ```
//!
//! A lane with nothing to do takes the first arrival that is due and not taken. When the target or the
//! generator is late, arrivals wait and none is dropped; their latency counts from when they were due,
//! and the time they waited for a lane shows as schedule lag. After a stall of `s` seconds the arrivals
//! of those seconds are late by `s, s - 1/rate, s - 2/rate, ...`: latencies that a clock started at the
//! sending would not show.
//!
//! # Sharing
//!
//! Threads share arrivals by remainder: of `k` threads, thread `i` takes those with `n mod k = i`. When
//! the set of threads that have lanes changes, a new division begins at one `n` for all of them
//! ([`Arrivals::divide`]): none is taken twice, none left out.

use std::collections::VecDeque;

use crate::record::clock::SECOND;

/// A constant rate with an origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    origin_ns: u64,
    per_second: f64,
}

impl Pace {
    /// `per_second` must be finite and positive, which the configuration has checked.
    pub const fn new(origin_ns: u64, per_second: f64) -> Self {
        Self { origin_ns, per_second }
    }

    /// When arrival `n` is due. Computed from `n` each time, so no error adds up.
    #[inline]
    pub fn due_ns(&self, n: u64) -> u64 {
        self.origin_ns + (n as f64 * (SECOND as f64 / self.per_second)) as u64
    }

    /// The first arrival due at `time_ns` or later.
    pub fn first_at(&self, time_ns: u64) -> u64 {
        let elapsed = time_ns.saturating_sub(self.origin_ns) as f64;
        let guess = (elapsed * self.per_second / SECOND as f64) as u64;
        // The guess is off by rounding at most.
        let mut n = guess.saturating_sub(1);
        while self.due_ns(n) < time_ns {
            n += 1;
        }
        n
    }
}

/// One thread's part of the arrivals: those with `n mod of = index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The remainder.
    pub index: u64,
    /// Among how many threads.
    pub of: u64,
}

impl Share {
    /// The first arrival of this share that is not before `n`.
    const fn first_from(self, n: u64) -> u64 {
        n + (self.of + self.index - n % self.of) % self.of
    }
}

/// The arrivals of one thread, in their order.
#[derive(Debug)]
pub struct Arrivals {
    pace: Pace,
    /// (first arrival, share from there on), ascending; the first is in force.
    divisions: VecDeque<(u64, Option<Share>)>,
    next: Option<u64>,
    paused: bool,
}

impl Arrivals {
    /// Nothing to take before the first [`Arrivals::divide`].
    pub fn new(pace: Pace) -> Self {
        Self { pace, divisions: VecDeque::from([(0, None)]), next: None, paused: false }
    }

    /// When the first arrival not taken is due; `None` if this thread has none.
    #[inline]
    pub fn peek(&self) -> Option<u64> {
        if self.paused { None } else { self.next.map(|n| self.pace.due_ns(n)) }
    }

    /// Takes the first arrival if it is due, and says when it was.
    #[inline]
    pub fn take(&mut self, now_ns: u64) -> Option<u64> {
        let due = self.peek().filter(|&due| due <= now_ns)?;
        self.next = self.next.map(|n| n + 1);
        self.settle();
        Some(due)
    }

    /// Takes nothing until the next [`Arrivals::divide`]; says where that may begin at the earliest, if
    /// this thread minds: with the first arrival not taken, and not before a division to come.
    pub fn pause(&mut self) -> Option<u64> {
        self.paused = true;
        let last = self.divisions.back().map(|&(from, _)| from);
        self.next.max(last.filter(|_| self.next.is_some()))
    }

    /// From arrival `from` on this thread has `share`. Every thread must get the same `from`, not before
    /// any arrival that one of them returned when paused.
    pub fn divide(&mut self, from: u64, share: Option<Share>) {
        self.paused = false;
        self.divisions.push_back((from, share));
        self.next = Some(self.next.unwrap_or(from));
        self.settle();
    }

    /// How many arrivals are due and not taken.
    pub fn backlog(&self, now_ns: u64) -> u64 {
        let (Some(next), Some(&(_, Some(share)))) = (self.next, self.divisions.front()) else {
            return 0;
        };
        let end = self.divisions.get(1).map_or(u64::MAX, |&(from, _)| from);
        self.pace.first_at(now_ns + 1).min(end).saturating_sub(next).div_ceil(share.of)
    }

    /// Moves `next` to an arrival that is this thread's, through the divisions if need be.
    #[inline]
    fn settle(&mut self) {
        while let (Some(next), Some(&(_, share))) = (self.next, self.divisions.front()) {
            let end = self.divisions.get(1).map(|&(from, _)| from);
            let candidate = share.map(|share| share.first_from(next));
            if candidate.is_some_and(|n| end.is_none_or(|end| n < end)) {
                self.next = candidate;
                return;
            }
            // Nothing left in this division; without a later one there is nothing left at all.
            self.next = end;
            if end.is_some() {
                self.divisions.pop_front();
            }
        }
    }
}

/// How long a person thinks between two steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Think {
    /// Always as long.
    Constant {
        /// How long.
        ns: u64,
    },
    /// Memoryless, as independent people are.
    Exponential {
        /// How long on average.
        mean_ns: u64,
    },
}

impl Think {
    /// The think time that `uniform`, drawn from [0, 1), stands for.
    pub fn draw_ns(self, uniform: f64) -> u64 {
        match self {
            Self::Constant { ns } => ns,
            Self::Exponential { mean_ns } => (-(1.0 - uniform).ln() * mean_ns as f64) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::clock::MILLI;
    use proptest::prelude::*;

    const ONLY: Share = Share { index: 0, of: 1 };

    fn arrivals(rate: f64, from: u64, share: Share) -> Arrivals {
        let mut arrivals = Arrivals::new(Pace::new(0, rate));
        arrivals.divide(from, Some(share));
        arrivals
    }

    #[test]
    fn arrival_n_is_due_n_over_rate_after_the_origin_even_after_a_billion() {
        let pace = Pace::new(7, 3000.0);
        assert_eq!(pace.due_ns(0), 7);
        assert_eq!(pace.due_ns(3000), SECOND + 7);
        assert_eq!(pace.due_ns(3_000_000_000), 1_000_000 * SECOND + 7);
    }

    #[test]
    fn nothing_is_taken_before_it_is_due() {
        let mut arrivals = arrivals(1000.0, 0, ONLY);
        assert_eq!(arrivals.take(0), Some(0));
        assert_eq!(arrivals.take(MILLI - 1), None);
        assert_eq!(arrivals.take(MILLI), Some(MILLI));
        assert_eq!(arrivals.peek(), Some(2 * MILLI));
    }

    #[test]
    fn after_a_stall_of_a_second_latencies_are_the_closed_form() {
        // 1,000 a second; one lane; each answer takes no time, but from 1 s to 2 s nothing is answered.
        let mut arrivals = arrivals(1000.0, 0, ONLY);
        let mut latencies = Vec::new();
        let mut now = 0;
        while let Some(due) = arrivals.peek().filter(|&due| due < 3 * SECOND) {
            now = now.max(due);
            let taken = arrivals.take(now).unwrap();
            if (SECOND..2 * SECOND).contains(&now) {
                now = 2 * SECOND;
            }
            latencies.push(now - taken);
        }
        assert_eq!(latencies.len(), 3000);
        for (n, latency) in latencies.iter().enumerate() {
            let due = n as u64 * MILLI;
            let expected = if (SECOND..2 * SECOND).contains(&due) { 2 * SECOND - due } else { 0 };
            assert_eq!(*latency, expected, "arrival {n}");
        }
    }

    #[test]
    fn backlog_counts_what_is_due_and_not_taken() {
        let mut arrivals = arrivals(1000.0, 0, Share { index: 1, of: 2 });
        assert_eq!(arrivals.backlog(10 * MILLI), 5); // 1, 3, 5, 7, 9
        arrivals.take(10 * MILLI);
        assert_eq!(arrivals.backlog(10 * MILLI), 4);
        assert_eq!(arrivals.backlog(0), 0);
    }

    #[test]
    fn a_paused_thread_takes_nothing_and_loses_nothing() {
        let mut arrivals = arrivals(1000.0, 0, ONLY);
        assert_eq!(arrivals.pause(), Some(0));
        assert_eq!(arrivals.take(SECOND), None);
        arrivals.divide(500, None);
        let taken = std::iter::from_fn(|| arrivals.take(SECOND)).count();
        assert_eq!(taken, 500);
        assert_eq!(arrivals.peek(), None);
    }

    proptest! {
        #[test]
        fn first_at_is_the_first(rate in 0.01f64..1e7, at in 0u64..1_000_000_000_000) {
            let pace = Pace::new(1_000, rate);
            let n = pace.first_at(at);
            prop_assert!(pace.due_ns(n) >= at);
            prop_assert!(n == 0 || pace.due_ns(n - 1) < at);
        }

        /// Threads come and go; every arrival is taken exactly once whatever the interleaving.
        #[test]
        fn every_arrival_is_taken_exactly_once(
            phases in prop::collection::vec((1u8..16, prop::collection::vec(0usize..4, 0..40)), 1..8)
        ) {
            let mut threads = [(); 4].map(|()| Arrivals::new(Pace::new(0, 1e9)));
            let mut taken = Vec::new();
            for (set, takes) in phases {
                let from = threads.iter_mut().filter_map(Arrivals::pause).max().unwrap_or(0);
                let of = u64::from(set.count_ones());
                let mut index = 0;
                for (i, thread) in threads.iter_mut().enumerate() {
                    let member = set & (1 << i) != 0;
                    thread.divide(from, member.then_some(Share { index, of }));
                    index += u64::from(member);
                }
                for thread in takes {
                    taken.extend(threads[thread].take(u64::MAX / 2));
                }
            }
            let from = threads.iter_mut().filter_map(Arrivals::pause).max().unwrap_or(0);
            for thread in &mut threads {
                thread.divide(from, None);
                taken.extend(std::iter::from_fn(|| thread.take(u64::MAX / 2)));
            }
            taken.sort_unstable();
            let expected: Vec<u64> = (0..taken.len() as u64).collect();
            prop_assert_eq!(taken, expected);
        }

        #[test]
        fn exponential_think_times_have_their_mean(seed: u64) {
            let mut rng = fastrand::Rng::with_seed(seed);
            let think = Think::Exponential { mean_ns: 1_000_000 };
            let sum: u64 = (0..20_000).map(|_| think.draw_ns(rng.f64())).sum();
            prop_assert!((950_000..1_050_000).contains(&(sum / 20_000)), "mean {}", sum / 20_000);
        }
    }
}
