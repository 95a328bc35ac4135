//! Prints the rate of updates of SQLite alone, with one transaction per update: `update_cost DATABASE PEOPLE
//! SECONDS normal|full`. Changes the database.

use std::time::{Duration, Instant};

use rusqlite::Connection;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, people, seconds, durability] = &arguments[..] else {
        return Err("usage: update_cost DATABASE PEOPLE SECONDS normal|full".into());
    };
    let (people, seconds): (u64, f64) = (people.parse()?, seconds.parse()?);
    let db = Connection::open(path)?;
    let _: String = db.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))?;
    db.execute_batch(&format!("PRAGMA synchronous={durability}; PRAGMA cache_size=-4096"))?;
    let mut update = db.prepare("UPDATE people SET background = ?2, city = ?3 WHERE id = ?1")?;
    let (start, mut count) = (Instant::now(), 0u64);
    while start.elapsed() < Duration::from_secs_f64(seconds) {
        // The step is a prime number, so for most sizes every person has a turn, and each person is far from
        // the previous person.
        let id = count.wrapping_mul(7_919) % people;
        update.execute((id as i64, "#123456", "Springfield"))?;
        count += 1;
    }
    println!("{:.0} updates/s", count as f64 / start.elapsed().as_secs_f64());
    Ok(())
}
