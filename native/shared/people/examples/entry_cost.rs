//! Prints the cost of writing an entry in nanoseconds.
//!
//! `cargo run --release -p sitebench-people --example entry_cost [POOLS]`. Without a pools file the example
//! uses the pools of the tests, which are smaller and so fit the caches better.

use std::hint::black_box;
use std::time::Instant;

use people::{DEFAULT_BASE, Passwords, Pools, Population, Profile, Spec};

const PEOPLE: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = match std::env::args().nth(1) {
        Some(path) => std::fs::read_to_string(path)?,
        None => include_str!("../tests/data/three.pools").to_owned(),
    };
    let pools = Pools::parse(&text)?;
    for profile in Profile::ALL {
        let locales = pools.locales().map(str::to_owned).collect();
        let spec = Spec {
            seed: 1997,
            size: PEOPLE,
            profile,
            locales,
            base: DEFAULT_BASE.to_owned(),
            passwords: Passwords::default(),
        };
        let people = Population::new(&pools, spec)?;
        // The multiplier scatters the order, as lookups are about random people.
        let scattered = |i: u64| i.wrapping_mul(0x9e37_79b1) % PEOPLE;
        let name = cost(|i, out| people.write_name(scattered(i), out));
        let dn = cost(|i, out| people.write_dn(scattered(i), out));
        let attributes = cost(|i, out| people.write_attributes(scattered(i), out));
        println!(
            "{:<6} name {name:5.0} ns, DN {dn:5.0} ns, attributes {attributes:5.0} ns",
            profile.as_str()
        );
    }
    Ok(())
}

/// The minimum of five rounds: other processes disturb the slower rounds.
fn cost(write: impl Fn(u64, &mut Vec<u8>)) -> f64 {
    let mut out = Vec::with_capacity(4_096);
    let mut round = || {
        let start = Instant::now();
        for i in 0..PEOPLE {
            out.clear();
            write(i, &mut out);
            black_box(&out);
        }
        start.elapsed().as_nanos() as f64 / PEOPLE as f64
    };
    (0..5).map(|_| round()).fold(f64::INFINITY, f64::min)
}
