//! Which person an operation is about (method rule 7).
//!
//! | choice | what it stands for |
//! |---|---|
//! | uniform | all with the same probability: the paper's |
//! | zipfian | a few are famous: weight 1/rank^0.99, famous people scattered over the directory |
//! | hotspot | 20 % of the people get 80 % of the operations |
//! | latest | zipfian again, the newest people the famous ones |
//!
//! The zipfian draw is that of Gray et al., "Quickly generating billion-record synthetic databases"
//! (SIGMOD 1994), which YCSB uses too: constant time, no table. Two ranks come out exactly, the rest by
//! a continuous approximation that is off by a few per cent for ranks 3 to 10.

use serde::{Deserialize, Serialize};

/// YCSB's skew.
const SKEW: f64 = 0.99;

/// Terms of the zeta sum that are added one by one; the rest follows Euler and Maclaurin.
const EXACT_TERMS: u64 = 10_000;

/// The distribution of people over operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// All with the same probability.
    #[default]
    Uniform,
    /// Weight 1/rank^0.99, ranks scattered.
    Zipfian,
    /// 80 % to the first 20 %.
    Hotspot,
    /// Weight 1/rank^0.99, the newest person first.
    Latest,
}

/// Draws people from `0..count`.
#[derive(Debug, Clone)]
pub struct Keys {
    count: u64,
    how: How,
}

#[derive(Debug, Clone)]
enum How {
    Uniform,
    Zipfian(Zipf, Scatter),
    Hotspot { hot: u64 },
    Latest(Zipf),
}

impl Keys {
    /// Prepares draws from `0..count`, which must not be empty.
    pub fn new(choice: Choice, count: u64, seed: u64) -> Self {
        let count = count.max(1);
        let how = match choice {
            Choice::Uniform => How::Uniform,
            Choice::Zipfian => How::Zipfian(Zipf::new(count), Scatter::new(count, seed)),
            Choice::Hotspot => How::Hotspot { hot: (count / 5).max(1) },
            Choice::Latest => How::Latest(Zipf::new(count)),
        };
        Self { count, how }
    }

    #[inline]
    pub fn draw(&self, rng: &mut fastrand::Rng) -> u64 {
        match &self.how {
            How::Uniform => rng.u64(..self.count),
            How::Zipfian(zipf, scatter) => scatter.place(zipf.rank(rng.f64())),
            How::Hotspot { hot } => {
                if *hot == self.count || rng.f64() < 0.8 {
                    rng.u64(..*hot)
                } else {
                    rng.u64(*hot..self.count)
                }
            }
            How::Latest(zipf) => self.count - 1 - zipf.rank(rng.f64()),
        }
    }
}

/// Ranks from 0, weight 1/(rank + 1)^0.99.
#[derive(Debug, Clone)]
struct Zipf {
    count: u64,
    zeta: f64,
    eta: f64,
    first_two: f64,
}

impl Zipf {
    fn new(count: u64) -> Self {
        let zeta = zeta(count);
        let first_two = 1.0 + 0.5f64.powf(SKEW);
        let eta = (1.0 - (2.0 / count as f64).powf(1.0 - SKEW)) / (1.0 - first_two / zeta);
        Self { count, zeta, eta, first_two }
    }

    #[inline]
    fn rank(&self, uniform: f64) -> u64 {
        let scaled = uniform * self.zeta;
        if scaled < 1.0 {
            return 0;
        }
        if scaled < self.first_two {
            return 1.min(self.count - 1);
        }
        let spread = (self.eta * uniform - self.eta + 1.0).powf(1.0 / (1.0 - SKEW));
        ((self.count as f64 * spread) as u64).min(self.count - 1)
    }
}

/// The sum of 1/k^0.99 for k from 1 to `count`.
fn zeta(count: u64) -> f64 {
    let exact = count.min(EXACT_TERMS);
    let sum: f64 = (1..=exact).map(|k| (k as f64).powf(-SKEW)).sum();
    let (a, b) = (exact as f64, count as f64);
    let integral = (b.powf(1.0 - SKEW) - a.powf(1.0 - SKEW)) / (1.0 - SKEW);
    let ends = (b.powf(-SKEW) - a.powf(-SKEW)) / 2.0;
    sum + integral + ends
}

/// A one-to-one map of ranks to people, so that fame has nothing to do with where entries lie.
///
/// YCSB hashes the rank instead, which makes some people share two ranks and gives others none.
#[derive(Debug, Clone)]
struct Scatter {
    count: u64,
    factor: u64,
    offset: u64,
}

impl Scatter {
    fn new(count: u64, seed: u64) -> Self {
        // Near the golden section neighbours land far apart; any factor without a common divisor is
        // one-to-one.
        let mut factor = ((count as f64 * 0.618_033_988_75) as u64).max(1);
        while gcd(factor, count) != 1 {
            factor += 1;
        }
        Self { count, factor, offset: fastrand::Rng::with_seed(seed).u64(..count) }
    }

    #[inline]
    fn place(&self, rank: u64) -> u64 {
        let product = u128::from(rank) * u128::from(self.factor) + u128::from(self.offset);
        (product % u128::from(self.count)) as u64
    }
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(choice: Choice, count: u64, draws: u64) -> Vec<u64> {
        let keys = Keys::new(choice, count, 1997);
        let mut rng = fastrand::Rng::with_seed(42);
        let mut seen = vec![0; count as usize];
        for _ in 0..draws {
            seen[keys.draw(&mut rng) as usize] += 1;
        }
        seen
    }

    #[test]
    fn uniform_passes_a_chi_square_test() {
        let seen = histogram(Choice::Uniform, 100, 1_000_000);
        let chi: f64 = seen.iter().map(|&n| (n as f64 - 10_000.0).powi(2) / 10_000.0).sum();
        // 99 degrees of freedom: mean 99, and 161 is exceeded once in ten thousand.
        assert!((50.0..161.0).contains(&chi), "{chi}");
    }

    #[test]
    fn zipfian_gives_each_rank_its_weight() {
        let mut seen = histogram(Choice::Zipfian, 1_000, 2_000_000);
        let most = (0..1000).max_by_key(|&i| seen[i as usize]).unwrap();
        assert_ne!(most, 0, "the most famous is not simply the first");
        seen.sort_unstable_by(|a, b| b.cmp(a));
        let zeta = zeta(1_000);
        for rank in [1u64, 2, 20, 100, 500] {
            let expected = 2_000_000.0 / zeta / (rank as f64).powf(SKEW);
            let off = seen[rank as usize - 1] as f64 / expected - 1.0;
            assert!(off.abs() < 0.1, "rank {rank} is off by {off:.3}");
        }
        assert!(seen.iter().all(|&n| n > 0), "every person has a rank");
    }

    #[test]
    fn hotspot_gives_80_percent_to_20_percent() {
        let seen = histogram(Choice::Hotspot, 1_000, 100_000);
        let hot: u64 = seen[..200].iter().sum();
        assert!((79_000..81_000).contains(&hot), "{hot}");
        assert!(seen.iter().all(|&n| n > 0));
    }

    #[test]
    fn latest_prefers_the_newest() {
        let seen = histogram(Choice::Latest, 1_000, 100_000);
        assert!(seen[999] > seen[998] && seen[998] > seen[900] && seen[999] > 10_000, "{}", seen[999]);
    }

    #[test]
    fn zeta_of_a_million_is_that_of_the_plain_sum() {
        let plain: f64 = (1..=1_000_000u32).map(|k| f64::from(k).powf(-SKEW)).sum();
        assert!((zeta(1_000_000) - plain).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn draws_stay_in_range(count in 1u64..2_000, seed: u64) {
            for choice in [Choice::Uniform, Choice::Zipfian, Choice::Hotspot, Choice::Latest] {
                let keys = Keys::new(choice, count, seed);
                let mut rng = fastrand::Rng::with_seed(seed);
                prop_assert!((0..200).all(|_| keys.draw(&mut rng) < count));
            }
        }

        #[test]
        fn scattering_is_one_to_one(count in 1u64..3_000, seed: u64) {
            let scatter = Scatter::new(count, seed);
            let places: std::collections::HashSet<_> = (0..count).map(|rank| scatter.place(rank)).collect();
            prop_assert_eq!(places.len() as u64, count);
        }
    }
}
