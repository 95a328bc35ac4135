//! Clients that read a long answer slowly or not at all.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use crate::client::slow_reader;
use crate::common::Web;

const STEP: Duration = Duration::from_millis(100);
const LONG_BYTES: usize = 8_000_000;

/// Long answers, one for each method by which the server sends them.
const LONG: [&str; 2] = ["/long", "/dynamic/constant?size=8000000"];

fn patient(stall_bytes: usize) -> Web {
    let web = Web::with(|config| (config.limits.stall_ms, config.limits.stall_bytes) = (2_000, stall_bytes));
    web.file("long", vec![b'x'; LONG_BYTES]);
    web
}

fn asking(web: &Web, path: &str) -> TcpStream {
    slow_reader(web.running.addr(), format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"))
}

/// Reads `each` bytes per step for six seconds, then the remainder; returns whether the answer is complete.
fn reads_slowly(web: &Web, path: &str, each: usize) -> bool {
    let mut socket = asking(web, path);
    let mut cup = [0; 8_192];
    let begun = (0..50).take_while(|_| socket.read_exact(&mut cup).is_ok()).count() * cup.len();
    let came = (0..60).take_while(|_| {
        sleep(STEP);
        socket.read_exact(&mut cup[..each]).is_ok()
    });
    let mut count = begun + came.count() * each;
    while count < LONG_BYTES {
        match socket.read(&mut cup) {
            Ok(more) if more > 0 => count += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => return false,
        }
    }
    true
}

/// At 10 KB a second the kernel reports a writable socket only after three seconds, because it waits until 32
/// KiB of its buffer are sent. That exceeds the stall time for clients that read nothing.
#[test]
fn a_slow_reader_gets_its_answer_and_a_reader_below_the_minimum_rate_is_cut_off() {
    for (stall_bytes, gets_all) in [(4_096, true), (1_000_000, false)] {
        let web = &patient(stall_bytes);
        std::thread::scope(|scope| {
            let readers: Vec<_> = [(LONG[0], 8_192), (LONG[0], 1_024), (LONG[1], 8_192), (LONG[1], 1_024)]
                .map(|(path, each)| scope.spawn(move || reads_slowly(web, path, each)))
                .into_iter()
                .map(|reader| reader.join().unwrap())
                .collect();
            assert_eq!(readers, [gets_all; 4], "{stall_bytes}");
        });
        web.has_counted(|stats| stats.traffic.aborted == if gets_all { 0 } else { 4 });
    }
}

#[test]
fn a_client_that_does_not_read_is_cut_off_and_a_disconnect_is_noticed() {
    let web = patient(4_096);
    let mut silent: Vec<_> = LONG.iter().map(|path| asking(&web, path)).collect();
    for path in LONG {
        let mut leaves = asking(&web, path);
        leaves.read_exact(&mut [0; 1_000]).unwrap();
    }
    web.has_counted(|stats| stats.traffic.disconnections >= 2);
    web.has_counted(|stats| (stats.traffic.aborted, stats.traffic.disconnections) == (2, 4));
    for socket in &mut silent {
        let mut rest = Vec::new();
        match socket.read_to_end(&mut rest) {
            Ok(_) => assert!(rest.len() < LONG_BYTES),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
    }
}

#[test]
fn a_file_truncated_during_its_transfer_ends_the_connection() {
    let web = patient(4_096);
    let mut socket = asking(&web, "/long");
    socket.read_exact(&mut [0; 1_000]).unwrap();
    std::fs::File::options().write(true).open(web.inside("long")).unwrap().set_len(5_000_000).unwrap();
    let mut rest = Vec::new();
    socket.read_to_end(&mut rest).unwrap();
    assert!(rest.len() < 5_000_000);
    web.has_counted(|stats| stats.served.failed == 1);
}
