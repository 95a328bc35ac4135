//! The choice of the next row of a source.
//!
//! | deal | rows of a thread |
//! |---|---|
//! | shuffled | each of its rows once per round, each round in a new random order |
//! | in-order | the rows from the first on, and from the first again |
//! | once | the rows from the first to the last, each once |
//! | exclusive | as shuffled, but no row that another lane holds |
//!
//! Engine *w* of *W* deals the rows `w mod W`; engines do not communicate. In *in-order* and *once* deals the
//! threads of an engine take rows from one counter, so that they progress through the rows together. In the
//! other deals each thread has its own part of the rows, and threads share nothing: part *k* of *K* has the
//! rows `k mod K`. With fewer rows than parts, each part has all rows; but in *once* and *exclusive* deals,
//! where no two users may have the same row, some parts are empty.
//!
//! The order is a function of the seed and the part, and of the counter if there is one.

use std::sync::Arc;

use serde::Deserialize;

use super::owned_keys::OwnedKeys;
use super::ring::{Ring, RingCursor};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deal {
    #[default]
    Shuffled,
    InOrder,
    Once,
    /// Shuffled; a row is used by one lane at a time.
    Exclusive,
}

/// One of the engines that share a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharer {
    /// The index of this engine, from 0.
    pub index: u64,
    pub of: u64,
    pub threads: u64,
}

impl Sharer {
    /// The first row of one of an engine's threads, and the distance to the next.
    ///
    /// Whatever its number of threads, an engine deals the rows `index` modulo `of`: other sharers may have another
    /// number of threads, or be other programs.
    pub(crate) const fn of_thread(self, thread: u64) -> (u64, u64) {
        (self.index + self.of * thread, self.of * self.threads)
    }
}

/// The `count` rows `first`, `first + stride`, ...
#[derive(Debug, Clone, Copy)]
struct Part {
    first: u64,
    stride: u64,
    count: u64,
}

impl Part {
    fn new(rows: u64, first: u64, stride: u64) -> Self {
        Self { first, stride, count: rows.saturating_sub(first).div_ceil(stride) }
    }

    /// Like [`Part::new`], but a part has all rows if some parts would be empty.
    fn or_all(rows: u64, first: u64, stride: u64) -> Self {
        if rows < stride { Self::new(rows, 0, 1) } else { Self::new(rows, first, stride) }
    }

    const fn row(self, place: u64) -> u64 {
        self.first + place * self.stride
    }
}

/// A source's rows, to be dealt to the threads of one engine.
#[derive(Debug, Clone)]
pub struct Dealer {
    deal: Deal,
    rows: u64,
    seed: u64,
    sharer: Sharer,
    /// Used in *in-order* and *once* deals.
    part: Part,
    counter: Arc<Ring>,
}

impl Dealer {
    pub fn new(deal: Deal, rows: u64, seed: u64, sharer: Sharer) -> Self {
        let part = match deal {
            Deal::Once => Part::new(rows, sharer.index, sharer.of),
            _ => Part::or_all(rows, sharer.index, sharer.of),
        };
        // *Once* deals hand out single rows: with blocks, a thread whose users have ended would lose the rest
        // of its block.
        let takers = if deal == Deal::Once { part.count } else { sharer.threads };
        let counter = Arc::new(Ring::new(0, part.count, takers));
        Self { deal, rows, seed, sharer, part, counter }
    }

    pub fn cursor(&self, thread: u64) -> RowCursor {
        let (first, stride) = self.sharer.of_thread(thread);
        let how = match self.deal {
            Deal::Shuffled => {
                How::Shuffled(Shuffled::new(Part::or_all(self.rows, first, stride), self.seed, first))
            }
            Deal::InOrder | Deal::Once => {
                let ends = self.deal == Deal::Once;
                How::InOrder { part: self.part, cursor: RingCursor::new(self.counter.clone()), ends }
            }
            Deal::Exclusive => How::Exclusive {
                shuffled: Shuffled::new(Part::new(self.rows, first, stride), self.seed, first),
                owned_keys: OwnedKeys::new(self.rows, first, stride),
            },
        };
        RowCursor { how, lost: 0 }
    }
}

#[derive(Debug)]
pub struct RowCursor {
    how: How,
    /// Exclusive rows that are lost: a change to the row was not answered, and may still take place.
    pub(crate) lost: u64,
}

#[derive(Debug)]
enum How {
    Shuffled(Shuffled),
    InOrder { part: Part, cursor: RingCursor, ends: bool },
    Exclusive { shuffled: Shuffled, owned_keys: OwnedKeys },
}

impl RowCursor {
    /// Takes the next row. `None` if all rows were dealt, or if lanes hold all rows.
    #[inline]
    pub fn take(&mut self) -> Option<u64> {
        match &mut self.how {
            How::Shuffled(shuffled) => shuffled.take(),
            How::InOrder { part, .. } if part.count == 0 => None,
            How::InOrder { part, cursor, ends } => {
                let key = cursor.take();
                (!*ends || !key.used_before).then(|| part.row(key.person))
            }
            How::Exclusive { shuffled, owned_keys } => owned_keys.take(shuffled.take()?),
        }
    }

    pub fn give_back(&mut self, row: u64) {
        if let How::Exclusive { owned_keys, .. } = &mut self.how {
            owned_keys.give_back(row);
        }
    }

    pub fn has_lost_all(&self) -> bool {
        matches!(&self.how, How::Exclusive { shuffled, .. } if self.lost >= shuffled.part.count)
    }
}

#[derive(Debug)]
struct Shuffled {
    part: Part,
    key: u64,
    round: u64,
    place: u64,
    order: Permutation,
}

impl Shuffled {
    fn new(part: Part, seed: u64, number: u64) -> Self {
        let key = mix(mix(seed) ^ number);
        Self { part, key, round: 0, place: 0, order: Permutation::new(part.count, mix(key)) }
    }

    #[inline]
    fn take(&mut self) -> Option<u64> {
        if self.place == self.part.count {
            if self.place == 0 {
                return None;
            }
            (self.round, self.place) = (self.round + 1, 0);
            self.order = Permutation::new(self.part.count, mix(self.key ^ self.round));
        }
        let place = self.order.of(self.place);
        self.place += 1;
        Some(self.part.row(place))
    }
}

/// A keyed permutation of `0..count`.
#[derive(Debug, Clone)]
enum Permutation {
    /// A table, for few places: a Feistel network would not make all orders equally likely.
    Few([u8; FEW]),
    Many(Feistel),
}

const FEW: usize = 64;

impl Permutation {
    fn new(count: u64, key: u64) -> Self {
        if count > FEW as u64 {
            return Self::Many(Feistel::new(count, key));
        }
        // Fisher and Yates's shuffle.
        let mut order = std::array::from_fn(|place| place as u8);
        for place in (1..count as usize).rev() {
            let chance = u128::from(mix(key ^ place as u64));
            order.swap(place, ((chance * (place as u128 + 1)) >> 64) as usize);
        }
        Self::Few(order)
    }

    /// The image of `place`, which must be below `count`.
    #[inline]
    fn of(&self, place: u64) -> u64 {
        match self {
            Self::Few(order) => u64::from(order[place as usize % FEW]),
            Self::Many(network) => network.of(place),
        }
    }
}

/// Rounds of the Feistel network. With many places, four rounds are a pseudorandom permutation (Luby and
/// Rackoff, "How to construct pseudorandom permutations from pseudorandom functions", 1988). With a hundred
/// places, the first two outputs of four rounds were not uniform (chi-square 4,618 at 4,159 degrees of
/// freedom); the outputs of six rounds were.
const STEPS: usize = 6;

/// A permutation without a table: a Feistel network over as many bits as the last place has, repeated until
/// the result is a place (cycle walking: Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
/// On average this takes less than two walks.
#[derive(Debug, Clone)]
struct Feistel {
    count: u64,
    /// The number of bits in the left half, and in the right half.
    left: u32,
    right: u32,
    keys: [u64; STEPS],
}

impl Feistel {
    fn new(count: u64, key: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let left = bits / 2;
        Self { count, left, right: bits - left, keys: std::array::from_fn(|step| mix(key ^ step as u64)) }
    }

    #[inline]
    fn of(&self, place: u64) -> u64 {
        let mut at = place;
        loop {
            at = self.walk(at);
            if at < self.count {
                return at;
            }
        }
    }

    #[inline]
    fn walk(&self, at: u64) -> u64 {
        let (narrow, wide) = ((1 << self.left) - 1, (1 << self.right) - 1);
        let (mut left, mut right) = (at >> self.right, at & wide);
        // Each step swaps the halves, whose lengths may differ. After an even number of steps, each half has
        // its first length.
        for keys in self.keys.chunks_exact(2) {
            (left, right) = (right, (left ^ mix(right ^ keys[0])) & narrow);
            (left, right) = (right, (left ^ mix(right ^ keys[1])) & wide);
        }
        (left << self.right) | right
    }
}

/// SplitMix64's increment.
const G: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA
/// 2014), applied after the increment.
#[inline]
const fn mix(z: u64) -> u64 {
    let z = z.wrapping_add(G);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use proptest::prelude::*;

    const SEED: u64 = 1997;
    const ALONE: Sharer = Sharer { index: 0, of: 1, threads: 1 };

    #[test]
    fn the_threads_of_all_engines_together_get_each_row_once() {
        let (engines, rows) = ([1, 2, 5], 1_000);
        let mut had_by = vec![0; rows];
        for (index, threads) in engines.into_iter().enumerate() {
            let sharer = Sharer { index: index as u64, of: engines.len() as u64, threads };
            for thread in 0..threads {
                let (first, stride) = sharer.of_thread(thread);
                (first as usize..rows).step_by(stride as usize).for_each(|row| had_by[row] += 1);
            }
        }
        assert!(had_by.iter().all(|&threads| threads == 1));
    }

    fn alone(deal: Deal, rows: u64, seed: u64) -> RowCursor {
        Dealer::new(deal, rows, seed, ALONE).cursor(0)
    }

    fn taken(cursor: &mut RowCursor, rows: u64) -> Vec<u64> {
        (0..rows).map(|_| cursor.take().unwrap()).collect()
    }

    /// Counts how often each row was dealt.
    fn counted(rows: u64, came: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut seen = vec![0; rows as usize];
        came.into_iter().for_each(|row| seen[row as usize] += 1);
        seen
    }

    fn dealers(deal: Deal, rows: u64, of: u64, threads: u64) -> Vec<Dealer> {
        (0..of).map(|index| Dealer::new(deal, rows, SEED, Sharer { index, of, threads })).collect()
    }

    fn orders(count: u64, rounds: u64) -> impl Iterator<Item = Vec<u64>> {
        (0..rounds).map(move |round| {
            let order = Permutation::new(count, mix(round));
            (0..count).map(|place| order.of(place)).collect()
        })
    }

    /// How often each outcome occurred.
    fn tally<T: Eq + std::hash::Hash>(outcomes: impl Iterator<Item = T>) -> Vec<u64> {
        let mut counts = std::collections::HashMap::new();
        outcomes.for_each(|outcome| *counts.entry(outcome).or_insert(0) += 1);
        counts.into_values().collect()
    }

    fn chi_square(seen: &[u64]) -> f64 {
        let expected = seen.iter().sum::<u64>() as f64 / seen.len() as f64;
        seen.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum()
    }

    proptest! {
        #[test]
        fn each_round_of_a_shuffled_deal_has_each_row_once(
            rows in 1u64..300, of in 1u64..5, threads in 1u64..5, rounds in 1usize..4,
        ) {
            let dealers = dealers(Deal::Shuffled, rows, of, threads);
            let mut parts: Vec<_> =
                dealers.iter().flat_map(|dealer| (0..threads).map(|n| dealer.cursor(n))).collect();
            let shared = rows >= of * threads;
            for _ in 0..rounds {
                let mut came = Vec::new();
                for (part, cursor) in parts.iter_mut().enumerate() {
                    let first = part as u64 % threads * of + part as u64 / threads;
                    let its = if shared { (rows - first).div_ceil(of * threads) } else { rows };
                    let dealt = taken(cursor, its);
                    prop_assert!(shared || counted(rows, dealt.iter().copied()).iter().all(|&n| n == 1));
                    came.extend(dealt);
                }
                let times = if shared { 1 } else { of * threads };
                prop_assert!(counted(rows, came).iter().all(|&n| n == times));
            }
        }

        #[test]
        fn a_deal_without_repetition_gives_each_row_once_and_ends(
            rows in prop_oneof![0u64..6, 0u64..2_000],
            of in 1u64..5,
            threads in 1u64..5,
            turns in prop::collection::vec(0u64..4, 1..50),
        ) {
            let mut came = Vec::new();
            for dealer in dealers(Deal::Once, rows, of, threads) {
                let mut cursors: Vec<_> = (0..threads).map(|n| dealer.cursor(n)).collect();
                for turn in &turns {
                    came.extend(cursors[(*turn % threads) as usize].take());
                }
                for cursor in &mut cursors {
                    came.extend(std::iter::from_fn(|| cursor.take()));
                    prop_assert_eq!(cursor.take(), None);
                }
            }
            prop_assert!(counted(rows, came).iter().all(|&n| n == 1));
        }

        #[test]
        fn the_threads_of_an_ordered_deal_complete_each_round_together(
            rows in 1u64..30, of in 1u64..4, threads in 1u64..4, rounds in 1u64..4, turn in 0u64..7,
        ) {
            for (index, dealer) in dealers(Deal::InOrder, rows, of, threads).iter().enumerate() {
                let its: Vec<u64> =
                    (0..rows).filter(|row| rows < of || row % of == index as u64).collect();
                let mut cursors: Vec<_> = (0..threads).map(|n| dealer.cursor(n)).collect();
                // With so few rows, a block is a single row.
                let came = (0..its.len() as u64 * rounds)
                    .map(|n| cursors[((n * turn + n / 3) % threads) as usize].take().unwrap());
                prop_assert!(came.eq(its.iter().copied().cycle().take(its.len() * rounds as usize)));
            }
        }

        #[test]
        fn no_thread_gets_the_exclusive_row_of_another_thread(
            rows in 0u64..60,
            of in 1u64..4,
            threads in 1u64..4,
            turns in prop::collection::vec(any::<u8>(), 200),
        ) {
            let dealers = dealers(Deal::Exclusive, rows, of, threads);
            let mut cursors: Vec<_> =
                dealers.iter().flat_map(|dealer| (0..threads).map(|n| dealer.cursor(n))).collect();
            let mut held: Vec<(usize, u64)> = Vec::new();
            for turn in turns {
                let one = turn as usize % cursors.len();
                if turn > 160 && !held.is_empty() {
                    let (whose, row) = held.swap_remove(turn as usize % held.len());
                    cursors[whose].give_back(row);
                } else if let Some(row) = cursors[one].take() {
                    prop_assert!(row < rows && held.iter().all(|(_, other)| *other != row));
                    held.push((one, row));
                }
            }
            held.into_iter().for_each(|(whose, row)| cursors[whose].give_back(row));
            let all: Vec<u64> =
                cursors.iter_mut().flat_map(|cursor| std::iter::from_fn(|| cursor.take())).collect();
            prop_assert!(counted(rows, all).iter().all(|&n| n == 1));
        }

        #[test]
        fn a_permutation_contains_each_position_once(count in 1u64..3_000, key: u64) {
            let order = Permutation::new(count, key);
            prop_assert!(counted(count, (0..count).map(|place| order.of(place))).iter().all(|&n| n == 1));
        }
    }

    #[test]
    fn a_deal_of_no_rows_gives_no_row() {
        for deal in [Deal::Shuffled, Deal::InOrder, Deal::Once, Deal::Exclusive] {
            assert_eq!(alone(deal, 0, SEED).take(), None);
        }
    }

    #[test]
    fn two_shuffled_orders_agree_only_by_chance() {
        const ROWS: u64 = 1_000;
        let mut cursor = alone(Deal::Shuffled, ROWS, SEED);
        let mut orders: Vec<Vec<u64>> = (0..3).map(|_| taken(&mut cursor, ROWS)).collect();
        orders.extend((0..3).map(|seed| taken(&mut alone(Deal::Shuffled, ROWS, seed), ROWS)));
        // The orders of the other parts in the first round. The index of a row within its part is compared,
        // because parts have different rows.
        let of = 4;
        for dealer in &dealers(Deal::Shuffled, ROWS * of, of, 1)[1..] {
            orders.push(taken(&mut dealer.cursor(0), ROWS).iter().map(|row| row / of).collect());
        }
        orders.push((0..ROWS).collect());
        for (at, one) in orders.iter().enumerate() {
            for other in &orders[at + 1..] {
                let same = one.iter().zip(other).filter(|(a, b)| a == b).count();
                // Two random orders agree in one row on average, and in more than nine rows once in ten
                // million cases.
                assert!(same < 10, "{same}");
            }
        }
    }

    #[test]
    fn equal_seeds_deal_rows_in_the_same_order() {
        for deal in [Deal::Shuffled, Deal::InOrder, Deal::Exclusive] {
            assert_eq!(taken(&mut alone(deal, 100, 7), 100), taken(&mut alone(deal, 100, 7), 100));
        }
        // The orders are the same in every version, so a repeated run deals the same rows.
        assert_eq!(taken(&mut alone(Deal::Shuffled, 10, SEED), 12), [5, 0, 9, 4, 7, 1, 8, 6, 3, 2, 9, 3]);
        assert_eq!(
            taken(&mut alone(Deal::Shuffled, 1_000_000, SEED), 4),
            [389_887, 100_765, 618_732, 985_519]
        );
    }

    /// A chi-square has the mean `freedom` and the standard deviation `sqrt(2 * freedom)`.
    #[track_caller]
    fn as_chance_has_it(seen: &[u64], freedom: u64) {
        let (chi, freedom) = (chi_square(seen), freedom as f64);
        assert!((chi - freedom).abs() < 4.0 * (2.0 * freedom).sqrt(), "{chi}, {freedom} degrees of freedom");
    }

    #[test]
    fn all_orders_of_few_rows_are_equally_likely() {
        for (count, kinds) in [(2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
            let seen = tally(orders(count, 100 * kinds));
            assert_eq!(seen.len() as u64, kinds);
            as_chance_has_it(&seen, kinds - 1);
        }
    }

    #[test]
    fn the_first_two_of_many_rows_are_a_random_pair() {
        for count in [65u64, 100, 128] {
            let pairs = count * (count - 1);
            let seen = tally((0..20 * pairs).map(|round| {
                let order = Permutation::new(count, mix(round));
                (order.of(0), order.of(1))
            }));
            assert_eq!(seen.len() as u64, pairs);
            as_chance_has_it(&seen, pairs - 1);
        }
    }

    #[test]
    fn the_first_three_and_the_last_of_many_rows_are_in_random_order() {
        for count in [65u64, 1_000, 1 << 20] {
            let seen = tally((0..24_000).map(|round| {
                let order = Permutation::new(count, mix(round));
                let mut four = [0, 1, 2, count - 1];
                four.sort_by_key(|place| order.of(*place));
                four
            }));
            as_chance_has_it(&seen, 23);
        }
    }

    #[test]
    fn every_row_is_equally_frequent_at_every_position() {
        for count in [7u64, 64, 65, 100] {
            let mut seen = vec![0; (count * count) as usize];
            for order in orders(count, 10_000) {
                for (place, row) in order.iter().enumerate() {
                    seen[place * count as usize + *row as usize] += 1;
                }
            }
            as_chance_has_it(&seen, (count - 1) * (count - 1));
        }
    }

    #[test]
    fn a_shuffle_moves_rows_far_and_separates_neighbours() {
        const ROWS: u64 = 10_000;
        for order in orders(ROWS, 20) {
            let mean = |distances: &mut dyn Iterator<Item = u64>| {
                distances.sum::<u64>() as f64 / ROWS as f64 / (ROWS as f64 / 3.0)
            };
            let moved = mean(&mut (0..ROWS).zip(&order).map(|(place, row)| place.abs_diff(*row)));
            let apart = mean(&mut order.windows(2).map(|pair| pair[0].abs_diff(pair[1])));
            // The mean distance is a third of the number of rows, with a standard deviation of 0.7 % of the
            // mean.
            assert!((0.97..1.03).contains(&moved), "{moved}");
            assert!((0.97..1.03).contains(&apart), "{apart}");
        }
        let steps: HashSet<u64> = orders(ROWS, 1)
            .flat_map(|order| (1..ROWS as usize).map(move |at| order[at].wrapping_sub(order[at - 1])))
            .collect();
        assert!(steps.len() > 5_000, "{} different steps from row to row", steps.len());
    }
}
