//! What clients that do not read cost. Alone in its process: what it measures is the memory
//! of the whole process, and a neighbour's directory would count as these clients' cost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is a test")]

mod common;

use std::time::{Duration, Instant};

use common::{Client, ENTRIES, Search, crowd, everybody, lookup};
use wire::ldap::ResultCode;

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn long_answers_wait_for_slow_readers_without_taking_memory_or_turns() {
    let directory = crowd();
    let before = resident_kib();
    let mut slow: Vec<_> = (0..50).map(|_| Client::connect(directory.addr())).collect();
    for client in &mut slow {
        client.send(&everybody(1));
    }
    // Everybody asks for 20 MB and nobody reads; meanwhile lookups go on as if nothing was.
    let mut quick = Client::connect(directory.addr());
    let begun = Instant::now();
    for i in 0..500 {
        let search = Search { filter: lookup(&format!("Person {i}")), ..Search::default() };
        assert_eq!(quick.search(&search).0.len(), 1);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 50 * 256, "{grown} KiB for fifty clients that do not read");
    // And then they do.
    let (found, done) = slow[7].collect();
    assert_eq!((found.len(), done.code), (ENTRIES + 1, ResultCode::SUCCESS));
}
