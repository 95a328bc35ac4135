//! The maximum utilisation of several cores by a mix of operations at which no more operations end late than
//! the promise allows.
//!
//! The model is one FCFS queue with Poisson arrivals, and service times that are exponential around the mean
//! of each kind (the mix is hyperexponential). There is no formula for the late share of such a mix, so
//! arrivals are simulated, always with the same random numbers. More load then makes every wait longer, and
//! bisection finds the limit.

/// A kind of operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind {
    /// The frequency relative to the other kinds.
    pub weight: f64,
    /// The mean service time on an idle core.
    pub service_s: f64,
}

/// The latency objective of all operations together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    pub within_s: f64,
    /// The allowed share of operations that take longer.
    pub late: f64,
}

/// Minimum and maximum of simulated arrivals.
const FEWEST: f64 = (1 << 18) as f64;
const MOST: f64 = (1 << 23) as f64;

/// The minimum length of a simulation: this many correlation lengths of the queue, and this many arrivals of
/// each kind that matters.
const TIMES: f64 = 100.0;

/// Expected number of late spells in a simulation whose late share is exactly the allowed share.
const SPELLS: f64 = 10.0;

/// A kind matters if its part of the load, times `busy / (1 - busy)`, exceeds this fraction of the allowed
/// late share.
const MATTERS: f64 = 0.1;

/// The standard error of the late share, relative to the allowed share, at which a simulation is long enough.
const SURE: f64 = 0.1;

/// The distance of the late share from the allowed share, in standard errors, at which a simulation is long
/// enough.
const CLEAR: f64 = 4.0;

/// Batches of a simulation from which its standard error is estimated.
const PARTS: usize = 32;

/// The number of steps of the bisection. Ten steps determine the limit to a thousandth.
const HALVINGS: usize = 10;

/// The maximum utilisation, to a thousandth. `None` if every utilisation is too high, or if the maximum
/// cannot be determined.
pub fn busy_limit(kinds: &[Kind], cores: usize, promise: Promise) -> Option<f64> {
    let queue = Queue::new(kinds, cores, promise);
    if queue.late_after(0.0).most() >= promise.late {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let busy = f64::midpoint(low, high);
        if queue.keeps(busy) { low = busy } else { high = busy }
    }
    Some(low).filter(|busy| *busy > 0.0)
}

/// The share of operations that end late, if the service times of each kind are exponential, and if they are
/// constant.
#[derive(Debug, Clone, Copy, Default)]
struct Late {
    random: f64,
    alike: f64,
}

impl Late {
    fn most(self) -> f64 {
        self.random.max(self.alike)
    }
}

struct Queue {
    /// The weights of the kinds sum to 1.
    kinds: Vec<Kind>,
    mean_s: f64,
    /// The mean of the squared service times, divided by the square of the mean service time.
    scatter: f64,
    cores: usize,
    promise: Promise,
}

impl Queue {
    fn new(kinds: &[Kind], cores: usize, promise: Promise) -> Self {
        let heaviest = kinds.iter().map(|kind| kind.weight).fold(0.0, f64::max);
        let total: f64 = kinds.iter().map(|kind| kind.weight / heaviest).sum();
        let shared = |kind: &Kind| Kind { weight: kind.weight / heaviest / total, ..*kind };
        let kinds: Vec<Kind> = kinds.iter().map(shared).collect();
        let mean =
            |of: fn(f64) -> f64| kinds.iter().map(|kind| kind.weight * of(kind.service_s)).sum::<f64>();
        let mean_s = mean(|time_s| time_s);
        let scatter = mean(|time_s| 2.0 * time_s * time_s) / (mean_s * mean_s);
        Self { kinds, mean_s, scatter, cores, promise }
    }

    /// The share of operations that end late after this wait.
    fn late_after(&self, wait_s: f64) -> Late {
        let left_s = self.promise.within_s - wait_s;
        if left_s <= 0.0 {
            return Late { random: 1.0, alike: 1.0 };
        }
        self.kinds.iter().fold(Late::default(), |late, kind| Late {
            random: late.random + kind.weight * (-left_s / kind.service_s).exp(),
            alike: late.alike + if kind.service_s > left_s { kind.weight } else { 0.0 },
        })
    }

    /// The minimum number of arrivals for a result at this load.
    fn needed(&self, busy: f64) -> f64 {
        let ratio = busy / (1.0 - busy);
        // The queue's correlation length in arrivals: its variance per arrival over the square of its drift.
        let remembers = self.scatter * ratio * ratio;
        let matter = self.kinds.iter().filter(|kind| {
            let of_load = kind.weight * kind.service_s / self.mean_s;
            of_load * ratio > MATTERS * self.promise.late
        });
        let rarest = matter.map(|kind| kind.weight).fold(1.0, f64::min);
        // A late spell lasts one correlation length. If few operations may be late, spells are rare, and a
        // simulation without a spell is too optimistic: with an objective of 300 service times for 99.9 % of
        // operations, nine times as many operations were late as allowed.
        let spells = SPELLS / self.promise.late;
        FEWEST.max(TIMES.max(spells) * remembers).max(TIMES / rarest)
    }

    /// Whether the share of late operations at this load, plus its standard error, is within the promise.
    fn keeps(&self, busy: f64) -> bool {
        let (most, mut arrivals) = (self.promise.late, self.needed(busy));
        while arrivals <= MOST {
            let (late, error) = self.play(busy, arrivals as usize);
            if (late - most).abs() > CLEAR * error || error <= SURE * most {
                return late + error <= most;
            }
            arrivals *= 4.0;
        }
        // A load for which even the longest simulation is too short is refused.
        self.needed(busy) <= MOST && {
            let (late, error) = self.play(busy, MOST as usize);
            late + 2.0 * error <= most
        }
    }

    /// The share of operations that are late at this load, and its standard error.
    fn play(&self, busy: f64, arrivals: usize) -> (f64, f64) {
        let pause_s = self.mean_s / (busy * self.cores as f64);
        let mut dice = fastrand::Rng::with_seed(1997);
        let exponential = |dice: &mut fastrand::Rng, mean_s: f64| -mean_s * (1.0 - dice.f64()).ln();
        // A heap of the times at which the cores become free, the earliest at the top.
        let mut free = vec![0.0; self.cores];
        let (mut now, idle) = (0.0, self.late_after(0.0));
        let mut parts = [Late::default(); PARTS];
        let (part, before) = (arrivals / PARTS, arrivals / 4);
        // The queue begins empty: the first arrivals are not counted.
        for n in 0..before + part * PARTS {
            now += exponential(&mut dice, pause_s);
            let wait_s = f64::max(free[0] - now, 0.0);
            if let Some(sum) = n.checked_sub(before).and_then(|n| parts.get_mut(n / part)) {
                let late = if wait_s > 0.0 { self.late_after(wait_s) } else { idle };
                sum.random += late.random;
                sum.alike += late.alike;
            }
            let service_s = self.deal(dice.f64());
            replace_first(&mut free, now + wait_s + exponential(&mut dice, service_s));
        }
        let judged = |of: fn(&Late) -> f64| {
            let shares = parts.map(|sum| of(&sum) / part as f64);
            let late = shares.iter().sum::<f64>() / PARTS as f64;
            let squares = shares.iter().map(|share| (share - late).powi(2)).sum::<f64>();
            (late, (squares / (PARTS * (PARTS - 1)) as f64).sqrt())
        };
        let (random, alike) = (judged(|late| late.random), judged(|late| late.alike));
        if random.0 >= alike.0 { random } else { alike }
    }

    fn deal(&self, dice: f64) -> f64 {
        let mut left = dice;
        for kind in &self.kinds {
            left -= kind.weight;
            if left < 0.0 {
                return kind.service_s;
            }
        }
        self.kinds.last().map_or(0.0, |kind| kind.service_s)
    }
}

/// Replaces the minimum of a heap.
fn replace_first(heap: &mut [f64], number: f64) {
    let mut at = 0;
    loop {
        let (left, right) = (2 * at + 1, 2 * at + 2);
        let Some(&of_left) = heap.get(left) else { break };
        let (least, of_least) = match heap.get(right) {
            Some(&of_right) if of_right < of_left => (right, of_right),
            _ => (left, of_left),
        };
        if of_least >= number {
            break;
        }
        heap[at] = of_least;
        at = least;
    }
    heap[at] = number;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(service_s: f64) -> [Kind; 1] {
        [Kind { weight: 1.0, service_s }]
    }

    #[test]
    fn the_simulation_of_one_kind_on_one_core_agrees_with_the_m_m_1_formula() {
        // M/M/1: late is exp(-within x (1 - busy) / service).
        for (times, late) in [(2.0, 0.05), (6.0, 0.01), (10.0, 0.001), (75.0, 0.01)] {
            let within_s = times * -f64::ln(late) / 2.0;
            let promise = Promise { within_s, late };
            let found = busy_limit(&one(1.0), 1, promise).unwrap_or_default();
            let of_allowed = (-within_s * (1.0 - found)).exp() / late;
            assert!(found == 0.0 || (0.33..1.1).contains(&of_allowed), "{times}: {found}, {of_allowed}");
        }
    }

    #[test]
    fn the_busy_limit_meets_an_objective_of_hundreds_of_service_times() {
        // Such a long queue is rare, and lasts long. A simulation that is too short contains no such queue.
        for (times, late) in [(200.0, 0.01), (300.0, 0.001)] {
            let found = busy_limit(&one(1.0), 1, Promise { within_s: times, late }).unwrap_or_default();
            let of_allowed = (-times * (1.0 - found)).exp() / late;
            assert!(of_allowed < 1.1, "{times}: {found}, {of_allowed}");
        }
    }

    #[test]
    fn an_objective_that_idle_cores_miss_is_refused() {
        let promise = Promise { within_s: 1.0, late: 0.01 };
        assert_eq!(busy_limit(&one(1.0), 4, promise), None);
        // Operations of the second kind take too long. Their share is 2 % in the first mix and 0.1 % in the
        // second mix; 1 % may be late.
        let mix =
            |weight| [Kind { weight: 100.0 - weight, service_s: 0.001 }, Kind { weight, service_s: 2.0 }];
        assert_eq!(busy_limit(&mix(2.0), 4, promise), None);
        assert!(busy_limit(&mix(0.1), 4, promise).is_some());
        // If service times are constant within a kind, all operations of the first kind are late: 49 % of all
        // operations.
        let halves = [Kind { weight: 0.49, service_s: 0.1001 }, Kind { weight: 0.51, service_s: 1e-4 }];
        let found = busy_limit(&halves, 1, Promise { within_s: 0.1, late: 0.5 });
        assert!(found.is_some_and(|busy| busy < 0.05), "{found:?}");
    }

    #[test]
    fn a_rare_kind_of_very_long_requests_lowers_the_busy_limit() {
        let promise = Promise { within_s: 0.05, late: 0.01 };
        let mix = |weight, service_s| [Kind { weight: 1.0, service_s: 0.001 }, Kind { weight, service_s }];
        // The long requests are 6 % of the load. Therefore the limit is low.
        assert!(busy_limit(&mix(1e-7, 600.0), 1, promise).is_none_or(|busy| busy < 0.02));
        // Long requests that are a ten-thousandth of the load do not lower the limit.
        assert!(busy_limit(&mix(1e-7, 1.0), 1, promise).is_some_and(|busy| busy > 0.85));
    }

    #[test]
    fn a_heap_returns_its_numbers_in_order() {
        let (mut heap, mut dice) = (vec![0.0; 7], fastrand::Rng::with_seed(1));
        let mut kept = heap.clone();
        for _ in 0..500 {
            let number = kept[0] + dice.f64();
            replace_first(&mut heap, number);
            kept[0] = number;
            kept.sort_by(f64::total_cmp);
            assert_eq!(heap[0], kept[0]);
        }
    }
}
