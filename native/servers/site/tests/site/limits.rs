//! Requests just beyond each limit, and hostile paths and headers.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use site::limits::Limits;

use crate::common::Site;

fn limited(change: impl FnOnce(&mut Limits)) -> Site {
    Site::with(|config| change(&mut config.limits))
}

fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\n{headers}\r\n")
}

fn post(form: &str) -> String {
    format!("POST /users HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{form}", form.len())
}

#[test]
fn the_length_of_complete_and_incomplete_heads_is_limited() {
    let site = limited(|limits| limits.head_bytes = 200);
    let head = |bytes: usize| {
        let bare = get("/image/1.gif", "X: \r\n").len();
        get("/image/1.gif", &format!("X: {}\r\n", "x".repeat(bytes - bare)))
    };
    assert_eq!((head(200).len(), site.ask(head(200)).status), (200, 200));
    assert_eq!(head(201).len(), 201);
    site.refuses(head(201), 431, true);
    site.refuses(&head(300)[..201], 431, true);
    site.refuses(format!("GET /{}", "x".repeat(200)), 414, true);
}

#[test]
fn the_number_of_lines_of_a_head_is_limited() {
    let site = limited(|limits| limits.headers = 10);
    // Host is the tenth header line.
    assert_eq!(site.ask(get("/image/1.gif", &"A: b\r\n".repeat(9))).status, 200);
    site.refuses(get("/image/1.gif", &"A: b\r\n".repeat(10)), 431, true);
}

#[test]
fn the_length_of_a_request_target_is_limited() {
    let site = limited(|limits| limits.target_bytes = 20);
    site.refuses(get(&format!("/{}", "x".repeat(19)), ""), 404, false);
    site.refuses(get(&format!("/{}", "x".repeat(20)), ""), 414, false);
    site.refuses(get(&format!("/?{}", "x".repeat(20)), ""), 414, false);
}

#[test]
fn the_length_of_bodies_is_limited_with_content_length_and_in_chunks() {
    let site = limited(|limits| limits.body_bytes = 30);
    let form = |bytes: usize| format!("city={}", "x".repeat(bytes - 5));
    assert_eq!(site.ask(post(&form(30))).status, 201);
    site.refuses(post(&form(31)), 413, true);
    let head = "POST /users HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunked = |form: &str| format!("{head}{:x}\r\n{form}\r\n0\r\n\r\n", form.len());
    assert_eq!(site.ask(chunked(&form(30))).status, 201);
    // The refusal does not wait for the last chunk.
    site.refuses(chunked(&form(31)).strip_suffix("0\r\n\r\n").unwrap(), 413, true);
    // A body of 4,000 bytes is below the default limit, but the lines of its chunks count, too.
    let crumbs = "1;padding-that-counts\r\nx\r\n".repeat(4_000);
    Site::start().refuses(format!("{head}{crumbs}"), 413, true);
}

#[test]
fn the_number_of_fields_of_a_form_is_limited() {
    let site = limited(|limits| limits.form_fields = 3);
    assert_eq!(site.ask(post(&["city=a"; 3].join("&"))).status, 201);
    site.refuses(post(&["city=a"; 4].join("&")), 400, false);
}

#[test]
fn connections_beyond_a_limit_get_status_503_until_a_connection_ends() {
    let in_all: fn(&mut Limits) = |limits| limits.connections = 2;
    let of_an_address: fn(&mut Limits) = |limits| limits.connections_per_address = 2;
    for (limit, serves_another_address) in [(in_all, false), (of_an_address, true)] {
        let site = limited(limit);
        let (mut a, mut b) = (site.client(), site.client());
        assert_eq!((a.get("/", Some(1)).status, b.get("/", Some(1)).status), (200, 200));
        assert_eq!(site.client().head().status, 503);
        // All addresses of 127.0.0.0/8 belong to this machine.
        let other = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        other.bind(&SocketAddr::from(([127, 0, 0, 2], 0)).into()).unwrap();
        other.connect(&site.running.addr().into()).unwrap();
        let mut other = crate::client::Client::of(TcpStream::from(other));
        if serves_another_address {
            assert_eq!(other.get("/", Some(1)).status, 200);
        } else {
            assert_eq!(other.head().status, 503);
        }
        drop((a, other));
        let again = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            let mut client = site.client();
            client.send(get("/", ""));
            client.head().status == 200
        });
        assert!(again, "a place that is free again is given away");
    }
}

#[test]
fn a_stalled_or_idle_client_is_cut_off() {
    let site = limited(|limits| (limits.stall_ms, limits.idle_ms) = (300, 1500));
    let (mut in_head, mut in_body, mut idle) = (site.client(), site.client(), site.client());
    in_head.send("GET / HTTP/1.1\r\nHo");
    in_body.send("POST /users HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nname");
    assert!(in_head.is_closed() && in_body.is_closed());
    assert!(idle.is_closed());
    site.has_counted(|stats| stats.traffic.disconnections == 3);
    assert_eq!(site.running.stats().traffic.aborted, 2, "idling is no violation");
    assert_eq!(site.client().get("/", Some(1)).status, 200);
}

#[test]
fn a_limit_out_of_range_is_a_startup_error() {
    for (name, limits) in [
        ("head_bytes", Limits { head_bytes: 20_000, ..Limits::default() }),
        ("headers", Limits { headers: 101, ..Limits::default() }),
        ("body_bytes", Limits { body_bytes: (1 << 20) + 1, ..Limits::default() }),
        ("stall_bytes", Limits { stall_bytes: 0, ..Limits::default() }),
        ("connections", Limits { connections: 0, ..Limits::default() }),
    ] {
        let config = site::Config { limits, ..site::Config::default() };
        let error = site::start(config, &site::Expected::default()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn no_path_leads_out_of_the_site() {
    let site = Site::start();
    for path in [
        "/../etc/passwd",
        "/image/../../../../etc/passwd",
        "/image/..%2f..%2fetc%2fpasswd",
        "/image/%2e%2e/1.gif",
        "/image/1.gif/../../etc/passwd",
        "/image/....//1.gif",
        "/image/..\\..\\etc\\passwd",
        "/image/1.gif%00.html",
        "//etc/passwd",
        "/%c0%ae%c0%ae/etc/passwd",
        "/image//etc/passwd",
        "/people.upd",
    ] {
        let answer = site.ask(get(path, ""));
        assert_eq!(answer.status, 404, "{path}");
        assert!(!answer.text().contains("root:"), "{path}");
    }
    for target in ["file:///etc/passwd", "http://elsewhere/etc/passwd", "*"] {
        let status = site.ask(get(target, "")).status;
        assert!((400..500).contains(&status), "{target}: {status}");
    }
    assert_eq!(site.client().get("/", Some(1)).status, 200, "the site goes on");
}

/// A client's text is returned in heads (the cookie of `/enter`) and in pages (an unknown user). The text
/// must add neither a line to a head nor markup to a page.
#[test]
fn no_text_of_a_request_becomes_a_header_or_markup() {
    let site = Site::start();
    for value in [
        "1%0d%0aSet-Cookie:%20evil=1",
        "1%0aX-Evil:%201",
        "%0d%0a%0d%0a%3Cscript%3E",
        "1;%20Domain=evil",
        "1%00",
    ] {
        let mut client = site.client();
        client.send(get(&format!("/enter?user={value}"), ""));
        let answer = client.answer();
        assert_eq!(answer.status, 400, "{value}");
        assert!(!answer.head.to_lowercase().contains("evil"), "{}", answer.head);
        assert_eq!(client.get("/", Some(1)).status, 200, "and no forged answer follows it");
    }
    for cookie in ["<script>alert(1)</script>", "1\"><img src=x onerror=y>", "7\tX-Evil: 1", "-1", "1e3"] {
        let answer = site.ask(get("/", &format!("Cookie: user={cookie}\r\n")));
        assert_eq!(answer.status, 404, "{cookie}");
        assert!(!answer.text().contains("<script>") && !answer.text().contains("<img src=x"), "{cookie}");
        assert!(!answer.head.to_lowercase().contains("evil"), "{}", answer.head);
    }
    // A bare carriage return and a folded line enable request smuggling (RFC 9112 sections 2.2 and 5.2).
    for line in ["X: a\rSet-Cookie: evil=1\r\n", "X: a\r\n Set-Cookie: evil=1\r\n", "X\0: a\r\n"] {
        assert_eq!(site.ask(get("/", line)).status, 400, "{line:?}");
    }
    let stored = site.client().post("/preferences", Some(1), "city=a%0d%0aSet-Cookie:%20evil%3d1");
    assert_eq!(stored.status, 400, "control characters are not stored");
    let stored = site.client().post("/preferences", Some(1), "city=%3Cscript%3Ealert(1)%3C/script%3E");
    assert_eq!(stored.status, 204);
    assert!(!site.client().get("/", Some(1)).text().contains("<script>alert"));
}
