//! HTTP/1.1 by RFC 9110 and RFC 9112, and refused requests.

use std::time::{Duration, Instant};

use tls::{ClientSpec, Connector, ServerSpec, Stream};

use crate::client::{assert_connections_persist_as_requested, assert_nothing_is_smuggled};
use crate::common::Web;

fn with_file() -> Web {
    let web = Web::start();
    web.file("a.txt", "content");
    web
}

const GET: &str = "GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn connections_close_or_persist_as_the_request_says() {
    let web = with_file();
    assert_connections_persist_as_requested(web.running.addr(), "/a.txt", "", "content");
}

#[test]
fn pipelined_requests_with_long_and_short_answers_are_answered_in_order() {
    let web = with_file();
    web.program("echo", "printf 'Content-Type: text/plain\\n\\n'; cat");
    web.file("long", vec![b'l'; 300_000]);
    let long = "GET /long HTTP/1.1\r\nHost: a\r\n\r\n";
    let nothing = "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n";
    let program = "POST /cgi-bin/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    let text = "GET /dynamic/constant?size=200000 HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut client = web.client();
    let requests = [GET, long, program, nothing, text, long, GET].concat().repeat(5);
    client.send(requests);
    client.finish_sending();
    for _ in 0..5 {
        assert_eq!(client.answer().text(), "content");
        assert_eq!(client.answer().body.len(), 300_000);
        assert_eq!(client.answer().text(), "hello");
        assert_eq!(client.answer().status, 404);
        assert_eq!(client.answer().body.len(), 200_000);
        assert_eq!(client.answer().body.len(), 300_000);
        assert_eq!(client.answer().text(), "content");
    }
    assert!(client.is_closed());
}

#[test]
fn requests_behind_a_request_with_connection_close_leave_its_answer_intact() {
    let web = with_file();
    web.file("long", vec![b'l'; 3_000_000]);
    for path in ["/a.txt", "/long"] {
        let last = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let mut client = web.client();
        // The client sends more bytes than the server reads at once: if a socket is closed with unread bytes,
        // the kernel resets the connection.
        client.send(last.repeat(2_000));
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(client.answer().status, 200);
        assert!(client.is_closed());
    }
}

#[test]
fn bytes_that_are_not_http_are_refused_and_the_connection_closed() {
    let web = with_file();
    let long = "x".repeat(20_000);
    for (request, status) in [
        ("nonsense\r\n\r\n", 400),
        ("GET /a.txt\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        ("GET /a\0.txt HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /a.txt HTTP/2.0\r\n\r\n", 505),
        (&format!("GET /{long}"), 414),
        (&format!("GET / HTTP/1.1\r\nHost: a\r\nX: {long}\r\n\r\n"), 431),
        (&format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "A: b\r\n".repeat(120)), 431),
        ("POST /cgi-bin/a HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", 413),
    ] {
        let mut client = web.client();
        client.send(request);
        let answer = client.answer();
        assert_eq!((answer.status, answer.header("connection")), (status, Some("close")), "{request:.60}");
        assert!(answer.body.len() < 200 && client.is_closed());
    }
    web.has_counted(|stats| (stats.traffic.aborted, stats.served.requests) == (9, 9));
}

#[test]
fn a_refusal_of_a_well_framed_request_leaves_the_connection_open() {
    let web = with_file();
    let mut client = web.client();
    for (request, status) in [
        ("GET /a.txt HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET /a.txt HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n".into(), 400),
        (format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(8_001)), 414),
        ("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n".into(), 404),
        ("DELETE /a.txt HTTP/1.1\r\nHost: a\r\n\r\n".into(), 405),
        ("POST /dynamic/env HTTP/1.1\r\nHost: a\r\n\r\n".into(), 405),
        ("BREW /a.txt HTTP/1.1\r\nHost: a\r\n\r\n".into(), 501),
    ] {
        client.send(&request);
        let answer = client.answer();
        assert_eq!(answer.status, status, "{request:.60}");
        assert_eq!(answer.header("allow"), (status == 405).then_some("GET, HEAD"));
    }
    assert_eq!(client.get("/a.txt", None).text(), "content");
    for (path, method) in
        [("/a.txt", "PUT"), ("/nothing", "GET"), ("/a.txt", "GET"), ("/dynamic/env", "POST")]
    {
        let mut client = web.client();
        client.send(format!(
            "{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{GET}",
            GET.len()
        ));
        assert_eq!(client.answer().header("connection"), Some("close"), "{method} {path}");
        assert!(client.is_closed(), "a body is not taken for a request");
    }
}

#[test]
fn no_request_can_be_smuggled_behind_another_request() {
    let web = with_file();
    web.program("echo", "printf 'Content-Type: text/plain\\n\\n'; cat");
    let sent = assert_nothing_is_smuggled(web.running.addr(), "/cgi-bin/echo", GET);
    web.has_counted(|stats| (stats.served.requests, stats.served.files, stats.served.cgi) == (sent, 0, 0));
}

#[test]
fn a_client_that_reads_nothing_delays_no_other_client_and_gets_its_answer_later() {
    let web = with_file();
    let mut greedy = web.client();
    let requests = GET.repeat(100_000);
    let asking = std::thread::spawn(move || {
        greedy.send(requests);
        greedy
    });
    std::thread::sleep(Duration::from_millis(200));
    let start = Instant::now();
    assert_eq!(web.get("/a.txt").status, 200);
    assert!(start.elapsed() < Duration::from_secs(2));
    let mut reader = asking.join().unwrap();
    for _ in 0..100_000 {
        assert_eq!(reader.answer().text(), "content");
    }
}

#[test]
fn several_threads_share_one_port_and_a_stop_closes_their_connections() {
    let web = Web::with(|config| config.threads = 3);
    web.file("a.txt", "content");
    let mut clients: Vec<_> = (0..40).map(|_| web.client()).collect();
    assert!(clients.iter_mut().all(|client| client.get("/a.txt", None).text() == "content"));
    web.has_counted(|stats| stats.served.files == 40);
    drop(web.running);
    assert!(clients.iter_mut().all(|client| client.is_closed()));
}

#[test]
fn files_are_sent_over_tls_and_a_client_without_tls_is_refused() {
    use std::io::{Read, Write};
    let web = Web::with(|config| config.tls = Some(ServerSpec::default()));
    let content: Vec<u8> = (0..500_000u32).map(|n| n as u8).collect();
    web.file("long", &content);
    let spec = ClientSpec { ca_pem: web.running.made_ca().map(str::to_owned), ..ClientSpec::default() };
    let socket = std::net::TcpStream::connect(web.running.addr()).unwrap();
    let mut stream = Stream::new(socket);
    stream.connect(&Connector::new(&spec, "127.0.0.1", &[]).unwrap()).unwrap();
    assert!(stream.shake().unwrap());
    stream.write_all(b"GET /long HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n") && answer.ends_with(&content));
    let mut plain = web.client();
    plain.send(GET);
    assert_eq!(plain.answer().status, 400);
}
