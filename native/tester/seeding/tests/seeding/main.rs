//! Seeding a live directory: every person is added once, whatever the server does meanwhile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "only tests are in here")]

#[path = "../../../../shared/people/tests/people/common.rs"]
#[allow(dead_code, reason = "the tests of people use the rest")]
mod common;
mod refusals;
mod server;
mod work;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use people::{Population, Profile};
use seeding::{Config, Report, SeedingError};

use server::Server;

fn people_of(profile: Profile) -> Arc<Population> {
    Arc::new(common::population(profile, 1997))
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
