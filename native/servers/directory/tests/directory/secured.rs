//! TLS connections that a client ends or stalls, by malice or by mistake.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{eventually, start, trusting};
use directory::Running;
use tls::{Fault, Stream};
use wire::ldap::{oid, request};

/// By default no idle connection is closed. These limits close stalled connections.
const LDAPS: &str = r#"{"tls": {}, "limits": {"stall_ms": 1500, "stall_bytes": 100}}"#;
const STEP: Duration = Duration::from_millis(100);

/// A socket that writes at most `most` bytes at a time, or holds back written bytes until `let_go` sends them
/// in one write.
struct Held {
    socket: TcpStream,
    most: usize,
    bytes: Vec<u8>,
    held: bool,
}

impl Held {
    fn let_go(&mut self) {
        self.held = false;
        self.socket.write_all(&std::mem::take(&mut self.bytes)).unwrap();
    }

    fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.socket.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
        }
    }
}

impl Read for Held {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.socket.read(room)
    }
}

impl Write for Held {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.held {
            return self.bytes.write(bytes);
        }
        self.socket.write(&bytes[..bytes.len().min(self.most)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn knocking(directory: &Running) -> Stream<Held> {
    let socket = TcpStream::connect(directory.addr()).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.set_nodelay(true).unwrap();
    let mut stream = Stream::new(Held { socket, most: usize::MAX, bytes: Vec::new(), held: false });
    stream.connect(&trusting(directory)).unwrap();
    stream
}

fn secured(directory: &Running) -> Stream<Held> {
    let mut stream = knocking(directory);
    assert!(stream.shake().unwrap());
    stream
}

fn who_am_i() -> Vec<u8> {
    let mut out = Vec::new();
    request::write_extended(&mut out, 1, oid::WHO_AM_I, None);
    out
}

fn is_answered(stream: &mut Stream<Held>) -> bool {
    stream.write_all(&who_am_i()).unwrap();
    let mut room = [0; 100];
    stream.read_some(&mut room).unwrap() > 0 && room[0] == 0x30
}

#[test]
fn a_tls_handshake_may_arrive_byte_by_byte() {
    let directory = start(r#"{"tls": {}}"#);
    let mut stream = knocking(&directory);
    stream.socket().most = 1;
    assert!(stream.shake().unwrap());
}

#[test]
fn a_client_that_stalls_within_a_tls_record_is_cut_off_and_an_idle_client_is_not() {
    let directory = start(LDAPS);
    let (mut idle, mut silent) = (secured(&directory), secured(&directory));
    assert!(is_answered(&mut idle) && is_answered(&mut silent));
    silent.socket().socket.write_all(&[23, 3, 3, 1, 0, 7, 7, 7]).unwrap();
    assert!(silent.socket().is_closed());
    assert!(eventually(|| directory.stats().traffic.aborted == 1));
    assert!(is_answered(&mut idle));
}

#[test]
fn a_trickling_tls_record_is_cut_off_and_a_slow_record_is_not() {
    let directory = start(LDAPS);
    let (mut slow, mut trickling) = (secured(&directory), secured(&directory));
    let record = |stream: &mut Stream<Held>, bytes: usize| {
        stream.socket().held = true;
        let message = [vec![0x30, 0x82, 0x07, 0xd0], vec![0; 2_000]].concat();
        stream.write_all(&message).unwrap();
        let held = stream.socket();
        let cut = std::mem::take(&mut held.bytes).chunks(bytes).position(|piece| {
            sleep(STEP);
            held.socket.write_all(piece).is_err()
        });
        cut.is_some()
    };
    // The message is malformed, which the server notices once the message is complete.
    assert!(!record(&mut slow, 100));
    let mut answer = [0; 200];
    assert!(slow.read_some(&mut answer).unwrap() > 0);
    assert!(eventually(|| directory.stats().traffic.aborted == 1));
    assert!(record(&mut trickling, 1));
    assert!(eventually(|| directory.stats().traffic.aborted == 2));
}

#[test]
fn a_trickling_tls_handshake_is_cut_off() {
    let directory = start(LDAPS);
    let mut stream = knocking(&directory);
    stream.socket().held = true;
    stream.socket().socket.set_read_timeout(Some(STEP)).unwrap();
    let _ = stream.shake();
    let held = stream.socket();
    let cut = std::mem::take(&mut held.bytes).iter().position(|byte| {
        sleep(STEP);
        held.socket.write_all(&[*byte]).is_err()
    });
    assert!(cut.is_some_and(|sent| sent > 1), "{cut:?}");
    assert!(eventually(|| directory.stats().traffic.aborted == 1));
}

#[test]
fn a_close_notify_behind_a_request_ends_the_connection_after_the_answer() {
    let directory = start(r#"{"tls": {}}"#);
    let mut stream = secured(&directory);
    assert!(is_answered(&mut stream));
    stream.socket().held = true;
    stream.write_all(&who_am_i()).unwrap();
    stream.close();
    stream.socket().let_go();
    let mut room = [0; 100];
    assert!(stream.read_some(&mut room).unwrap() > 0);
    assert!(stream.socket().is_closed(), "the socket has not been shut by this side");
    assert!(eventually(|| directory.stats().traffic.disconnections == 1));
}

#[test]
fn a_connection_beyond_the_limit_gets_a_tls_alert() {
    let directory = start(r#"{"tls": {}, "limits": {"connections": 1}}"#);
    let mut inside = secured(&directory);
    let mut stream = knocking(&directory);
    let error = stream.shake().unwrap_err();
    assert_eq!(stream.fault(&error), Some(Fault::Refused), "{error}");
    assert!(is_answered(&mut inside));
    assert!(eventually(|| directory.stats().traffic.refused == 1));
}
