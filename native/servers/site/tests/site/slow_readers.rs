//! What clients that do not read cost a site. Alone in its process: what it measures is the memory
//! of the whole process.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::common::Site;
use crate::own_process::in_own_process;

/// Clients that ask and do not read.
const SLOW: usize = 1000;

/// What one of them may cost the site: answers that the kernel did not take, requests that came
/// behind them, a read of each, and the buffers' spare room.
const KIB_EACH: usize = 256;

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_thousand_clients_that_never_read_use_little_memory_and_delay_no_one() {
    if in_own_process(a_thousand_clients_that_never_read_use_little_memory_and_delay_no_one) {
        return;
    }
    let site = Site::start();
    let before = resident_kib();
    // 8 MB of pages each: more than socket buffers take.
    let requests = "GET / HTTP/1.1\r\nHost: a\r\nCookie: user=1\r\n\r\n".repeat(1_000);
    let mut slow: Vec<_> = (0..SLOW).map(|_| TcpStream::connect(site.running.addr()).unwrap()).collect();
    for client in &mut slow {
        client.set_nonblocking(true).unwrap();
        // What the kernel does not take is not asked for.
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
