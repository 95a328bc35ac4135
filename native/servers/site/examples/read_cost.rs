//! Prints the time of SQLite alone for reading the row of a page, first with a snapshot for each row, then
//! with a snapshot for 64 rows: `read_cost DATABASE PEOPLE`.

use std::time::Instant;

use rusqlite::{Connection, OpenFlags};

const READS: u64 = 200_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, people] = &arguments[..] else { return Err("usage: read_cost DATABASE PEOPLE".into()) };
    let people: u64 = people.parse()?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.execute_batch("PRAGMA cache_size=-4096")?;
    let mut select = db.prepare("SELECT * FROM people WHERE id = ?1")?;
    for rows_of_snapshot in [1, 64] {
        let start = Instant::now();
        let mut bytes = 0;
        for n in 0..READS {
            if rows_of_snapshot > 1 && n % rows_of_snapshot == 0 {
                db.execute_batch("BEGIN")?;
            }
            // The multiplier scatters the order: each person is far from the previous person.
            let id = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % people;
            bytes += select.query_row([id as i64], |row| {
                (1..16).try_fold(0, |sum, column| {
                    Ok(sum + row.get_ref(column)?.as_bytes().map_or(8, <[u8]>::len))
                })
            })?;
            if rows_of_snapshot > 1 && n % rows_of_snapshot == rows_of_snapshot - 1 {
                db.execute_batch("COMMIT")?;
            }
        }
        let each_us = start.elapsed().as_secs_f64() * 1e6 / READS as f64;
        println!(
            "{rows_of_snapshot:>3} rows a snapshot: {each_us:.2} us a row ({} bytes)",
            bytes as u64 / READS
        );
    }
    Ok(())
}
