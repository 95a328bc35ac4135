//! Serves a folder until its input ends, for profiling and for looking at:
//! `serve '{"docroot": "files", "cgi": "programs", "port": 8080}'`.

use std::io::Read as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = std::env::args().nth(1).ok_or("usage: serve CONFIG_JSON")?;
    let running = web::start(serde_json::from_str(&config)?)?;
    println!("http://{}/", running.addr());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    for (name, value) in running.stats().named() {
        println!("{name:16} {value}");
    }
    running.stop();
    Ok(())
}
