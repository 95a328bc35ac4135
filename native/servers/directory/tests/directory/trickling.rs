//! Clients that trickle: each byte arrives within the directory's stall time.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::Duration;

use crate::common::{
    Attributes, Client, Search, eventually, person, search_for_all, serve, serve_large_entries, trusting,
    write_add,
};
use directory::Running;
use socket2::{Domain, Socket, Type};
use wire::ldap::ResultCode;

/// Twenty bytes within the stall time are below the minimum, 1,200 bytes are above.
const PATIENCE: &str = r#""stall_ms": 2000, "stall_bytes": 100"#;
const STEP: Duration = Duration::from_millis(100);

/// Sends one byte per step; returns the number of bytes sent before the directory closed the connection.
fn trickle(socket: &mut TcpStream, bytes: &[u8]) -> usize {
    socket.set_read_timeout(Some(STEP)).unwrap();
    let cut = bytes.iter().position(|byte| {
        let sent = socket.write_all(&[*byte]);
        match socket.read(&mut [0; 1_000]) {
            Ok(count) => count == 0 || sent.is_err(),
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    });
    cut.expect("the message came to its end")
}

fn an_add(name: &str) -> Vec<u8> {
    let filler = "x".repeat(1_500);
    let attributes: Attributes<'_> =
        &[("objectClass", &["RTPerson"]), ("cn", &[name]), ("description", &[&filler])];
    let mut out = Vec::new();
    write_add(&mut out, 7, &person(name), attributes);
    out
}

#[test]
fn a_trickling_message_is_cut_off_and_a_slow_message_is_not() {
    let (directory, mut slow) = serve(&format!(r#"{{"limits": {{{PATIENCE}}}}}"#));
    // The whole transfer takes much longer than the stall time.
    for piece in an_add("Slow 1").chunks(60) {
        slow.send(piece);
        sleep(STEP);
    }
    assert_eq!(slow.done().code, ResultCode::SUCCESS);
    assert_eq!(directory.stats().traffic.aborted, 0);
    let sent = trickle(&mut Client::connect(directory.addr()).stream, &an_add("Trickle 2"));
    assert!(sent > 1, "it is not for silence that it is cut off");
    assert!(eventually(|| directory.stats().traffic.aborted == 1));
    assert_eq!(slow.bind("", "").code, ResultCode::SUCCESS);
}

/// A directory with 10 MB of entries.
fn crowded(limits: &str) -> Running {
    serve_large_entries(&format!(r#"{{"tls": {{"start": true}}, "limits": {{{limits}}}}}"#)).0
}

/// A client with a small receive buffer.
fn narrow(addr: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(8_192).unwrap();
    socket.connect(&addr.into()).unwrap();
    let socket: TcpStream = socket.into();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket
}

/// Reads up to `most` bytes per step; returns the number of bytes read before the end or the last step.
fn sip(socket: &mut TcpStream, most: usize, steps: usize) -> usize {
    let mut cup = vec![0; most];
    let sips = (0..steps).map_while(|_| {
        sleep(STEP);
        socket.read(&mut cup).ok().filter(|count| *count > 0)
    });
    sips.sum()
}

#[test]
fn a_reader_below_the_minimum_rate_is_cut_off() {
    let directory = crowded(r#""stall_ms": 1000, "stall_bytes": 1000000"#);
    let mut sipping = narrow(directory.addr());
    sipping.write_all(&search_for_all(1)).unwrap();
    assert!(sip(&mut sipping, 4_096, 10) >= 4_096);
    assert!(eventually(|| {
        let _ = sip(&mut sipping, 4_096, 1);
        directory.stats().traffic.aborted == 1
    }));
}

/// TLS reports a piece as written only when the whole piece is written, which takes this reader six seconds.
#[test]
fn a_slow_reader_over_tls_is_not_cut_off() {
    let directory = crowded(r#""stall_ms": 2000, "stall_bytes": 4096"#);
    let mut slow = Client::of(narrow(directory.addr())).secured(&trusting(&directory));
    slow.send(&search_for_all(1));
    let mut came = vec![0; 1_024];
    for _ in 0..50 {
        sleep(STEP);
        slow.stream.0.socket().read_exact(&mut came).unwrap();
    }
    assert_eq!(directory.stats().traffic.aborted, 0);
}

/// The kernel reports that a socket is writable after it has sent half of the socket's buffer. For this
/// reader that takes three seconds.
#[test]
fn a_slow_reader_gets_the_whole_answer() {
    let directory = crowded(r#""stall_ms": 2000, "stall_bytes": 4096"#);
    let mut slow = Client::of(narrow(directory.addr()));
    slow.send(&search_for_all(1));
    let mut came = vec![0; 1_024];
    for _ in 0..60 {
        sleep(STEP);
        slow.stream.read_exact(&mut came).unwrap();
    }
    assert_eq!(directory.stats().traffic.aborted, 0);
    // Reads the remainder at once. The earlier bytes were discarded, so the test counts bytes.
    let mut ended = Vec::new();
    slow.stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    let _ = slow.stream.read_to_end(&mut ended);
    assert!(ended.len() > 9_000_000, "{}", ended.len());
    assert_eq!(Client::connect(directory.addr()).search(&Search::default()).1.code, ResultCode::SUCCESS);
}
