use people::{DEFAULT_BASE, Passwords, Pools, Population, PopulationError, Profile, Spec};

/// Latin, Cyrillic and Japanese, with short and long values, spaces, commas and an apostrophe.
pub const POOLS: &str = include_str!("../data/three.pools");

pub fn population(profile: Profile, seed: u64) -> Population {
    with(profile, seed, &["en_US", "ru_RU", "ja_JP"])
}

pub fn with(profile: Profile, seed: u64, locales: &[&str]) -> Population {
    let locales = locales.iter().map(|&locale| locale.to_owned()).collect();
    let (base, passwords) = (DEFAULT_BASE.to_owned(), Passwords::default());
    of(Spec { seed, size: 1_000, profile, locales, base, passwords }).unwrap()
}

/// The people of the paper profile and seed 1, with a changed specification.
pub fn changed(change: impl FnOnce(&mut Spec)) -> Result<Population, PopulationError> {
    let mut spec = population(Profile::Paper, 1).spec().clone();
    change(&mut spec);
    of(spec)
}

fn of(spec: Spec) -> Result<Population, PopulationError> {
    Population::new(&Pools::parse(POOLS).unwrap(), spec)
}

pub fn entry(population: &Population, i: u64) -> (Vec<u8>, Vec<u8>) {
    let (mut dn, mut attributes) = (Vec::new(), Vec::new());
    population.write_dn(i, &mut dn);
    population.write_attributes(i, &mut attributes);
    (dn, attributes)
}
