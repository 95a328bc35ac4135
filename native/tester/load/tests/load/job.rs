//! Scenarios to run against a target, with the engine's other settings.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use load::{AnyConfig, Engine, Snapshot, Tables};
use people::visitor::Visitors;
use people::{DEFAULT_BASE, Passwords, Pools, Population, Profile, Spec};
use serde_json::{Value, json};
use table::{Form, Table};

use crate::engine::harness::{Totals, eventually, run_until};

const POOLS: &str = include_str!("../../../../shared/people/tests/data/three.pools");

fn locales() -> [String; 3] {
    ["en_US", "ru_RU", "ja_JP"].map(str::to_owned)
}

pub fn people(profile: Profile, size: u64) -> Arc<Population> {
    let (locales, base) = (locales().to_vec(), DEFAULT_BASE.to_owned());
    let spec = Spec { seed: 1997, size, profile, locales, base, passwords: Passwords::default() };
    Arc::new(Population::new(&Pools::parse(POOLS).unwrap(), spec).unwrap())
}

/// The number of people on a site.
pub const PEOPLE: u64 = 200;

pub fn visitors() -> Arc<Visitors> {
    Arc::new(Visitors::new(&Pools::parse(POOLS).unwrap(), 1997, &locales()).unwrap())
}

/// The configuration and the data of an engine with one scenario, which is called `mix`.
#[derive(Clone)]
pub struct Job {
    pub config: Value,
    pub people: Option<Arc<Population>>,
    pub tables: Tables,
}

impl Job {
    pub fn directory(target: SocketAddr, text: &str) -> Self {
        let target = json!({"host": target.ip().to_string(), "port": target.port(), "base": DEFAULT_BASE});
        Self::new(&target, text)
    }

    pub fn site(port: u16, text: &str) -> Self {
        Self::new(&json!({"protocol": "http", "host": "127.0.0.1", "port": port, "size": PEOPLE}), text)
    }

    fn new(target: &Value, text: &str) -> Self {
        let config = json!({"target": target, "scenarios": [{"name": "mix", "text": text}]});
        Self { config, people: None, tables: Tables::new() }
    }

    /// Changes settings of the engine.
    pub fn with(mut self, settings: Value) -> Self {
        merge(&mut self.config, settings);
        self
    }

    /// Changes settings of the target.
    pub fn target(self, settings: Value) -> Self {
        self.with(json!({"target": settings}))
    }

    /// Changes settings of the scenario.
    pub fn scenario(mut self, settings: Value) -> Self {
        merge(&mut self.config["scenarios"][0], settings);
        self
    }

    /// Sets the rate of an open schedule with random arrivals.
    pub fn rate(self, rate: f64) -> Self {
        self.with(json!({"schedule": {"kind": "open", "rate": rate}}))
    }

    /// Sets the rate of an open schedule with even arrivals.
    pub fn even_rate(self, rate: f64) -> Self {
        self.rate(rate).with(json!({"schedule": {"arrivals": "even"}}))
    }

    /// Adds the rows of a data file.
    pub fn table<const N: usize>(
        mut self,
        name: &str,
        columns: [&str; N],
        rows: &[[impl AsRef<str>; N]],
    ) -> Self {
        let cell = |cell: &_| format!("\"{}\"", AsRef::<str>::as_ref(cell).replace('"', "\"\""));
        let text: String = rows.iter().map(|row| row.each_ref().map(cell).join(",") + "\n").collect();
        let form = Form { columns: Some(columns.map(str::to_owned).to_vec()), ..Form::default() };
        let table = Table::parse(text.into(), &form, |_, _| Ok(())).unwrap();
        self.tables.insert(format!("mix/{name}"), Arc::new(table));
        self
    }

    pub fn try_engine(&self) -> Result<Engine, String> {
        let engine = match serde_json::from_value(self.config.clone()).unwrap() {
            AnyConfig::Ldap(config) => Engine::start(config, self.people.clone(), None, &self.tables),
            AnyConfig::Http(config) => Engine::start_http(config, Some(visitors()), &self.tables),
        };
        engine.map_err(|error| error.to_string())
    }

    /// The reason why an engine refuses this job.
    pub fn refusal(&self) -> String {
        self.try_engine().err().unwrap_or_else(|| panic!("{} starts", self.config))
    }

    /// An engine without lanes.
    pub fn engine(&self) -> Engine {
        self.try_engine().unwrap_or_else(|problem| panic!("{problem}"))
    }

    pub fn start(&self, lanes: u64) -> Engine {
        let mut engine = self.engine();
        engine.start_lanes("mix", lanes).unwrap();
        engine
    }

    /// Runs lanes until the condition holds; returns all results.
    pub fn run_until(&self, lanes: u64, happened: impl FnMut() -> bool) -> [Snapshot; 1] {
        let mut engine = self.start(lanes);
        assert!(eventually(happened), "not after half a minute: {}", self.config);
        [engine.stop(Duration::from_secs(5)).unwrap()]
    }

    /// Runs lanes until `step` has been done `times` times.
    pub fn run_steps(&self, lanes: u64, step: &str, times: u64) -> Totals {
        let (mut engine, mut totals) = (self.start(lanes), Totals::default());
        run_until(&mut engine, &mut totals, |totals| totals.count(step) >= times);
        totals.stop(&mut engine)
    }

    /// Runs lanes for `ms` milliseconds; on a busy machine until every lane could complete some steps, or an
    /// opening step failed.
    pub fn run(&self, lanes: u64, ms: u64) -> Totals {
        let (mut engine, mut totals) = (self.start(lanes), Totals::default());
        std::thread::sleep(Duration::from_millis(ms));
        totals.add(engine.drain().unwrap());
        let begun = Instant::now();
        let is_opening = |step: &str| ["connect", "bind"].contains(&step);
        while totals.steps.iter().all(|(step, total)| total.count < 5 * lanes || is_opening(step))
            && ["connect", "bind", "sequence"].iter().all(|step| totals.failed(step) == 0)
            && begun.elapsed() < Duration::from_secs(5)
        {
            std::thread::sleep(Duration::from_millis(5));
            totals.add(engine.drain().unwrap());
        }
        totals.stop(&mut engine)
    }
}

/// Replaces the values of `settings`; fields of objects one by one.
fn merge(config: &mut Value, settings: Value) {
    match (config, settings) {
        (Value::Object(config), Value::Object(settings)) => {
            for (name, value) in settings {
                merge(config.entry(name).or_insert(Value::Null), value);
            }
        }
        (config, settings) => *config = settings,
    }
}
