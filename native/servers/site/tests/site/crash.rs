//! Answered writes are in the database after the process was killed.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;
use site::{Config, Durability, Expected};

use crate::client::Client;
use crate::common::database;

/// Runs a site in its own process, started by the test below.
#[test]
#[ignore = "run by another test"]
fn serve_until_killed() {
    let durability = serde_json::from_str(&std::env::var("UPD_DURABILITY").unwrap()).unwrap();
    let database = std::env::var("UPD_PATH").unwrap().into();
    let running = site::start(Config { database, durability, ..Config::default() }, &Expected::default());
    // The test harness has written to this line before, so the address gets its own line.
    println!("\nserving {}", running.as_ref().unwrap().addr());
    std::thread::sleep(std::time::Duration::from_secs(60));
}

/// A child process that is killed on drop.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn answered_writes_survive_kill_9_with_either_durability() {
    for durability in [Durability::Normal, Durability::Full] {
        let (_folder, path) = database(1_000);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "--nocapture", "crash::serve_until_killed"])
            .env("UPD_PATH", &path)
            .env("UPD_DURABILITY", serde_json::to_string(&durability).unwrap())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let child = Killed(child);
        let line = lines.map_while(Result::ok).find(|line| line.starts_with("serving ")).unwrap();
        let mut client = Client::new(line["serving ".len()..].parse().unwrap());
        for user in 0..100 {
            assert_eq!(client.post("/preferences", Some(user), "city=Gera&language=de").status, 204);
        }
        assert_eq!(client.post("/users", None, "name=Last").status, 201);
        drop(child);
        let db = Connection::open(&path).unwrap();
        let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, u64>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM people WHERE city = 'Gera' AND language = 'de'"), 100);
        assert_eq!(count("SELECT id FROM people WHERE name = 'Last'"), 1_000);
    }
}
