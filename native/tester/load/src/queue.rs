//! How busy several cores may be with a mix of operations before too many of them end late.
//!
//! One queue, first come first served; arrivals at random (Poisson), and service times at random, exponential
//! around the mean of each kind. There is no formula for the late share of such a mix, so it is found by
//! playing arrivals through: always the same random numbers, so that more load makes every wait longer and
//! the load that is looked for can be bisected.

/// A kind of operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind {
    /// How often it comes, in proportion to the others.
    pub weight: f64,
    /// How long an idle core takes for it on average.
    pub service_s: f64,
}

/// What is asked of the operations together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// How long they may take.
    pub within_s: f64,
    /// The share that may take longer.
    pub late: f64,
}

/// Arrivals that are played through at first, and at most.
const FEWEST: usize = 1 << 18;
const MOST: usize = 1 << 22;

/// The standard error of the late share, of what is allowed, at which more arrivals are not needed.
const SURE: f64 = 0.03;

/// Standard errors between the late share and what is allowed at which more arrivals are not needed either.
const CLEAR: f64 = 4.0;

/// Parts of a play by which its standard error is judged.
const PARTS: usize = 32;

/// Halvings of the load: to a thousandth.
const HALVINGS: usize = 10;

/// Returns how busy the cores may be, or nothing if even idle ones are too slow.
pub fn busy_limit(kinds: &[Kind], cores: usize, promise: Promise) -> Option<f64> {
    let queue = Queue::new(kinds, cores, promise.within_s);
    let slow = kinds.iter().filter(|kind| kind.service_s >= promise.within_s).map(|kind| kind.weight);
    // Where times vary less than these do, all of a slow kind are late.
    if slow.sum::<f64>() / queue.weight >= promise.late || queue.late_alone(0.0) >= promise.late {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let busy = f64::midpoint(low, high);
        if queue.keeps(busy, promise.late) { low = busy } else { high = busy }
    }
    Some(low).filter(|busy| *busy > 0.0)
}

struct Queue<'k> {
    kinds: &'k [Kind],
    weight: f64,
    mean_s: f64,
    cores: usize,
    within_s: f64,
}

impl<'k> Queue<'k> {
    fn new(kinds: &'k [Kind], cores: usize, within_s: f64) -> Self {
        let weight = kinds.iter().map(|kind| kind.weight).sum();
        let mean_s = kinds.iter().map(|kind| kind.weight * kind.service_s).sum::<f64>() / weight;
        Self { kinds, weight, mean_s, cores, within_s }
    }

    /// The share of operations that end late after this wait.
    fn late_alone(&self, wait_s: f64) -> f64 {
        let left_s = self.within_s - wait_s;
        if left_s <= 0.0 {
            return 1.0;
        }
        self.kinds.iter().map(|kind| kind.weight * (-left_s / kind.service_s).exp()).sum::<f64>()
            / self.weight
    }

    /// Whether at most so many are late at this load, on the safe side of what is not known exactly.
    fn keeps(&self, busy: f64, most: f64) -> bool {
        let mut arrivals = FEWEST;
        loop {
            let (late, error) = self.play(busy, arrivals);
            let is_clear = (late - most).abs() > CLEAR * error || error <= SURE * most;
            if is_clear || arrivals >= MOST {
                return late + error <= most;
            }
            arrivals *= 4;
        }
    }

    /// The late share at this load, and its standard error.
    fn play(&self, busy: f64, arrivals: usize) -> (f64, f64) {
        let pause_s = self.mean_s / (busy * self.cores as f64);
        let mut dice = fastrand::Rng::with_seed(1997);
        let exponential = |dice: &mut fastrand::Rng, mean_s: f64| -mean_s * (1.0 - dice.f64()).ln();
        // When each core has done what has come so far, the first one first.
        let mut free = vec![0.0; self.cores];
        let (mut now, idle) = (0.0, self.late_alone(0.0));
        let mut parts = [0.0; PARTS];
        let part = arrivals / PARTS;
        // The queue begins empty: what comes first is not counted.
        for n in 0..arrivals + part {
            now += exponential(&mut dice, pause_s);
            let wait_s = f64::max(free[0] - now, 0.0);
            if let Some(sum) = n.checked_sub(part).and_then(|n| parts.get_mut(n / part)) {
                *sum += if wait_s > 0.0 { self.late_alone(wait_s) } else { idle };
            }
            let service_s = self.deal(dice.f64());
            let ends = now + wait_s + exponential(&mut dice, service_s);
            let place = free.partition_point(|other| *other < ends).max(1);
            free.copy_within(1..place, 0);
            free[place - 1] = ends;
        }
        let shares = parts.map(|sum| sum / part as f64);
        let late = shares.iter().sum::<f64>() / PARTS as f64;
        let squares = shares.iter().map(|share| (share - late).powi(2)).sum::<f64>();
        (late, (squares / (PARTS * (PARTS - 1)) as f64).sqrt())
    }

    fn deal(&self, dice: f64) -> f64 {
        let mut left = dice * self.weight;
        for kind in self.kinds {
            left -= kind.weight;
            if left < 0.0 {
                return kind.service_s;
            }
        }
        self.kinds.last().map_or(0.0, |kind| kind.service_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(service_s: f64) -> [Kind; 1] {
        [Kind { weight: 1.0, service_s }]
    }

    #[test]
    fn one_kind_at_one_core_is_what_theory_has_in_a_formula() {
        // M/M/1: late is exp(-within x (1 - busy) / service).
        for (times, late) in [(2.0, 0.05), (6.0, 0.01), (10.0, 0.001), (30.0, 0.01)] {
            let within_s = times * -f64::ln(late) / 2.0;
            let found = busy_limit(&one(1.0), 1, Promise { within_s, late });
            let known = 1.0 + late.ln() / within_s;
            match found {
                Some(found) => assert!((found - known).abs() < 0.02, "{times}: {found} for {known}"),
                None => assert!(known <= 0.0, "{times}: none for {known}"),
            }
        }
    }

    #[test]
    fn what_idle_cores_cannot_do_is_refused() {
        let promise = Promise { within_s: 1.0, late: 0.01 };
        assert_eq!(busy_limit(&one(1.0), 4, promise), None);
        // One in fifty takes longer than is allowed; of a hundredth that may be so.
        let mix =
            |weight| [Kind { weight: 100.0 - weight, service_s: 0.001 }, Kind { weight, service_s: 2.0 }];
        assert_eq!(busy_limit(&mix(2.0), 4, promise), None);
        assert!(busy_limit(&mix(0.1), 4, promise).is_some());
    }
}
