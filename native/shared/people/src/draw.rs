//! The only source of randomness: a hash of (seed, person, field).
//!
//! # Scheme
//!
//! ```text
//! person(seed, i) = mix(mix(seed + G) xor i)
//! draw(field)     = mix(person + (field + 1) * G)
//! below(n)        = (draw's upper 32 bits * n) >> 32
//! ```
//!
//! `mix` is the finaliser of SplitMix64 and `G` its increment, the golden ratio (Steele, Lea, Flood: "Fast
//! splittable pseudorandom number generators", OOPSLA 2014). `mix` is a bijection, so two people of one
//! population never share a state. Each field draws by its own number, so a new field does not change the
//! draws of other fields. `below` is biased by less than n / 2^32 (Lemire's multiplication without
//! rejection), which is negligible for pools of hundreds of values.

/// SplitMix64's increment.
const G: u64 = 0x9e37_79b9_7f4a_7c15;

/// The drawn fields. Their numbers are part of the population's definition: never reuse a number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Draw {
    Locale = 0,
    Given = 1,
    Family = 2,
    User = 3,
    City = 4,
    Company = 5,
    Job = 6,
    Phone = 7,
    Text = 8,
    Address = 9,
    Token = 10,
    Domain = 11,
    Version = 12,
    Flags = 13,
    BirthYear = 14,
    Background = 15,
    Accent = 16,
    Sections = 17,
    Interests = 18,
    Stocks = 19,
    Newsletter = 20,
    Visits = 21,
    LastVisit = 22,
    Password = 23,
    Salt = 24,
    MoreSalt = 25,
}

/// The random numbers of one person.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chance(u64);

impl Chance {
    /// The random numbers of person `i` of the population with this root.
    #[inline]
    pub(crate) const fn new(root: Root, i: u64) -> Self {
        Self(mix(root.0 ^ i))
    }

    /// 64 random bits for a field.
    #[inline]
    pub(crate) const fn bits(self, what: Draw) -> u64 {
        mix(self.0.wrapping_add((what as u64 + 1).wrapping_mul(G)))
    }

    /// A number below `n` for a field; 0 if `n` is 0.
    #[inline]
    pub(crate) const fn below(self, what: Draw, n: usize) -> usize {
        (((self.bits(what) >> 32) * (n as u64 & 0xffff_ffff)) >> 32) as usize
    }

    /// One of `values` for a field.
    #[inline]
    pub(crate) fn choose<T>(self, what: Draw, values: &[T]) -> &T {
        &values[self.below(what, values.len())]
    }
}

/// A seed after its first mixing, computed once per population.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Root(u64);

impl Root {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(mix(seed.wrapping_add(G)))
    }
}

#[inline]
const fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_function_is_splitmix64() {
        // The first outputs of SplitMix64 seeded with 1234567, as published with its reference code.
        let mut state = 1_234_567u64;
        let outputs = [(); 3].map(|()| {
            state = state.wrapping_add(G);
            mix(state)
        });
        assert_eq!(
            outputs,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn every_value_of_a_small_pool_is_drawn_about_equally_often() {
        let root = Root::new(7);
        let mut counts = [0u32; 5];
        for i in 0..50_000 {
            counts[Chance::new(root, i).below(Draw::City, 5)] += 1;
        }
        assert!(counts.iter().all(|&n| (9_600..10_400).contains(&n)), "{counts:?}");
    }

    #[test]
    fn fields_of_one_person_are_drawn_independently() {
        let root = Root::new(7);
        let same = (0..10_000)
            .filter(|&i| {
                let chance = Chance::new(root, i);
                chance.below(Draw::Given, 10) == chance.below(Draw::Family, 10)
            })
            .count();
        assert!((850..1_150).contains(&same), "{same} of 10,000 pairs equal where 1,000 are expected");
    }

    #[test]
    fn adjacent_seeds_draw_independently() {
        let (a, b) = (Root::new(1), Root::new(2));
        let same = (0..10_000)
            .filter(|&i| Chance::new(a, i).below(Draw::Job, 100) == Chance::new(b, i).below(Draw::Job, 100))
            .count();
        assert!((50..150).contains(&same), "{same} of 10,000");
    }
}
