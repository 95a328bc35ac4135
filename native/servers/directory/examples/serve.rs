//! Serves a directory until its standard input closes, for testing clients by hand:
//!
//! `serve '{"port": 3890}' [pools-file '{"seed": 1, "size": 1000, ...}']`

use std::error::Error;
use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use directory::Config;
use people::{Pools, Population};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let config: Config = serde_json::from_str(&arguments.next().unwrap_or_else(|| "{}".into()))?;
    let people = match (arguments.next(), arguments.next()) {
        (Some(pools), Some(spec)) => {
            let pools = Pools::parse(&std::fs::read_to_string(pools)?)?;
            Some(Arc::new(Population::new(&pools, serde_json::from_str(&spec)?)?))
        }
        _ => None,
    };
    let begun = Instant::now();
    let running = directory::start(config, people)?;
    let entries = running.stats().entries;
    println!("ldap://{} with {entries} entries after {:?}", running.addr(), begun.elapsed());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    for (name, count) in running.stats().named() {
        println!("{name:16} {count}");
    }
    drop(running);
    Ok(())
}
