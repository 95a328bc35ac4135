//! Loads an LDAP server from a shell, for profiling:
//!
//! `lookup '{"threads": 1, "target": {...}, ...}' pools-file '{"seed": 1, "size": 1000, ...}' [lanes] [seconds]`
//!
//! Without "programs", the configuration gets one that looks people up, a hundred per connection.
//! The first program runs. One line per step is printed.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use load::{Clock, Counter, Engine, LdapConfig, Snapshot};
use people::{Pools, Population};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("say configuration, pools file and population");
    let (config, pools, spec) = (next()?, next()?, next()?);
    let lanes = next().map_or(Ok(64), |n| n.parse())?;
    let seconds = next().map_or(Ok(3.0), |n| n.parse())?;
    let mut config: Value = serde_json::from_str(&config)?;
    if config.get("programs").is_none() {
        config["programs"] = lookups();
    }
    let program = config["programs"][0]["name"].as_str().unwrap_or_default().to_owned();
    let pools = Pools::parse(&std::fs::read_to_string(pools)?)?;
    let people = Arc::new(Population::new(&pools, serde_json::from_str(&spec)?)?);
    let config: LdapConfig = serde_json::from_value(config)?;
    let mut engine = Engine::start(config, Some(people), None, &load::Tables::new())?;
    engine.start_lanes(&program, lanes)?;
    // Connecting and the first pages of histograms are not what is looked for.
    std::thread::sleep(Duration::from_millis(200));
    let before: u64 = engine.drain()?.cpu_ns.iter().sum();
    std::thread::sleep(Duration::from_secs_f64(seconds));
    show(&engine.drain()?, before);
    show(&engine.stop(Duration::from_secs(5))?, 0);
    Ok(())
}

fn lookups() -> Value {
    json!([{"name": "lookup", "counts": "lookup", "steps": [
        {"op": "connect"},
        {"op": "bind"},
        {"op": "repeat", "times": 100, "steps": [{"op": "lookup", "person": "random"}]},
        {"op": "unbind"}]}])
}

fn show(snapshot: &Snapshot, cpu_before_ns: u64) {
    let seconds = (snapshot.t1_ns - snapshot.t0_ns) as f64 / 1e9;
    let cpu_ns = snapshot.cpu_ns.iter().sum::<u64>() - cpu_before_ns;
    let backlog = snapshot.backlog;
    println!("{seconds:.3} s, {:.3} s CPU, {} lanes, {backlog} due", cpu_ns as f64 / 1e9, snapshot.lanes);
    for step in &snapshot.steps {
        let micros = |clock, q| step.clock(clock).value_at_quantile(q) as f64 / 1e3;
        let mean = |counter| step.counter(counter) as f64 / step.count as f64;
        println!(
            "{:>10} {:>9} = {:>8.0}/s  p50 {:>7.1} us  p99 {:>8.1} us  max {:>9.1} us  {:.0} B out  {:.0} B in  \
             own {:.0} ns  CPU/op {:.2} us  {:?}",
            step.step,
            step.count,
            step.count as f64 / seconds,
            micros(Clock::Service, 0.5),
            micros(Clock::Service, 0.99),
            micros(Clock::Service, 1.0),
            mean(Counter::BytesOut),
            mean(Counter::BytesIn),
            mean(Counter::Processing),
            cpu_ns as f64 / 1e3 / step.count as f64,
            step.failures
        );
        if step.open {
            println!(
                "{:>10} latency p50 {:.1} us  p99 {:.1} us  lag p99 {:.1} us",
                "",
                micros(Clock::Latency, 0.5),
                micros(Clock::Latency, 0.99),
                micros(Clock::Lag, 0.99)
            );
        }
    }
}
