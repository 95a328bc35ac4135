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

/// Clients that ask and do not read.
const SLOW: usize = 1000;

/// What one of them may cost the server: answers that the kernel did not take, and requests that came
/// behind them, a read of each, and the buffers' spare room.
const KIB_EACH: usize = 256;

#[test]
fn long_answers_wait_for_slow_readers_without_taking_memory_or_turns() {
    let directory = crowd();
    let before = resident_kib();
    let mut slow: Vec<_> = (0..SLOW).map(|_| Client::connect(directory.addr())).collect();
    let mut lookups = Vec::new();
    for id in 1..=200 {
        Search { filter: lookup("Person 5"), ..Search::default() }.write(&mut lookups, id);
    }
    for (i, client) in slow.iter_mut().enumerate() {
        client.stream.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
        client.send(&everybody(1));
        // One in forty asks for more and more, until neither the server nor the kernel takes any.
        while i % 40 == 0 && std::io::Write::write_all(&mut client.stream, &lookups).is_ok() {}
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
    println!("{grown} KiB for {SLOW} clients");
    assert!(grown < SLOW * KIB_EACH, "{grown} KiB for {SLOW} clients that do not read");
    // And then they do.
    let (found, done) = slow[SLOW - 1].collect();
    assert_eq!((found.len(), done.code), (ENTRIES + 1, ResultCode::SUCCESS));
}
