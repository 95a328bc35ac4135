//! Runs lanes from a shell, for profilers: `job FILE SECONDS`, where FILE is JSON:
//!
//! `{"config": {...}, "lanes": 1, "pools": "pools.txt", "population": {...}, "visitors": [1997, ["en_US"]],
//! "tables": {"SCENARIO/DATA": "accounts.csv"}}`
//!
//! The first scenario of the configuration runs. One line per step is printed: its name, the number of its
//! answered operations, and its failures. `benches/instructions.py` writes such files.

use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use load::{AnyConfig, Engine, Tables};
use people::visitor::Visitors;
use people::{Pools, Population, Spec};
use serde::Deserialize;
use serde_json::Value;
use table::{Form, Table};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Job {
    config: Value,
    lanes: u64,
    pools: PathBuf,
    population: Option<Spec>,
    visitors: Option<(u64, Vec<String>)>,
    #[serde(default)]
    tables: HashMap<String, PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, seconds] = &arguments[..] else { return Err("usage: job FILE SECONDS".into()) };
    let job: Job = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let pools = Pools::parse(&std::fs::read_to_string(&job.pools)?)?;
    let mut tables = Tables::new();
    for (name, path) in &job.tables {
        tables.insert(name.clone(), Arc::new(Table::read(path, &Form::default(), |_, _| Ok(()))?));
    }
    let scenario = job.config["scenarios"][0]["name"].as_str().ok_or("no scenario")?.to_owned();
    let mut engine = match serde_json::from_value(job.config)? {
        AnyConfig::Ldap(config) => {
            let people = job.population.map(|spec| Population::new(&pools, spec)).transpose()?;
            Engine::start(config, people.map(Arc::new), None, &tables)?
        }
        AnyConfig::Http(config) => {
            let visitors = job.visitors.map(|(seed, locales)| Visitors::new(&pools, seed, &locales));
            Engine::start_http(config, visitors.transpose()?.map(Arc::new), &tables)?
        }
    };
    engine.start_lanes(&scenario, job.lanes)?;
    std::thread::sleep(Duration::from_secs_f64(seconds.parse()?));
    let snapshot = engine.stop(Duration::from_secs(30))?;
    for step in snapshot.steps {
        println!("{} {} {:?}", step.step, step.count, step.failures);
    }
    Ok(())
}
