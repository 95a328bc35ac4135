//! Seeding a live directory: every person is added once, whatever the server does meanwhile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "only tests are in here")]

mod refusals;
mod server;
mod work;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use people::{DEFAULT_BASE, Passwords, Pools, Population, Profile, Spec};
use seeding::{Config, Report, SeedingError};

use server::Server;

const POOLS: &str = include_str!("../../../../shared/people/tests/data/three.pools");

fn people_of(profile: Profile) -> Arc<Population> {
    let locales = ["en_US", "ru_RU", "ja_JP"].map(str::to_owned).to_vec();
    let spec = Spec {
        seed: 1997,
        size: 1_000,
        profile,
        locales,
        base: DEFAULT_BASE.to_owned(),
        passwords: Passwords::default(),
    };
    Arc::new(Population::new(&Pools::parse(POOLS).unwrap(), spec).unwrap())
}

fn people() -> Arc<Population> {
    people_of(Profile::Small)
}

fn config(server: &Server) -> Config {
    Config::new(server.address.ip().to_string(), server.address.port())
}

fn seed(config: &Config, range: Range<u64>) -> Result<Report, SeedingError> {
    seeding::seed(config, &people(), range, &mut |_| ControlFlow::Continue(()))
}

fn remove(config: &Config, range: Range<u64>) -> Result<Report, SeedingError> {
    seeding::remove(config, &people(), range, &mut |_| ControlFlow::Continue(()))
}
