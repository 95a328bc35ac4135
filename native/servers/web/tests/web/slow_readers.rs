//! The memory that slow readers cost. This test runs in its own process, because it measures the memory of
//! the whole process.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::common::Web;
use crate::own_process::in_own_process;
use crate::usage::{resident_kib, used_ms};

/// The number of clients that request the file and read a little of it.
const SLOW: usize = 200;

const FILE_BYTES: u64 = 50_000_000;

/// The memory that one client may cost: an unsent piece, and unused capacity of the buffers.
const KIB_EACH: usize = 256;

#[test]
fn slow_readers_of_a_large_file_use_little_memory_and_get_the_whole_file() {
    if in_own_process(slow_readers_of_a_large_file_use_little_memory_and_get_the_whole_file) {
        return;
    }
    let web = Web::start();
    File::create(web.inside("large")).unwrap().set_len(FILE_BYTES).unwrap();
    web.file("small", "small");
    let connect = || {
        let client = TcpStream::connect(web.running.addr()).unwrap();
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
