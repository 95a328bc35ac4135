//! The scenario of paper 002 against the site of these tests.

use std::sync::Arc;
use std::time::Duration;

use load::{AnyConfig, Engine, StartError, Tables};
use people::Pools;
use people::visitor::Visitors;
use serde_json::{Value, json};

use crate::harness::{Totals, run_until};
use crate::site::{PAGE_BYTES, Site};

const POOLS: &str = include_str!("../../../../shared/people/tests/data/three.pools");

/// People the site knows.
pub const PEOPLE: u64 = 200;

pub fn visitors() -> Arc<Visitors> {
    let locales = ["en_US", "ru_RU", "ja_JP"].map(str::to_owned);
    Arc::new(Visitors::new(&Pools::parse(POOLS).unwrap(), 1997, &locales).unwrap())
}

pub fn page(person: &str) -> Value {
    json!({
        "op": "request", "name": "page", "path": "/", "person": person, "headers": {"Cookie": "user={id}"},
        "expect": {
            "status": 200, "length": PAGE_BYTES,
            "contains": ["<h1>Hello, {given}</h1>"],
            "identity": {"before": "data-user=\"", "value": "{id}"},
            "fresh": ["data-background=\"{draw.colour}\"", "data-city=\"{draw.city}\""],
        },
    })
}

pub fn create() -> Value {
    json!({
        "op": "request", "name": "create", "method": "POST", "path": "/users", "does": "create",
        "body": "given={given}&city={city}", "expect": {"status": 201}, "capture": {"cookie": "user"},
    })
}

pub fn update(person: &str) -> Value {
    json!({
        "op": "request", "name": "update", "method": "POST", "path": "/preferences", "does": "update",
        "person": person, "headers": {"Cookie": "user={id}"},
        "body": "background={draw.colour}&city={draw.city}", "expect": {"status": 204},
    })
}

pub fn image() -> Value {
    json!({"op": "request", "name": "image", "path": "/image", "expect": {"length": 5_480}})
}

/// 5 % new users, 91 % page, 4 % page and update.
pub fn scenario() -> Value {
    json!([{"op": "deck", "branches": [
        {"weight": 5, "steps": [create()]},
        {"weight": 91, "steps": [page("random")]},
        {"weight": 4, "steps": [update("own"), page("current")]},
    ]}])
}

/// A configuration for that site with one program called `p`.
pub fn config(site: &Site, counts: &str, steps: Value) -> Value {
    json!({
        "target": {"protocol": "http", "host": "127.0.0.1", "port": site.port(), "size": PEOPLE},
        "programs": [{"name": "p", "counts": counts, "steps": steps}]
    })
}

pub fn try_start(config: &Value) -> Result<Engine, StartError> {
    match serde_json::from_value(config.clone()).unwrap() {
        AnyConfig::Http(config) => Engine::start_http(config, Some(visitors()), &Tables::new()),
        AnyConfig::Ldap(_) => panic!("no site"),
    }
}

pub fn start(config: &Value) -> Engine {
    try_start(config).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs `lanes` lanes of the program `p` until `step` has been done `times` times.
pub fn run(config: &Value, lanes: u64, step: &str, times: u64) -> Totals {
    let mut engine = start(config);
    engine.start_lanes("p", lanes).unwrap();
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.count(step) >= times);
    totals.add(engine.stop(Duration::from_secs(5)).unwrap());
    totals
}
