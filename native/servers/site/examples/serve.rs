//! Serves a UPD until its input ends, for profiling and for viewing pages: `serve '{"database": "upd.sqlite",
//! "port": 8080}'`.

use std::io::Read as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = std::env::args().nth(1).ok_or("usage: serve CONFIG_JSON")?;
    let running = site::start(serde_json::from_str(&config)?, &site::Expected::default())?;
    println!("http://{}/", running.addr());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    for (name, value) in running.stats().named() {
        println!("{name:16} {value}");
    }
    drop(running);
    Ok(())
}
