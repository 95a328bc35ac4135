//! Fetches one path as fast as one thread can, for profiling and to hold against wrk:
//! `fetch PORT PATH LANES SECONDS BYTES [close]`.

use std::time::Duration;

use load::{AnyConfig, Clock, Engine, Tables};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, path, lanes, seconds, bytes, rest @ ..] = &arguments[..] else {
        return Err("usage: fetch PORT PATH LANES SECONDS BYTES [close]".into());
    };
    let bytes = bytes.parse::<u64>()?;
    let text = format!("[[operation]]\nname = 'fetch'\nget = {path:?}\nexpect.length = {bytes}");
    let config = json!({
        "target": {
            "protocol": "http", "host": "127.0.0.1", "port": port.parse::<u16>()?, "keepalive": rest.is_empty(),
        },
        "scenarios": [{"name": "fetch", "text": text, "classes": true}],
    });
    let AnyConfig::Http(config) = serde_json::from_value(config)? else { return Err("not HTTP".into()) };
    let mut engine = Engine::start_http(config, None, &Tables::new())?;
    engine.start_lanes("fetch", lanes.parse()?)?;
    std::thread::sleep(Duration::from_secs_f64(seconds.parse()?));
    let snapshot = engine.stop(Duration::from_secs(5))?;
    let cpu_us = snapshot.cpu_ns.iter().sum::<u64>() as f64 / 1e3;
    let elapsed_s = (snapshot.t1_ns - snapshot.t0_ns) as f64 / 1e9;
    for step in snapshot.steps.iter().filter(|step| &*step.step != "sequence") {
        println!(
            "{} {} {:.0}/s, {:.2} us of CPU each, p50 {} us, {:?}",
            step.step,
            step.count,
            step.count as f64 / elapsed_s,
            cpu_us / step.count as f64,
            step.clock(Clock::Service).value_at_quantile(0.5) / 1000,
            step.failures,
        );
    }
    Ok(())
}
