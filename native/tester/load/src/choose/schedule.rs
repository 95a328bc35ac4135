//! Schedules of operations: pure functions of time, without a clock.
//!
//! # Closed
//!
//! A lane starts its next operation after its previous operation was answered and its think time has passed.
//! A slow target gets less load: the result is the target's capacity, not its latency under independent
//! arrivals.
//!
//! # Open
//!
//! The due times of arrivals do not depend on the target. An idle lane takes the first arrival that is due
//! and not taken. When the target or the load generator is late, arrivals wait and none
//! is dropped; their latency counts from when they were due, and the time they waited for a lane shows as
//! schedule lag. After a stall of `s` seconds the arrivals of those seconds are late by up to `s`: a clock
//! that starts at sending would hide this delay (coordinated omission).
//!
//! *Poisson* arrivals are the arrivals of independent people. Their gaps are exponential, so some people
//! arrive in bursts, which a nearly saturated server queues. Each thread draws its own arrivals; `k` Poisson
//! streams of `rate / k` are together a Poisson stream of `rate`, so threads and workers share nothing.
//!
//! *Even* arrivals have constant gaps: arrival `n` is due at `origin + n / rate`, and queues are as short as
//! possible.
//!
//! ```text
//!  poisson  |x--x-x-------xx---x----------x--x-xx-----x-->
//!  even     |x----x----x----x----x----x----x----x----x--->  time
//! ```
//!
//! # Stages
//!
//! A rate may change linearly: each stage begins at the rate at which the previous stage ended, the first at 0.
//! Let `N(t)` be the integral of the rate: the number of arrivals up to `t`. Even arrival `n` is due when `N`
//! exceeds `n`, so the number of a stage's arrivals is its integral, and 0 at rate 0. Random arrivals are drawn
//! on `N`, with gaps of mean 1: a Poisson process with the stages' rate. A constant rate is one stage without an
//! end.
//!
//! ```text
//!  rate     |        ____________
//!           |    ___/            \
//!           |___/                 \
//!  even     |x      x   x  x x x x  x-->  time
//! ```
//!
//! # Sharing
//!
//! Of `k` threads, thread `i` takes the even arrivals with `n mod k = i`, or random arrivals at `rate / k`.
//! When the set of threads that have lanes changes, a new division begins at one time for all of them
//! ([`Arrivals::divide`]). The new shares take each even arrival from that time on exactly once. Random
//! arrivals from that time on are drawn anew. A Poisson process is memoryless, so the new arrivals are a
//! Poisson process, too, provided that the time does not depend on future arrivals.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;

use crate::record::clock::SECOND;

/// How arrivals are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spacing {
    #[default]
    Even,
    Poisson,
}

/// A stage: the rate changes linearly to `rate` (arrivals per second) within `lasts_s`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    pub lasts_s: f64,
    pub rate: f64,
}

/// A linear piece of the rate, in seconds since the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line {
    begins_s: f64,
    /// The rate at `begins_s`, and the rate's change per second.
    rate: f64,
    slope: f64,
    /// The number of arrivals before the line, and up to its end.
    before: f64,
    upto: f64,
}

impl Line {
    fn count_after(&self, seconds: f64) -> f64 {
        (self.before + seconds * (self.rate + self.slope * seconds / 2.0)).min(self.upto)
    }

    /// The time at which the number of arrivals reaches `count`, which must be on this line. This form of the
    /// quadratic formula is valid for slope 0, and loses no digits to cancellation at small slopes.
    fn seconds_at(&self, count: f64) -> f64 {
        let more = count - self.before;
        if more <= 0.0 {
            return self.begins_s;
        }
        let root = (self.rate * self.rate + 2.0 * self.slope * more).max(0.0).sqrt();
        self.begins_s + 2.0 * more / (self.rate + root)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pace {
    origin_ns: u64,
    /// In order of time; each has a positive duration.
    lines: Arc<[Line]>,
}

impl Pace {
    /// A constant rate. The configuration has checked that `per_second` is finite and positive.
    pub fn new(origin_ns: u64, per_second: f64) -> Self {
        let line = Line { begins_s: 0.0, rate: per_second, slope: 0.0, before: 0.0, upto: f64::INFINITY };
        Self { origin_ns, lines: [line].into() }
    }

    /// Successive stages. The configuration has checked that numbers are finite, times positive and rates not
    /// negative.
    pub fn staged(origin_ns: u64, stages: &[Stage]) -> Self {
        let (mut begins_s, mut rate, mut before) = (0.0, 0.0, 0.0);
        let line = |stage: &Stage| {
            let upto = before + stage.lasts_s * (rate + stage.rate) / 2.0;
            let line = Line { begins_s, rate, slope: (stage.rate - rate) / stage.lasts_s, before, upto };
            (begins_s, rate, before) = (begins_s + stage.lasts_s, stage.rate, upto);
            line
        };
        Self { origin_ns, lines: stages.iter().map(line).collect() }
    }

    /// When even arrival `n` is due; `None` if the stages end before. Computed from `n` each time, so rounding
    /// errors do not accumulate.
    pub fn due_ns(&self, n: u64) -> Option<u64> {
        self.reaches_ns(n as f64)
    }

    /// The first even arrival due at `time_ns` or later, or the number of all arrivals if no such arrival
    /// exists.
    pub fn first_at(&self, time_ns: u64) -> u64 {
        // `count_at` has rounding errors, so the search begins one arrival earlier.
        let mut n = (self.count_at(time_ns) as u64).saturating_sub(1);
        while self.due_ns(n).is_some_and(|due_ns| due_ns < time_ns) {
            n += 1;
        }
        n
    }

    /// The time at which the number of arrivals reaches `count`; `None` if the stages end before.
    #[inline]
    fn reaches_ns(&self, count: f64) -> Option<u64> {
        let line = self.lines.iter().find(|line| line.upto > count)?;
        Some(self.origin_ns + (line.seconds_at(count) * SECOND as f64).round() as u64)
    }

    /// How many arrivals there are up to `time_ns`.
    fn count_at(&self, time_ns: u64) -> f64 {
        let seconds = time_ns.saturating_sub(self.origin_ns) as f64 / SECOND as f64;
        let line = self.lines.iter().rfind(|line| line.begins_s <= seconds);
        line.map_or(0.0, |line| line.count_after(seconds - line.begins_s))
    }
}

/// One thread's part of the arrivals: even arrivals with `n mod of = index`, or one of `of` random streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub index: u64,
    pub of: u64,
}

impl Share {
    /// The first arrival of this share that is not before `n`.
    const fn first_from(self, n: u64) -> u64 {
        n + (self.of + self.index - n % self.of) % self.of
    }
}

/// The arrivals of one thread in order of time.
#[derive(Debug)]
pub struct Arrivals {
    stream: Stream,
    paused: bool,
    taken: u64,
    ahead: Option<Ahead>,
}

/// The future arrivals of one thread in order of time.
#[derive(Debug, Clone)]
struct Stream {
    pace: Pace,
    /// The generator of random gaps; `None` for even arrivals.
    random: Option<fastrand::Rng>,
    /// Times in ascending order, each with the share that begins at this time. The first share is in force.
    divisions: VecDeque<(u64, Option<Share>)>,
    next_ns: Option<u64>,
    number: u64,
    /// The value of `N` at the next random arrival. It is not rounded, so errors do not accumulate.
    count: f64,
}

/// A copy of the stream that advances ahead of the taken arrivals and counts due arrivals. It passes each
/// arrival once, because a backlog may be long.
#[derive(Debug)]
struct Ahead {
    stream: Stream,
    /// The number of passed arrivals.
    passed: u64,
    /// The numbers of passed arrivals that were due before the window's beginning, and before its end.
    before: [u64; 2],
    window_ns: Range<u64>,
}

/// The backlog: arrivals that are due and not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    pub all: u64,
    /// Arrivals of the backlog that were due in the window.
    pub of_window: u64,
}

impl Arrivals {
    /// There are no arrivals before the first [`Arrivals::divide`]. `random` must be this thread's own
    /// generator.
    pub fn new(pace: Pace, spacing: Spacing, random: fastrand::Rng) -> Self {
        let stream = Stream {
            pace,
            random: (spacing == Spacing::Poisson).then_some(random),
            divisions: VecDeque::from([(0, None)]),
            next_ns: None,
            number: 0,
            count: 0.0,
        };
        Self { stream, paused: false, taken: 0, ahead: None }
    }

    /// Changes the pace from the next [`Arrivals::divide`] on. There must have been no division before.
    pub fn set_pace(&mut self, pace: Pace) {
        self.stream.pace = pace;
    }

    /// The due time of the first arrival not taken; `None` if this thread has no arrivals.
    pub fn peek(&self) -> Option<u64> {
        if self.paused { None } else { self.stream.next_ns }
    }

    /// Takes the first arrival if the arrival is due, and returns its due time.
    #[inline]
    pub fn take(&mut self, now_ns: u64) -> Option<u64> {
        if self.paused {
            return None;
        }
        let due_ns = self.stream.take(now_ns)?;
        self.taken += 1;
        Some(due_ns)
    }

    /// Takes nothing until the next [`Arrivals::divide`]. Returns the earliest time at which that division
    /// may begin, if this thread has arrivals.
    ///
    /// That time is right after the first arrival not taken, or after `now_ns` if `now_ns` is earlier, and
    /// not before a pending division. The time must not depend on an arrival later than `now_ns`: such an
    /// arrival would decide which arrivals are drawn anew.
    pub fn pause(&mut self, now_ns: u64) -> Option<u64> {
        self.paused = true;
        let last_ns = self.stream.divisions.back().map_or(0, |&(from_ns, _)| from_ns);
        self.stream.next_ns.map(|next_ns| (next_ns.min(now_ns) + 1).max(last_ns))
    }

    /// Ends the arrivals and drops the backlog. Another division may follow.
    pub fn end(&mut self) {
        self.ahead = None;
        self.stream.divisions = VecDeque::from([(0, None)]);
        self.stream.next_ns = None;
    }

    /// Gives this thread `share` from `from_ns` on. Every thread must get the same time, which must not be
    /// earlier than any time that [`Arrivals::pause`] returned.
    pub fn divide(&mut self, from_ns: u64, share: Option<Share>) {
        self.paused = false;
        // Arrivals that `ahead` has passed may be drawn anew.
        self.ahead = None;
        self.stream.divisions.push_back((from_ns, share));
        self.stream.settle();
    }

    /// Counts the whole backlog, and its arrivals that were due in a window. The window must be the window of
    /// the previous call, or the next window if the previous window has ended.
    pub fn waiting(&mut self, now_ns: u64, window_ns: &Range<u64>) -> Waiting {
        let mut ahead = match self.ahead.take() {
            Some(ahead) if ahead.passed < self.taken => self.ahead_at(window_ns),
            Some(ahead) if ahead.window_ns == *window_ns => ahead,
            Some(ahead) if ahead.window_ns.end == window_ns.start => {
                let before = [ahead.before[1], ahead.passed];
                Ahead { before, window_ns: window_ns.clone(), ..ahead }
            }
            _ => self.ahead_at(window_ns),
        };
        while let Some(due_ns) = ahead.stream.take(now_ns) {
            ahead.passed += 1;
            ahead.before[0] += u64::from(due_ns < window_ns.start);
            ahead.before[1] += u64::from(due_ns < window_ns.end);
        }
        let all = ahead.passed - self.taken;
        let of_window = ahead.before[1].saturating_sub(ahead.before[0].max(self.taken));
        self.ahead = Some(ahead);
        Waiting { all, of_window }
    }

    fn ahead_at(&self, window_ns: &Range<u64>) -> Ahead {
        let before = [self.taken; 2];
        Ahead { stream: self.stream.clone(), passed: self.taken, before, window_ns: window_ns.clone() }
    }
}

impl Stream {
    #[inline]
    fn take(&mut self, now_ns: u64) -> Option<u64> {
        let due_ns = self.next_ns.filter(|&due_ns| due_ns <= now_ns)?;
        if let Some(&(_, Some(share))) = self.divisions.front() {
            self.number += share.of;
            self.next_ns = self.due_ns(share);
            self.settle();
        }
        Some(due_ns)
    }

    /// Advances to the division that contains the next arrival.
    #[inline]
    fn settle(&mut self) {
        while let Some(&(from_ns, share)) = self.divisions.get(1)
            && self.next_ns.is_none_or(|next_ns| next_ns >= from_ns)
        {
            self.divisions.pop_front();
            self.next_ns = share.and_then(|share| {
                self.count = self.pace.count_at(from_ns);
                self.number = share.first_from(self.pace.first_at(from_ns));
                self.due_ns(share)
            });
        }
    }

    /// The due time of the next arrival of a share, even or random; `None` after the last arrival.
    #[inline]
    fn due_ns(&mut self, share: Share) -> Option<u64> {
        match &mut self.random {
            None => self.pace.due_ns(self.number),
            Some(random) => {
                self.count += exponential(random.f64(), share.of as f64);
                self.pace.reaches_ns(self.count)
            }
        }
    }
}

/// Maps `uniform`, drawn from [0, 1), to an exponential distribution (inverse transform sampling).
fn exponential(uniform: f64, mean: f64) -> f64 {
    -(1.0 - uniform).ln() * mean
}

/// How long a user thinks between two steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Think {
    /// All think times are equal.
    Constant { ns: u64 },
    /// Think times are memoryless, like the pauses of independent people.
    Exponential { mean_ns: u64 },
}

impl Think {
    /// Maps `uniform`, drawn from [0, 1), to a think time.
    pub fn draw_ns(self, uniform: f64) -> u64 {
        match self {
            Self::Constant { ns } => ns,
            Self::Exponential { mean_ns } => exponential(uniform, mean_ns as f64) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::clock::MILLI;
    use proptest::prelude::*;

    const ONLY: Share = Share { index: 0, of: 1 };

    fn seeded(pace: Pace, spacing: Spacing, seed: u64) -> Arrivals {
        Arrivals::new(pace, spacing, fastrand::Rng::with_seed(seed))
    }

    /// A thousand even arrivals per second.
    fn arrivals(share: Share) -> Arrivals {
        let mut arrivals = seeded(Pace::new(0, 1_000.0), Spacing::Even, 0);
        arrivals.divide(0, Some(share));
        arrivals
    }

    #[test]
    fn arrival_n_is_due_n_over_rate_after_the_origin_even_for_a_billion_arrivals() {
        let pace = Pace::new(7, 3000.0);
        assert_eq!(pace.due_ns(0), Some(7));
        assert_eq!(pace.due_ns(3000), Some(SECOND + 7));
        assert_eq!(pace.due_ns(3_000_000_000), Some(1_000_000 * SECOND + 7));
    }

    #[test]
    fn no_arrival_is_taken_before_it_is_due() {
        let mut arrivals = arrivals(ONLY);
        assert_eq!(arrivals.take(0), Some(0));
        assert_eq!(arrivals.take(MILLI - 1), None);
        assert_eq!(arrivals.take(MILLI), Some(MILLI));
        assert_eq!(arrivals.peek(), Some(2 * MILLI));
    }

    #[test]
    fn waiting_arrivals_are_due_and_not_taken() {
        let mut arrivals = arrivals(Share { index: 1, of: 2 });
        let waiting = |arrivals: &mut Arrivals, now: u64, window: Range<u64>| {
            let found = arrivals.waiting(now * MILLI, &(window.start * MILLI..window.end * MILLI));
            (found.all, found.of_window)
        };
        // Arrivals of this share are due at 1, 3, 5, 7 ms and so on.
        assert_eq!(waiting(&mut arrivals, 0, 0..0), (0, 0));
        assert_eq!(waiting(&mut arrivals, 8, 0..0), (4, 0));
        assert_eq!(waiting(&mut arrivals, 8, 0..8), (4, 4));
        arrivals.take(8 * MILLI);
        arrivals.pause(8 * MILLI);
        assert_eq!(waiting(&mut arrivals, 10, 0..8), (4, 3));
        assert_eq!(waiting(&mut arrivals, 14, 8..14), (6, 3));
        arrivals.divide(20 * MILLI, None);
        assert_eq!(waiting(&mut arrivals, 40, 8..14), (9, 3));
        for left in [(8, 3), (7, 3), (6, 3), (5, 2), (4, 1), (3, 0)] {
            arrivals.take(40 * MILLI);
            assert_eq!(waiting(&mut arrivals, 40, 8..14), left);
        }
    }

    #[test]
    fn an_ended_schedule_has_no_waiting_arrivals_and_can_be_restarted() {
        let mut arrivals = arrivals(ONLY);
        arrivals.take(0);
        arrivals.end();
        assert_eq!((arrivals.peek(), arrivals.take(SECOND)), (None, None));
        assert_eq!(arrivals.waiting(SECOND, &(0..SECOND)), Waiting { all: 0, of_window: 0 });
        arrivals.divide(SECOND, Some(ONLY));
        assert_eq!(arrivals.take(2 * SECOND), Some(SECOND));
    }

    #[test]
    fn a_paused_thread_takes_no_arrival_and_loses_none() {
        let mut arrivals = arrivals(ONLY);
        assert_eq!(arrivals.pause(SECOND), Some(1));
        assert_eq!(arrivals.take(SECOND), None);
        arrivals.divide(SECOND / 2, None);
        let taken = std::iter::from_fn(|| arrivals.take(SECOND)).count();
        assert_eq!(taken, 500);
        assert_eq!(arrivals.peek(), None);
    }

    fn staged(stages: &[(f64, f64)]) -> Pace {
        let stage = |&(lasts_s, rate)| Stage { lasts_s, rate };
        Pace::staged(SECOND, &stages.iter().map(stage).collect::<Vec<_>>())
    }

    /// Due times of the even arrivals of `threads` threads, in seconds since the origin.
    fn due_s(stages: &[(f64, f64)], threads: u64) -> Vec<f64> {
        let streams = (0..threads).map(|index| {
            let mut arrivals = seeded(Pace::new(0, 1.0), Spacing::Even, index);
            arrivals.set_pace(staged(stages));
            arrivals.divide(SECOND, Some(Share { index, of: threads }));
            arrivals
        });
        let mut due_ns: Vec<u64> =
            streams.flat_map(|mut stream| std::iter::from_fn(move || stream.take(u64::MAX))).collect();
        due_ns.sort_unstable();
        due_ns.iter().map(|due_ns| (due_ns - SECOND) as f64 / 1e9).collect()
    }

    #[test]
    fn in_a_rise_from_rate_zero_arrival_n_is_due_when_the_integral_reaches_n() {
        // The integral of the rate is 100 t^2 / (2 * 30): 1,500 arrivals in 30 s.
        let due_s = due_s(&[(30.0, 100.0)], 1);
        assert_eq!(due_s.len(), 1_500);
        for (n, due_s) in due_s.iter().enumerate() {
            let expected = (n as f64 * 60.0 / 100.0).sqrt();
            assert!((due_s - expected).abs() < 1e-8, "{n}: {due_s}, not {expected}");
        }
    }

    #[test]
    fn the_arrivals_of_a_stage_equal_its_rate_integral_with_any_threads() {
        let stages = [(30.0, 100.0), (60.0, 100.0), (10.0, 500.0), (20.0, 0.0)];
        for threads in 1..=4 {
            let due_s = due_s(&stages, threads);
            let mut begins_s = 0.0;
            for ((lasts_s, _), most) in stages.iter().zip([1_500, 6_000, 3_000, 5_000]) {
                let of_stage = |s: &&f64| (begins_s..begins_s + lasts_s).contains(*s);
                assert_eq!(due_s.iter().filter(of_stage).count(), most, "from {begins_s} s on");
                begins_s += lasts_s;
            }
            assert_eq!(due_s.len(), 15_500);
        }
    }

    #[test]
    fn no_arrival_is_due_in_stages_of_rate_0_or_after_the_last_stage() {
        let due_s = due_s(&[(5.0, 0.0), (2.0, 10.0), (1.0, 0.0), (60.0, 0.0), (1.0, 4.0)], 2);
        // The second, the third and the last stage have 10, 5 and 2 arrivals.
        assert_eq!(due_s.len(), 17);
        assert_eq!((due_s[0], due_s[15]), (5.0, 68.0));
        assert!(due_s[14] < 8.0 && due_s[16] < 69.0, "{due_s:?}");
        let pace = staged(&[(2.0, 10.0)]);
        assert_eq!((pace.due_ns(10), pace.first_at(90 * SECOND)), (None, 10));
    }

    #[test]
    fn random_arrivals_of_stages_are_poisson_on_the_integral_of_their_rate() {
        let pace = staged(&[(10.0, 4_000.0), (5.0, 0.0), (5.0, 0.0), (10.0, 2_000.0)]);
        let mut due_ns = Vec::new();
        for index in 0..3 {
            let mut arrivals = seeded(pace.clone(), Spacing::Poisson, index);
            arrivals.divide(SECOND, Some(Share { index, of: 3 }));
            due_ns.extend(std::iter::from_fn(|| arrivals.take(u64::MAX)));
        }
        due_ns.sort_unstable();
        let none = due_ns.iter().filter(|&&due_ns| (16 * SECOND..21 * SECOND).contains(&due_ns));
        assert_eq!(none.count(), 0);
        let counts: Vec<u64> = due_ns.iter().map(|&due_ns| (pace.count_at(due_ns) * 1e9) as u64).collect();
        assert_poisson(&counts, 1.0);
    }

    /// The Kolmogorov-Smirnov distance of the gaps from the exponential distribution of this rate, times the
    /// root of the number of gaps. Poisson arrivals exceed 1.95 once in a thousand cases.
    fn distance_from_poisson(due_ns: &[u64], rate: f64) -> f64 {
        let mut gaps: Vec<u64> = due_ns.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable();
        let n = gaps.len() as f64;
        let off = |(i, &gap): (usize, &u64)| {
            let expected = 1.0 - (-(gap as f64) * rate / SECOND as f64).exp();
            (expected - i as f64 / n).abs().max((expected - (i + 1) as f64 / n).abs())
        };
        gaps.iter().enumerate().map(off).fold(0.0, f64::max) * n.sqrt()
    }

    const UNLIKELY: f64 = 1.95;

    /// 40,000 arrivals are expected, with a standard deviation of 200.
    #[track_caller]
    fn assert_poisson(due_ns: &[u64], rate: f64) {
        let off = distance_from_poisson(due_ns, rate);
        assert!(off < UNLIKELY && (39_200..40_800).contains(&due_ns.len()), "{off}, {}", due_ns.len());
    }

    /// Due times within `seconds`, of `workers` processes with `threads` threads each.
    fn merged(spacing: Spacing, rate: f64, (workers, threads): (u64, u64), seconds: u64) -> Vec<u64> {
        let streams = (0..workers * threads).map(|n| {
            // Processes begin at different times.
            let begins_ns = n / threads * 1_234_567;
            let mut arrivals = seeded(Pace::new(begins_ns, rate / workers as f64), spacing, n);
            arrivals.divide(begins_ns, Some(Share { index: n % threads, of: threads }));
            arrivals
        });
        let mut due_ns: Vec<u64> = streams
            .flat_map(|mut stream| std::iter::from_fn(move || stream.take(seconds * SECOND)))
            .collect();
        due_ns.sort_unstable();
        due_ns
    }

    #[test]
    fn the_streams_of_all_threads_and_workers_are_together_poisson_at_the_rate() {
        for (rate, shares) in
            [(50, (1, 1)), (20_000, (1, 1)), (1_000, (1, 4)), (1_000, (4, 1)), (1_000, (3, 2))]
        {
            assert_poisson(&merged(Spacing::Poisson, rate as f64, shares, 40_000 / rate), rate as f64);
        }
        // The test can fail: even arrivals are not Poisson.
        let off = distance_from_poisson(&merged(Spacing::Even, 50.0, (1, 1), 800), 50.0);
        assert!(off > 10.0 * UNLIKELY, "{off}");
    }

    #[test]
    fn arrivals_stay_poisson_while_threads_start_stop_and_fall_behind() {
        let (rate, mut lot) = (10_000.0, fastrand::Rng::with_seed(5));
        let mut threads = [0, 1, 2].map(|seed| seeded(Pace::new(0, rate), Spacing::Poisson, seed));
        let (mut now_ns, mut due_ns) = (0, Vec::new());
        // Ten arrivals are due between two divisions. If each division lost or doubled one arrival, a tenth
        // of all arrivals would be wrong.
        for _ in 0..4_000 {
            let paused = threads.iter_mut().filter_map(|thread| thread.pause(now_ns));
            let from_ns = paused.max().unwrap_or(now_ns);
            let of = lot.u64(1..=3);
            for (index, thread) in (0..).zip(&mut threads) {
                thread.divide(from_ns, (index < of).then_some(Share { index, of }));
            }
            now_ns += MILLI;
            for thread in &mut threads {
                let most = lot.usize(..12);
                due_ns.extend(std::iter::from_fn(|| thread.take(now_ns)).take(most));
            }
        }
        threads.iter_mut().for_each(|thread| due_ns.extend(std::iter::from_fn(|| thread.take(now_ns))));
        due_ns.sort_unstable();
        assert_poisson(&due_ns, rate);
    }

    proptest! {
        #[test]
        fn due_times_in_stages_are_the_inverse_of_the_integral_of_the_rate(
            stages in prop::collection::vec((0.1f64..100.0, prop_oneof![Just(0.0), 0.0f64..1e4]), 1..6)
        ) {
            let pace = staged(&stages);
            let total: f64 = pace.lines.last().unwrap().upto;
            for part in 0..50 {
                let n = (total * f64::from(part) / 50.0) as u64;
                if let Some(due_ns) = pace.due_ns(n) {
                    let rate = stages.iter().map(|stage| stage.1).fold(1.0, f64::max);
                    let found = pace.count_at(due_ns);
                    prop_assert!((found - n as f64).abs() < 1e-9 * rate + 1e-6, "{} at {}", found, n);
                    prop_assert!(pace.due_ns(n + 1).is_none_or(|next| next > due_ns));
                    prop_assert_eq!(pace.first_at(due_ns), n);
                } else {
                    prop_assert!(n as f64 >= total);
                }
            }
        }

        #[test]
        fn first_at_returns_the_first_arrival_due_at_a_time_or_later(rate in 0.01f64..1e7, at in 0u64..1_000_000_000_000) {
            let pace = Pace::new(1_000, rate);
            let n = pace.first_at(at);
            prop_assert!(pace.due_ns(n).unwrap() >= at);
            prop_assert!(n == 0 || pace.due_ns(n - 1).unwrap() < at);
        }

        /// Threads start, stop and take arrivals in any order.
        #[test]
        fn every_arrival_is_taken_exactly_once(
            phases in prop::collection::vec((1u8..16, prop::collection::vec(0usize..4, 0..40)), 1..8)
        ) {
            let mut threads = [(); 4].map(|()| seeded(Pace::new(0, 1e9), Spacing::Even, 0));
            let now_ns = u64::MAX / 2;
            let mut taken = Vec::new();
            for (set, takes) in phases {
                let from = threads.iter_mut().filter_map(|thread| thread.pause(now_ns)).max().unwrap_or(0);
                let of = u64::from(set.count_ones());
                let mut index = 0;
                for (i, thread) in threads.iter_mut().enumerate() {
                    let member = set & (1 << i) != 0;
                    thread.divide(from, member.then_some(Share { index, of }));
                    index += u64::from(member);
                }
                for thread in takes {
                    taken.extend(threads[thread].take(now_ns));
                }
            }
            let from = threads.iter_mut().filter_map(|thread| thread.pause(now_ns)).max().unwrap_or(0);
            for thread in &mut threads {
                thread.divide(from, None);
                taken.extend(std::iter::from_fn(|| thread.take(now_ns)));
            }
            taken.sort_unstable();
            let expected: Vec<u64> = (0..taken.len() as u64).collect();
            prop_assert_eq!(taken, expected);
        }

        /// The counted backlog equals the arrivals that can be taken, whatever was taken, counted or divided before.
        #[test]
        fn waiting_arrivals_are_exactly_those_that_can_be_taken(
            seed: u64, steps in prop::collection::vec((0u64..40, 0usize..30, 0u8..8), 1..30)
        ) {
            for spacing in [Spacing::Even, Spacing::Poisson] {
                let mut arrivals = seeded(Pace::new(0, 1_000.0), spacing, seed);
                arrivals.divide(0, Some(ONLY));
                let (mut now, mut window) = (0, 0..0);
                for &(ms, most, what) in &steps {
                    now += ms * MILLI + 1;
                    if what == 0 {
                        let from = arrivals.pause(now).unwrap_or(now);
                        arrivals.divide(from, Some(Share { index: seed % 2, of: 2 }));
                    }
                    if what < 3 {
                        window = window.end..now;
                    }
                    let found = arrivals.waiting(now, &window);
                    let mut copy = arrivals.stream.clone();
                    let left: Vec<_> = std::iter::from_fn(|| copy.take(now)).collect();
                    let of_window = left.iter().filter(|due| window.contains(due)).count() as u64;
                    prop_assert_eq!(found, Waiting { all: left.len() as u64, of_window });
                    let taken = std::iter::from_fn(|| arrivals.take(now)).take(most).count();
                    prop_assert_eq!(taken, left.len().min(most));
                }
            }
        }

        #[test]
        fn exponential_think_times_have_the_configured_mean(seed: u64) {
            let mut rng = fastrand::Rng::with_seed(seed);
            let think = Think::Exponential { mean_ns: 1_000_000 };
            let sum: u64 = (0..20_000).map(|_| think.draw_ns(rng.f64())).sum();
            prop_assert!((950_000..1_050_000).contains(&(sum / 20_000)), "mean {}", sum / 20_000);
        }
    }
}
