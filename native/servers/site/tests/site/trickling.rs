//! Clients that trickle: each byte arrives within the site's stall time.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use socket2::SockRef;
use tls::{ClientSpec, Connector, Fault, ServerSpec, Stream};

use crate::client::slow_reader;
use crate::common::Site;

const STEP: Duration = Duration::from_millis(100);

/// Twenty bytes within the stall time are below the minimum, 1,200 bytes are above.
fn impatient() -> Site {
    Site::with(|config| (config.limits.stall_ms, config.limits.stall_bytes) = (2_000, 100))
}

/// Sends `each` bytes per step; returns the answer, or an empty text if the site closes the connection
/// without an answer.
fn sent(socket: &mut TcpStream, request: &str, each: usize) -> String {
    socket.set_read_timeout(Some(STEP)).unwrap();
    let mut answer = Vec::new();
    for piece in request.as_bytes().chunks(each) {
        let gone = socket.write_all(piece).is_err();
        let mut room = [0; 1_000];
        match socket.read(&mut room) {
            Ok(count) if count > 0 && !gone => answer.extend_from_slice(&room[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            _ => return String::from_utf8_lossy(&answer).into_owned(),
        }
    }
    if answer.is_empty() {
        // The whole request is sent; its answer may take longer than a step.
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut room = [0; 1_000];
        let count = socket.read(&mut room).unwrap();
        answer.extend_from_slice(&room[..count]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_trickling_request_is_cut_off_and_a_slow_request_is_not() {
    let site = impatient();
    let line = format!("X: {}\r\n", "x".repeat(1_800));
    let head = format!("GET /image/1.gif HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{line}\r\n");
    let form = format!("city={}", "%61".repeat(600));
    let post = format!("POST /users HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", form.len());
    let chunked = "POST /users HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;";
    let start = || TcpStream::connect(site.running.addr()).unwrap();
    assert!(sent(&mut start(), &head, 60).starts_with("HTTP/1.1 200"));
    let mut slow = start();
    slow.write_all(post.as_bytes()).unwrap();
    assert!(sent(&mut slow, &form, 60).starts_with("HTTP/1.1 400"), "a city of 600 letters");
    assert_eq!(site.running.stats().traffic.aborted, 0);
    for (begun, trickled) in [("", &head), (&post, &form), (chunked, &line), ("", &"\r\n".repeat(500))] {
        let mut trickling = start();
        trickling.write_all(begun.as_bytes()).unwrap();
        assert_eq!(sent(&mut trickling, trickled, 1), "", "{begun}");
    }
    site.has_counted(|stats| stats.traffic.aborted == 4);
    assert_eq!(site.client().get("/", Some(1)).status, 200);
}

/// Reads for six seconds at 80 KB a second, then the remainder; returns whether the answer is complete.
fn reads_slowly(stall_bytes: usize) -> bool {
    let site =
        Site::with(|config| (config.limits.stall_ms, config.limits.stall_bytes) = (2_000, stall_bytes));
    let pages = "GET / HTTP/1.1\r\nHost: a\r\nCookie: user=1\r\n\r\n".repeat(1_000);
    let mut socket = slow_reader(site.running.addr(), pages);
    let mut cup = [0; 8_192];
    let came = (0..60).take_while(|_| {
        sleep(STEP);
        socket.read_exact(&mut cup).is_ok()
    });
    let mut rest = came.count() * cup.len();
    site.has_counted(|stats| stats.traffic.aborted == u64::from(stall_bytes > 160_000));
    while rest < 8_000_000 {
        match socket.read(&mut cup) {
            Ok(count) if count > 0 => rest += count,
            _ => return false,
        }
    }
    true
}

/// The kernel reports that a socket is writable only after much of the socket's buffer has become free. With
/// a slow reader that may take longer than the stall time.
#[test]
fn a_reader_below_the_minimum_rate_is_cut_off_and_a_slow_reader_gets_its_answer() {
    let [sipped, slow] = [1_000_000, 4_096].map(|least| std::thread::spawn(move || reads_slowly(least)));
    assert!(!sipped.join().unwrap() && slow.join().unwrap());
}

fn secure(change: impl FnOnce(&mut site::Config)) -> Site {
    Site::with(|config| {
        config.tls = Some(ServerSpec::default());
        change(config);
    })
}

/// A client that trusts the site, before its TLS handshake.
fn knocking(site: &Site) -> Stream<TcpStream> {
    let spec = ClientSpec { ca_pem: site.running.made_ca().map(str::to_owned), ..ClientSpec::default() };
    let socket = TcpStream::connect(site.running.addr()).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut stream = Stream::new(socket);
    stream.connect(&Connector::new(&spec, "127.0.0.1", &[]).unwrap()).unwrap();
    stream
}

#[test]
fn a_client_that_stalls_within_a_tls_record_is_cut_off() {
    let site = secure(|config| (config.limits.stall_ms, config.limits.idle_ms) = (300, 0));
    let mut stream = knocking(&site);
    assert!(stream.shake().unwrap());
    stream.socket().write_all(&[23, 3, 3, 1, 0, 7, 7, 7]).unwrap();
    let mut rest = Vec::new();
    let ended = stream.socket().read_to_end(&mut rest);
    assert!(!ended.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)));
    site.has_counted(|stats| stats.traffic.aborted == 1);
}

#[test]
fn a_close_notify_behind_a_request_ends_the_connection_after_the_answer() {
    let site = secure(|_| {});
    let mut stream = knocking(&site);
    assert!(stream.shake().unwrap());
    // Sends the request and the close_notify in one segment.
    SockRef::from(&*stream.socket()).set_tcp_cork(true).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nCookie: user=1\r\n\r\n").unwrap();
    stream.close();
    SockRef::from(&*stream.socket()).set_tcp_cork(false).unwrap();
    let mut answer = Vec::new();
    stream.socket().read_to_end(&mut answer).unwrap();
    assert!(answer.len() > 8_290);
    site.has_counted(|stats| (stats.served.pages, stats.traffic.disconnections) == (1, 1));
}

#[test]
fn a_connection_beyond_the_limit_gets_a_tls_alert() {
    let site = secure(|config| config.limits.connections = 1);
    let mut inside = knocking(&site);
    assert!(inside.shake().unwrap());
    let mut outside = knocking(&site);
    let error = outside.shake().unwrap_err();
    assert_eq!(outside.fault(&error), Some(Fault::Refused), "{error}");
    site.has_counted(|stats| stats.traffic.refused == 1);
}
