//! The memory and time that clients cost if they do not read their answers, with or without TLS. Each test
//! runs in its own process: it measures the memory of the whole process, to which the directory of another
//! test would be added.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::common::{
    Client, ENTRIES, Search, crowd, eventually, lookup, memory_kib, search_for_all, serve, trusting,
};
use crate::own_process::in_own_process;
use directory::Running;
use wire::ldap::ResultCode;

/// The memory that one client may cost: unsent answers, the bytes of one read of further requests, and unused
/// capacity of the buffers.
const KIB_EACH: usize = 256;

/// Lets `clients` clients request all people and read nothing; `talk` makes a client from a connection.
fn take_neither_memory_nor_turns<S: Read + Write>(
    directory: &Running,
    clients: usize,
    talk: impl Fn(TcpStream) -> Client<S>,
) {
    let before = memory_kib("VmRSS");
    let connect = || {
        let stream = TcpStream::connect(directory.addr()).unwrap();
        stream.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
        talk(stream)
    };
    let mut slow: Vec<_> = (0..clients).map(|_| connect()).collect();
    let search = Search { filter: lookup("Person 5"), ..Search::default() };
    let lookups: Vec<u8> = (1..=200).flat_map(|id| search.message(id)).collect();
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
    let grown = memory_kib("VmRSS").saturating_sub(before);
    println!("{grown} KiB for {clients} clients");
    assert!(grown < clients * KIB_EACH, "{grown} KiB for {clients} clients that do not read");
    // The last client then reads its answer.
    let (entries, done) = slow[clients - 1].collect();
    assert_eq!((entries.len(), done.code), (ENTRIES + 1, ResultCode::SUCCESS));
}

#[test]
fn long_answers_wait_for_slow_readers_without_using_memory_or_turns() {
    if in_own_process(long_answers_wait_for_slow_readers_without_using_memory_or_turns) {
        return;
    }
    // No client is cut off during the measurement.
    take_neither_memory_nor_turns(&crowd(r#"{"limits": {"stall_ms": 120000}}"#), 1000, Client::of);
}

#[test]
fn long_answers_over_tls_wait_for_slow_readers_without_using_memory_or_turns() {
    if in_own_process(long_answers_over_tls_wait_for_slow_readers_without_using_memory_or_turns) {
        return;
    }
    let directory = crowd(r#"{"tls": {"start": true}, "limits": {"stall_ms": 120000}}"#);
    let connector = trusting(&directory);
    // Each connection costs a handshake and memory on both sides.
    take_neither_memory_nor_turns(&directory, 300, |stream| Client::of(stream).secured(&connector));
    assert!(eventually(|| directory.stats().traffic.tls_handshakes == 301), "and the quick one");
}

#[test]
fn a_client_that_never_reads_holds_memory_for_one_large_entry() {
    if in_own_process(a_client_that_never_reads_holds_memory_for_one_large_entry) {
        return;
    }
    const CLIENTS: usize = 40;
    const ENTRY_KIB: usize = 1 << 10;
    let (directory, mut other) = serve(r#"{"limits": {"message_bytes_before_bind": 4194304}}"#);
    let photo = "x".repeat(ENTRY_KIB << 10);
    for i in 0..10 {
        let added = other.add_person_with(&format!("Large {i}"), &[("photo", &[&photo])]);
        assert_eq!(added.code, ResultCode::SUCCESS);
    }
    let before = memory_kib("VmRSS");
    let mut silent: Vec<Client> = (0..CLIENTS).map(|_| Client::connect(directory.addr())).collect();
    silent.iter_mut().for_each(|client| client.send(&search_for_all(1)));
    // The answer to a lookup shows that all requests before it were handled.
    for _ in 0..100 {
        assert_eq!(other.search(&Search { filter: lookup("nobody"), ..Search::default() }).0.len(), 0);
    }
    let client_kib = memory_kib("VmRSS").saturating_sub(before) / CLIENTS;
    assert!(client_kib < 2 * ENTRY_KIB, "{client_kib} KiB for each client that never reads");
}
