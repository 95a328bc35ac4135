//! Random selections from a list, in random order, as JSON arrays.

use crate::draw::{Chance, Draw, Root};

/// The longest list: positions fit in a set of 64 bits.
const LONGEST: usize = 64;

/// The number of different selections per list. Several people have the same selection, because copying a
/// selection is cheaper than drawing it: 1,000,000 people take 0.2 s instead of 0.4 s.
const SELECTIONS: usize = 1_024;

#[derive(Debug)]
pub(super) struct Selections(Vec<String>);

impl Selections {
    /// Draws the selections: each has `least` to `most` different values of `values`.
    pub(super) fn new(root: Root, what: Draw, values: &[&str], counts: (usize, usize)) -> Self {
        let draw = |n| json(Chance::new(root, n).bits(what), values, counts);
        Self((0..SELECTIONS as u64).map(draw).collect())
    }

    /// The selection of a person.
    pub(super) fn pick(&self, chance: Chance, what: Draw) -> &str {
        chance.choose(what, &self.0).as_str()
    }
}

/// A JSON array of `least` to `most` different values, in drawn order.
///
/// No value has a character that JSON escapes; a test checks the lists.
fn json(bits: u64, values: &[&str], (least, most): (usize, usize)) -> String {
    debug_assert!(values.len() <= LONGEST && most <= values.len(), "the lists are constants");
    let mut out = String::from("[");
    let mut draws = Digits(bits);
    let count = least + draws.below(most - least + 1);
    let mut taken = 0u64;
    for n in 0..count {
        let place = free_place(taken, draws.below(values.len() - n));
        taken |= 1 << place;
        if n > 0 {
            out.push(',');
        }
        out.push('"');
        out.push_str(values[place]);
        out.push('"');
    }
    out.push(']');
    out
}

/// Draws several small numbers from 64 bits. Each number is the upper half of a product, and the lower half
/// provides the bits for the next number.
struct Digits(u64);

impl Digits {
    fn below(&mut self, n: usize) -> usize {
        let product = u128::from(self.0) * n as u128;
        self.0 = product as u64;
        (product >> 64) as usize
    }
}

/// The index of the `n`-th free place, counted from 0. `taken` has a bit for each place that is not free.
fn free_place(taken: u64, mut n: usize) -> usize {
    let mut place = 0;
    loop {
        if taken >> place & 1 == 0 {
            if n == 0 {
                return place;
            }
            n -= 1;
        }
        place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visitor::{INTERESTS, SECTIONS, STOCKS};
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn the_requested_number_of_different_values_is_drawn(bits: u64) {
            for (list, counts) in [(&SECTIONS[..], (3, 5)), (&INTERESTS[..], (2, 5)), (&STOCKS[..], (0, 5))] {
                let json = json(bits, list, counts);
                let values: Vec<String> = serde_json::from_str(&json).unwrap();
                prop_assert!((counts.0..=counts.1).contains(&values.len()), "{json}");
                let different: HashSet<&String> = values.iter().collect();
                prop_assert_eq!(different.len(), values.len());
                prop_assert!(values.iter().all(|value| list.contains(&value.as_str())));
            }
        }
    }

    #[test]
    fn every_value_is_drawn_first_about_equally_often() {
        let mut first = [0u32; 10];
        for n in 0..20_000u64 {
            // Multiples of this odd number are spread evenly over all numbers of 64 bits.
            let json = json(n.wrapping_mul(0x9e37_79b9_7f4a_7c15), &SECTIONS, (3, 5));
            let values: Vec<String> = serde_json::from_str(&json).unwrap();
            first[SECTIONS.iter().position(|s| *s == values[0]).unwrap()] += 1;
        }
        assert!(first.iter().all(|&n| (1_800..2_200).contains(&n)), "{first:?}");
    }

    #[test]
    fn no_value_needs_escaping_in_json_or_html() {
        for value in SECTIONS.iter().chain(&INTERESTS).chain(&STOCKS) {
            assert!(value.bytes().all(|b| b.is_ascii_alphanumeric()), "{value}");
        }
    }
}
