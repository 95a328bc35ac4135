//! The null responder and its client on real sockets: every request gets exactly one answer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "only tests are in here")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use floor::{FloorError, Load, NullResponder, Sizes, exchange};

const LOOKUP: Sizes = Sizes { request: 104, response: 1283 };
const BIND: Sizes = Sizes { request: 14, response: 14 };

const SHORT: Duration = Duration::from_millis(200);

fn load(target: SocketAddr, connections: usize, sizes: Sizes) -> Load {
    Load {
        target,
        connections,
        duration: SHORT,
        request: vec![b'.'; sizes.request],
        response: sizes.response,
        reconnects: false,
    }
}

/// Whether a trial completes enough operations; on a busy machine it gets more time.
fn does_enough(trial: impl Fn(Duration) -> u64) -> bool {
    [1, 5, 25].into_iter().any(|times| trial(SHORT * times) > 100)
}

fn assert_comes(stream: &mut TcpStream, bytes: usize) {
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.read_exact(&mut vec![0; bytes]).unwrap();
    assert_eq!(everything(stream), 0);
}

/// The number of bytes that arrive until the peer is silent or disconnects.
fn everything(stream: &mut TcpStream) -> usize {
    stream.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
    let mut space = [0; 65536];
    let mut total = 0;
    while let Ok(read @ 1..) = stream.read(&mut space) {
        total += read;
    }
    total
}

/// The number of answered requests once the responder is idle.
fn settled(responder: &NullResponder) -> u64 {
    std::thread::sleep(Duration::from_millis(50));
    responder.answered()
}

#[test]
fn each_request_is_answered_once_however_it_is_split() {
    let responder = NullResponder::start(LOOKUP, 0).unwrap();
    let mut stream = TcpStream::connect(responder.address()).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(&[0; 100]).unwrap();
    assert_eq!(everything(&mut stream), 0);
    stream.write_all(&[0; 4]).unwrap();
    assert_comes(&mut stream, 1283);
    stream.write_all(&[0; 104 * 50 + 3]).unwrap();
    assert_comes(&mut stream, 1283 * 50);
    assert_eq!(responder.answered(), 51);
}

#[test]
fn responses_wait_for_a_client_that_does_not_read() {
    let responder = NullResponder::start(Sizes { request: 1, response: 60_000 }, 0).unwrap();
    let mut stream = TcpStream::connect(responder.address()).unwrap();
    stream.write_all(&[0; 500]).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert_comes(&mut stream, 30_000_000);
}

#[test]
fn the_responder_closes_a_connection_that_its_client_closes() {
    let responder = NullResponder::start(BIND, 0).unwrap();
    for farewell in [0, 7] {
        let mut stream = TcpStream::connect(responder.address()).unwrap();
        stream.write_all(&[0; 14]).unwrap();
        stream.read_exact(&mut [0; 14]).unwrap();
        stream.write_all(&vec![0; farewell]).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "the end, and no error");
    }
}

#[test]
fn the_client_counts_the_answers_of_the_responder() {
    for connections in [1, 64] {
        assert!(does_enough(|duration| {
            let responder = NullResponder::start(LOOKUP, 0).unwrap();
            let load = Load { duration, ..load(responder.address(), connections, LOOKUP) };
            let measured = exchange(&load).unwrap();
            let answered = settled(&responder);
            assert!((measured.operations..=measured.operations + connections as u64).contains(&answered));
            assert!(u128::from(measured.elapsed_ns) >= duration.as_nanos());
            assert!(measured.cpu_ns > 0 && measured.cpu_ns <= measured.elapsed_ns + 10_000_000);
            assert!((1..=measured.operations).contains(&measured.latency.len()));
            measured.operations
        }));
    }
}

#[test]
fn each_cycle_opens_its_own_connection() {
    assert!(does_enough(|duration| {
        let responder = NullResponder::start(BIND, 0).unwrap();
        let measured =
            exchange(&Load { duration, reconnects: true, ..load(responder.address(), 8, BIND) }).unwrap();
        // Unbinds are not counted as requests: seven bytes are half the size of a request.
        assert!((measured.operations..=measured.operations + 8).contains(&settled(&responder)));
        measured.operations
    }));
}

/// Receives an unchanged request and answers it.
fn answer_bind(stream: &mut TcpStream) {
    let mut request = [0; 14];
    stream.read_exact(&mut request).unwrap();
    assert_eq!(request, [b'.'; 14]);
    stream.write_all(&[0; 14]).unwrap();
}

#[test]
fn an_exchange_repeats_the_request_on_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    let forever = Load { duration: Duration::from_secs(60), ..load(target, 1, BIND) };
    let client = std::thread::spawn(move || exchange(&forever));
    let (mut stream, _) = listener.accept().unwrap();
    (0..3).for_each(|_| answer_bind(&mut stream));
    drop(stream);
    assert!(client.join().unwrap().is_err(), "the connection is closed");
}

#[test]
fn a_null_cycle_sends_the_bytes_of_an_ldap_client() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    let client = std::thread::spawn(move || exchange(&Load { reconnects: true, ..load(target, 1, BIND) }));
    let mut seen = Vec::new();
    for _ in 0..3 {
        let (mut stream, peer) = listener.accept().unwrap();
        answer_bind(&mut stream);
        assert_comes(&mut stream, 7);
        seen.push(peer.ip());
    }
    drop(listener);
    assert!(client.join().unwrap().is_err(), "the port is closed");
    seen.dedup();
    assert_eq!(seen.len(), 3, "each from an address of its own");
}

#[test]
fn an_error_is_reported_with_its_remedy() {
    let responder = NullResponder::start(BIND, 0).unwrap();
    let address = responder.address();
    let taken = NullResponder::start(BIND, address.port()).unwrap_err().to_string();
    assert!(taken.starts_with(&format!("cannot listen on {address}: Address already in use")), "{taken}");
    assert!(taken.ends_with("or 0 for a free one"), "{taken}");
    responder.stop();
    let gone = exchange(&load(address, 1, BIND)).unwrap_err();
    assert!(matches!(gone, FloorError::Connect { .. }), "{gone}");
    assert!(gone.to_string().ends_with("is it running?"), "{gone}");
    let none = exchange(&load(address, 0, BIND)).unwrap_err();
    assert!(none.to_string().starts_with("0 connections"), "{none}");
    let nothing = NullResponder::start(Sizes { request: 0, response: 1 }, 0).unwrap_err();
    assert!(nothing.to_string().starts_with("0 bytes for 1 bytes cannot be traded"), "{nothing}");
}

#[test]
fn a_responder_that_stops_ends_the_measurement() {
    let responder = NullResponder::start(LOOKUP, 0).unwrap();
    let forever = Load { duration: Duration::from_secs(60), ..load(responder.address(), 2, LOOKUP) };
    let client = std::thread::spawn(move || exchange(&forever));
    std::thread::sleep(Duration::from_millis(100));
    responder.stop();
    assert!(matches!(client.join().unwrap(), Err(FloorError::Closed(_))));
}
