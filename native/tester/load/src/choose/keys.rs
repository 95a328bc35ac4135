//! The choice of an operation's person (method rule 7).
//!
//! | choice | distribution |
//! |---|---|
//! | uniform | all people with the same probability, as in the paper |
//! | zipfian | a few are famous: weight 1/rank^0.99, famous people scattered over the directory |
//! | hotspot | 20 % of the people, scattered over the directory, get 80 % of the operations |
//! | latest | zipfian, with the newest people as the famous ones |
//!
//! One seed, common to all threads and workers of a test, determines the famous people; only the draws differ. So
//! the merged load has the same shares, whatever the number of threads and workers.
//!
//! *Newest* are the people with the highest numbers at the start. People that the run adds do not count: another
//! lane may be about to remove such a person, and only the thread that added a person knows whether the target
//! has the entry.

use serde::{Deserialize, Serialize};

/// YCSB's skew.
const SKEW: f64 = 0.99;

/// The distribution of people over operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    #[default]
    Uniform,
    /// The person of rank r has the weight 1/r^0.99; ranks are scattered over the people.
    Zipfian,
    /// 20 % of the people, scattered, get 80 % of the operations.
    Hotspot,
    /// The person of rank r has the weight 1/r^0.99; the newest person has rank 1.
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
    Hotspot { hot: u64, scatter: Scatter },
    Latest(Zipf),
}

impl Keys {
    /// Prepares draws from `0..count`, which must not be empty. The same `seed` makes the same people famous.
    pub fn new(choice: Choice, count: u64, seed: u64) -> Self {
        let count = count.max(1);
        let scatter = Scatter::new(count, seed);
        let how = match choice {
            Choice::Uniform => How::Uniform,
            Choice::Zipfian => How::Zipfian(Zipf::new(count), scatter),
            Choice::Hotspot => How::Hotspot { hot: (count / 5).max(1), scatter },
            Choice::Latest => How::Latest(Zipf::new(count)),
        };
        Self { count, how }
    }

    #[inline]
    pub fn draw(&self, rng: &mut fastrand::Rng) -> u64 {
        match &self.how {
            How::Uniform => rng.u64(..self.count),
            How::Zipfian(zipf, scatter) => scatter.place(zipf.rank(rng)),
            How::Hotspot { hot, scatter } => {
                let is_hot = *hot == self.count || rng.f64() < 0.8;
                scatter.place(if is_hot { rng.u64(..*hot) } else { rng.u64(*hot..self.count) })
            }
            How::Latest(zipf) => self.count - 1 - zipf.rank(rng),
        }
    }
}

/// Ranks from 0, weight 1/(rank + 1)^0.99: exact, in constant time and without a table.
///
/// Rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone
/// discrete distributions", ACM TOMACS 6(3), 1996): a point is drawn under the continuous curve x^-0.99, and
/// taken unless it lies between the curve and the bar of its rank, which is rare.
#[derive(Debug, Clone)]
struct Zipf {
    count: f64,
    /// The bounds of the area from which points are drawn. The part of the first rank is cut to its weight.
    first: f64,
    last: f64,
    /// The distance below its rank within which a point is accepted without a test.
    near: f64,
}

impl Zipf {
    fn new(count: u64) -> Self {
        let near = 2.0 - area_end(area(2.5) - weight(2.0));
        Self { count: count as f64, first: area(1.5) - 1.0, last: area(count as f64 + 0.5), near }
    }

    #[inline]
    fn rank(&self, rng: &mut fastrand::Rng) -> u64 {
        loop {
            let drawn = self.last + rng.f64() * (self.first - self.last);
            let x = area_end(drawn);
            let number = (x + 0.5).floor().clamp(1.0, self.count);
            if number - x <= self.near || drawn >= area(number + 0.5) - weight(number) {
                return number as u64 - 1;
            }
        }
    }
}

/// The weight of the rank with this number, from 1.
fn weight(number: f64) -> f64 {
    number.powf(-SKEW)
}

/// The area under the weights' curve up to `x`.
fn area(x: f64) -> f64 {
    x.powf(1.0 - SKEW) / (1.0 - SKEW)
}

/// The inverse of [`area`].
fn area_end(area: f64) -> f64 {
    (area * (1.0 - SKEW)).powf(1.0 / (1.0 - SKEW))
}

/// A one-to-one map of ranks to people, so that popularity is independent of the order of entries.
///
/// YCSB hashes the rank instead, which gives some people several ranks and other people no rank.
#[derive(Debug, Clone)]
struct Scatter {
    count: u64,
    factor: u64,
    offset: u64,
}

impl Scatter {
    fn new(count: u64, seed: u64) -> Self {
        // With a factor near the golden section, neighbouring ranks belong to distant people. Any factor
        // without a common divisor is one-to-one.
        let mut factor = ((count as f64 * 0.618_033_988_75) as u64).max(1);
        while gcd(factor, count) != 1 {
            factor += 1;
        }
        Self { count, factor, offset: fastrand::Rng::with_seed(seed).u64(..count) }
    }

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

    const SEED: u64 = 1997;

    /// How often each person is drawn by several threads or workers. All have the same famous people, and
    /// each has its own seed for draws.
    fn histogram(choice: Choice, count: u64, draws: u64, streams: u64) -> Vec<u64> {
        let mut seen = vec![0; count as usize];
        for stream in 0..streams {
            let keys = Keys::new(choice, count, SEED);
            let mut rng = fastrand::Rng::with_seed(42 + stream);
            for _ in 0..draws / streams {
                seen[keys.draw(&mut rng) as usize] += 1;
            }
        }
        seen
    }

    /// Sorts the counts of people by the rank of their popularity.
    fn by_rank(seen: &[u64]) -> Vec<u64> {
        let scatter = Scatter::new(seen.len() as u64, SEED);
        (0..seen.len() as u64).map(|rank| seen[scatter.place(rank) as usize]).collect()
    }

    /// The chi-square of counts against the zipfian weights. Ranks 1 to 20 have a cell each; the size of
    /// later cells doubles.
    fn chi_square(ranks: &[u64]) -> f64 {
        let weights: Vec<f64> = (1..=ranks.len()).map(|number| weight(number as f64)).collect();
        let scale = ranks.iter().sum::<u64>() as f64 / weights.iter().sum::<f64>();
        let doubled = (0..).map(|n| 40 << n).take_while(|&end| end < ranks.len());
        let bounds: Vec<usize> = (0..=20).chain(doubled).chain([ranks.len()]).collect();
        let of = |cell: &[usize]| {
            let expected = scale * weights[cell[0]..cell[1]].iter().sum::<f64>();
            (ranks[cell[0]..cell[1]].iter().sum::<u64>() as f64 - expected).powi(2) / expected
        };
        bounds.windows(2).map(of).sum()
    }

    /// A chi-square of 26 cells (25 degrees of freedom) exceeds this value once in ten thousand cases.
    const CELLS_26: f64 = 60.4;

    #[test]
    fn uniform_draws_pass_a_chi_square_test() {
        let seen = histogram(Choice::Uniform, 100, 1_000_000, 1);
        let chi: f64 = seen.iter().map(|&n| (n as f64 - 10_000.0).powi(2) / 10_000.0).sum();
        // A chi-square with 99 degrees of freedom has the mean 99, and exceeds 161 once in ten thousand
        // cases.
        assert!((50.0..161.0).contains(&chi), "{chi}");
    }

    #[test]
    fn zipfian_draws_give_each_rank_its_weight() {
        let ranks = by_rank(&histogram(Choice::Zipfian, 1_000, 5_000_000, 1));
        let chi = chi_square(&ranks);
        assert!(chi < CELLS_26, "{chi}");
        assert!(ranks.iter().all(|&n| n > 0), "every person has a rank");
        // The popular people are not simply the first people.
        assert!(by_rank(&ranks) != ranks);
    }

    #[test]
    fn the_popular_people_do_not_depend_on_the_number_of_streams() {
        for streams in [1, 4, 8] {
            let chi = chi_square(&by_rank(&histogram(Choice::Zipfian, 1_000, 400_000, streams)));
            assert!(chi < CELLS_26, "{streams} streams: {chi}");
        }
    }

    #[test]
    fn a_scattered_fifth_of_the_people_gets_80_percent_of_hotspot_draws() {
        let seen = histogram(Choice::Hotspot, 1_000, 100_000, 4);
        // A hot person is drawn 400 times on average, any other person 25 times.
        let hot: Vec<usize> = (0..1_000).filter(|&person| seen[person] > 200).collect();
        let draws: u64 = hot.iter().map(|&person| seen[person]).sum();
        // 80,000 draws are expected, with a standard deviation of 126.
        assert!((79_400..80_600).contains(&draws), "{draws}");
        assert!(seen.iter().all(|&n| n > 0));
        assert_eq!(hot.len(), 200);
        for tenth in 0..10 {
            let there = hot.iter().filter(|&person| person / 100 == tenth).count();
            assert!((15..=25).contains(&there), "{there} of 200 in tenth {tenth}");
        }
    }

    #[test]
    fn draws_of_choice_latest_prefer_the_newest_people_by_zipfian_weights() {
        let mut seen = histogram(Choice::Latest, 1_000, 400_000, 2);
        seen.reverse();
        let chi = chi_square(&seen);
        assert!(chi < CELLS_26, "{chi}");
    }

    proptest! {
        #[test]
        fn drawn_keys_stay_in_range(count in 1u64..2_000, seed: u64) {
            for choice in [Choice::Uniform, Choice::Zipfian, Choice::Hotspot, Choice::Latest] {
                let keys = Keys::new(choice, count, seed);
                let mut rng = fastrand::Rng::with_seed(seed);
                prop_assert!((0..200).all(|_| keys.draw(&mut rng) < count));
            }
        }

        #[test]
        fn scattering_of_keys_is_one_to_one(count in 1u64..3_000, seed: u64) {
            let scatter = Scatter::new(count, seed);
            let places: std::collections::HashSet<_> = (0..count).map(|rank| scatter.place(rank)).collect();
            prop_assert_eq!(places.len() as u64, count);
        }
    }
}
