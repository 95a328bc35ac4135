//! The memory that slow readers cost. This test runs in its own process, because it measures the memory of
//! the whole process.

use crate::own_process::in_own_process;
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The number of clients that request the file and read a little of it.
const SLOW: usize = 200;

const FILE_BYTES: u64 = 50_000_000;

/// The memory that one client may cost: an unsent piece, and unused capacity of the buffers.
const KIB_EACH: usize = 256;

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn used_ms() -> u128 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as u128 * 1_000 + used.tv_nsec as u128 / 1_000_000
}

#[test]
fn slow_readers_of_a_large_file_use_little_memory_and_get_the_whole_file() {
    if in_own_process(slow_readers_of_a_large_file_use_little_memory_and_get_the_whole_file) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    File::create(folder.path().join("large")).unwrap().set_len(FILE_BYTES).unwrap();
    std::fs::write(folder.path().join("small"), "small").unwrap();
    let config = web::Config { docroot: Some(folder.path().into()), ..web::Config::default() };
    let running = web::start(config).unwrap();
    let connect = || {
        let client = TcpStream::connect(running.addr()).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        client
    };
    let before_kib = resident_kib();
    let mut slow: Vec<_> = (0..SLOW).map(|_| connect()).collect();
    for kind in ["/large", "/dynamic/random?size=50000000"] {
        for client in &mut slow {
            client.write_all(format!("GET {kind} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).unwrap();
            client.read_exact(&mut [0; 1_000]).unwrap();
        }
        let begun = Instant::now();
        let mut quick = connect();
        quick.write_all(b"GET /small HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        quick.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("small") && begun.elapsed() < Duration::from_secs(5), "{answer}");
        let grown = resident_kib().saturating_sub(before_kib);
        println!("{grown} KiB for {SLOW} clients");
        assert!(grown < SLOW * KIB_EACH, "{grown} KiB for {SLOW} clients that read slowly");
        let (before, begun) = (used_ms(), Instant::now());
        std::thread::sleep(Duration::from_millis(500));
        let (used, waited) = (used_ms() - before, begun.elapsed().as_millis());
        assert!(used < waited / 5, "{used} ms of CPU for nothing in {waited} ms");
        let mut last = slow.pop().unwrap();
        let mut room = vec![0; 1 << 20];
        let mut rest = FILE_BYTES - 1_000;
        while rest > 0 {
            let count = last.read(&mut room).unwrap();
            assert!(count > 0, "{rest} bytes are missing");
            rest = rest.saturating_sub(count as u64);
        }
        slow = (0..SLOW).map(|_| connect()).collect();
    }
}
