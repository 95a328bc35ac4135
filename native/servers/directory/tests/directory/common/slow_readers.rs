//! Clients that send requests and do not read, with or without TLS. Each test runs in its own process: it
//! measures the memory of the whole process, to which the directory of another test would be added.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use directory::Running;
use wire::ldap::ResultCode;

use super::{Client, ENTRIES, Search, lookup, search_for_all};

/// The memory that one client may cost: unsent answers, the bytes of one read of further requests, and unused
/// capacity of the buffers.
const KIB_EACH: usize = 256;

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Lets `clients` clients request all people and read nothing; `talk` makes a client from a connection.
pub fn take_neither_memory_nor_turns<S: Read + Write>(
    directory: &Running,
    clients: usize,
    talk: impl Fn(TcpStream) -> Client<S>,
) {
    let before = resident_kib();
    let connect = || {
        let stream = TcpStream::connect(directory.addr()).unwrap();
        stream.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
        talk(stream)
    };
    let mut slow: Vec<_> = (0..clients).map(|_| connect()).collect();
    let mut lookups = Vec::new();
    for id in 1..=200 {
        Search { filter: lookup("Person 5"), ..Search::default() }.write(&mut lookups, id);
    }
    for (i, client) in slow.iter_mut().enumerate() {
        client.send(&search_for_all(1));
        // Every fortieth client sends further requests until neither the server nor the kernel accepts any.
        while i % 40 == 0 && client.stream.write_all(&lookups).is_ok() {}
    }
    // Every client requests 20 MB and does not read; meanwhile lookups are as fast as before.
    let mut quick = connect();
    let begun = Instant::now();
    for i in 0..500 {
        let search = Search { filter: lookup(&format!("Person {i}")), ..Search::default() };
        assert_eq!(quick.search(&search).0.len(), 1);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let grown = resident_kib().saturating_sub(before);
    println!("{grown} KiB for {clients} clients");
    assert!(grown < clients * KIB_EACH, "{grown} KiB for {clients} clients that do not read");
    // The last client then reads its answer.
    let (found, done) = slow[clients - 1].collect();
    assert_eq!((found.len(), done.code), (ENTRIES + 1, ResultCode::SUCCESS));
}
