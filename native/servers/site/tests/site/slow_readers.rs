//! The memory and time that clients cost if they do not read their answers. This test runs in its own
//! process, because it measures the memory of the whole process.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::common::Site;
use crate::own_process::in_own_process;
use crate::usage::resident_kib;

/// The number of clients that send requests and do not read.
const SLOW: usize = 1000;

/// The memory that one client may cost the site: unsent answers, the bytes of one read of further requests,
/// and unused capacity of the buffers.
const KIB_EACH: usize = 256;

#[test]
fn a_thousand_clients_that_never_read_use_little_memory_and_delay_nobody() {
    if in_own_process(a_thousand_clients_that_never_read_use_little_memory_and_delay_nobody) {
        return;
    }
    let site = Site::start();
    let before = resident_kib();
    // 8 MB of pages for each client exceed the socket buffers.
    let requests = "GET / HTTP/1.1\r\nHost: a\r\nCookie: user=1\r\n\r\n".repeat(1_000);
    let mut slow: Vec<_> = (0..SLOW).map(|_| TcpStream::connect(site.running.addr()).unwrap()).collect();
    for client in &mut slow {
        client.set_nonblocking(true).unwrap();
        // Requests that the kernel does not accept are dropped.
        let _ = client.write(requests.as_bytes());
    }
    let begun = Instant::now();
    let mut quick = site.client();
    for user in 0..200 {
        assert_eq!(quick.get("/", Some(user)).status, 200);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let grown = resident_kib().saturating_sub(before);
    println!("{grown} KiB for {SLOW} clients");
    assert!(grown < SLOW * KIB_EACH, "{grown} KiB for {SLOW} clients that do not read");
}
