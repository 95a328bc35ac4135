//! Steps that follow redirects on the same host, over as many connections as needed.

use std::net::TcpListener;
use std::time::Duration;

use load::{Clock, Snapshot};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::endpoints::acceptor;
use super::harness::{Totals, eventually, sum_ns};
use super::scenarios::{Seen, Server, answer, failures, ok, with};
use crate::job::Job;

const GET: &str =
    "[[operation]]\nname = 'get'\nstep = [{ name = 'go', get = '/a/start?x=1', follow = true }]";

/// A redirect with further header lines.
fn redirect(status: u16, lines: &str) -> Vec<u8> {
    answer(status, lines, "moved")
}

fn to(status: u16, location: &str) -> Vec<u8> {
    redirect(status, &format!("Location: {location}\r\n"))
}

/// The first `count` requests, as method and target.
fn asked(server: &Server, count: usize) -> Vec<(String, String)> {
    let seen = server.requests();
    seen.iter().take(count).map(|seen| (seen.method.clone(), seen.target.clone())).collect()
}

fn kinds(answer: impl Fn(&Seen, usize) -> Vec<u8> + Send + Sync + 'static, count: usize) -> Vec<String> {
    failures(&Server::new(answer).run(GET, count), "go")
}

/// The log line of the first request.
fn log_line(server: &Server, text: &str) -> Value {
    let mut engine = server.job(text).with(json!({"log": {"most": 1, "all": true}})).start(1);
    let mut log = Vec::new();
    assert!(eventually(|| {
        log.extend(engine.drain().unwrap().log);
        !log.is_empty()
    }));
    serde_json::from_str(&log[0]).unwrap()
}

fn count(snapshot: &Snapshot, step: &str) -> u64 {
    snapshot.steps.iter().filter(|row| &*row.step == step).map(|row| row.count).sum()
}

#[test]
fn a_followed_redirect_counts_as_one_request_with_the_last_answer() {
    let server = Server::new(|seen, _| match &*seen.target {
        "/a/start?x=1" => to(302, "next"),
        "/a/next" => to(301, "../b?y#part"),
        "/b?y" => with("X-Id: 7\r\n", "welcome"),
        _ => ok(""),
    });
    let text = "[[operation]]\nname = 'get'\nstep = [
        { name = 'go', get = '/a/start?x=1', follow = true, expect = { contains = 'welcome', headers.X-Id = '7' }, capture.id = { header = 'X-Id' } },
        { name = 'then', get = '/id/{id}', follow = true, expect.status = 200 },
    ]";
    let snapshot = server.run(text, 8);
    assert_eq!((failures(&snapshot, "go"), failures(&snapshot, "then")), (vec![], vec![]));
    let paths: Vec<_> = asked(&server, 4).into_iter().map(|(_, target)| target).collect();
    assert_eq!(paths, ["/a/start?x=1", "/a/next", "/b?y", "/id/7"]);
    assert!(server.requests().iter().all(|seen| seen.connection == 0));
    let requests = server.requests().len() as u64;
    assert!(count(&snapshot, "go").abs_diff(requests / 4) <= 1, "{requests}");
    let line = log_line(&server, GET);
    assert_eq!(line["asked"], "GET /a/start?x=1 (302 to next, 301 to ../b?y#part)");
    assert_eq!((&line["said"], &line["kind"]), (&json!("200 OK"), &Value::Null));
}

#[test]
fn the_time_of_a_followed_redirect_spans_all_its_requests() {
    let server = Server::new(|seen, _| {
        std::thread::sleep(Duration::from_millis(20));
        if seen.target == "/end" { ok("") } else { redirect(307, "Connection: close\r\nLocation: /end\r\n") }
    });
    let snapshot = server.run(GET, 6);
    let step = snapshot.steps.iter().find(|row| &*row.step == "go").unwrap();
    let mean_ms = sum_ns(step.clock(Clock::Service)) / step.count as f64 / 1e6;
    assert!(mean_ms >= 40.0, "{mean_ms} ms");
    // Connections that a redirect opens are not recorded twice.
    assert_eq!(count(&snapshot, "main: connect"), 1);
}

#[test]
fn a_redirect_changes_method_and_body_as_browsers_do() {
    for (method, status, expected) in [
        ("post", 301, "GET"),
        ("post", 302, "GET"),
        ("post", 303, "GET"),
        ("post", 307, "POST"),
        ("post", 308, "POST"),
        ("put", 301, "PUT"),
        ("put", 302, "PUT"),
        ("put", 303, "GET"),
        ("head", 303, "HEAD"),
        ("delete", 303, "GET"),
    ] {
        let server = Server::new(move |seen, _| match (&*seen.target, &*seen.method) {
            ("/end", "HEAD") => b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_vec(),
            ("/end", _) => ok(""),
            (_, "HEAD") => format!("HTTP/1.1 {status} X\r\nLocation: /end\r\n\r\n").into_bytes(),
            _ => to(status, "/end"),
        });
        let body = if matches!(method, "post" | "put") { ", form.a = '{random:4}'" } else { "" };
        let text = format!(
            "[[operation]]\nname = 'o'\nstep = [{{ name = 'go', {method} = '/a', follow = true, headers.X-A = 'b'{body} }}]"
        );
        let snapshot = server.run(&text, 2);
        assert_eq!(failures(&snapshot, "go"), Vec::<String>::new(), "{method} {status}");
        let seen = server.requests();
        assert_eq!((&*seen[1].method, &*seen[1].target), (expected, "/end"), "{method} {status}");
        assert_eq!(seen[1].header("X-A"), Some("b"));
        let same = expected == method.to_uppercase();
        assert_eq!(seen[1].body == seen[0].body, same || body.is_empty(), "{method} {status}");
        let of_content = ["Content-Type", "Content-Length"].map(|name| seen[1].header(name).is_some());
        assert_eq!(of_content, [same && !body.is_empty(); 2], "{method} {status}");
    }
}

#[test]
fn cookies_of_redirects_are_stored() {
    let server = Server::new(|seen, _| match &*seen.target {
        "/a/start?x=1" => redirect(303, "Set-Cookie: s=1; Path=/\r\nSet-Cookie: of=a\r\nLocation: /b/c\r\n"),
        "/b/c" => redirect(302, "Set-Cookie: s=2; Path=/\r\nLocation: /a/d\r\n"),
        _ => ok(""),
    });
    server.run(GET, 3);
    let cookies: Vec<_> =
        server.requests().iter().take(3).map(|seen| seen.header("Cookie").map(str::to_owned)).collect();
    assert_eq!(cookies, [None, Some("s=1".to_owned()), Some("of=a; s=2".to_owned())]);
}

#[test]
fn a_connection_that_ends_with_a_redirect_is_reopened() {
    let closes = "HTTP/1.1 302 X\r\nConnection: close\r\nLocation: /end\r\n";
    for first in [
        format!("{closes}Content-Length: 2\r\n\r\nok"),
        // The end of the connection is the end of the body.
        format!("{closes}\r\nmoved"),
        format!("{closes}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
    ] {
        for secure in [false, true] {
            let first = first.clone();
            let acceptor = secure.then(acceptor);
            let server = Server::over(acceptor.clone(), move |seen, _| {
                if seen.target == "/end" { ok("") } else { first.clone().into_bytes() }
            });
            let mut job = server.job(GET);
            if let Some(acceptor) = &acceptor {
                job = job.target(json!({"tls": {"ca_pem": acceptor.made_ca().unwrap()}}));
            }
            let mut totals = Totals::default();
            totals.add(server.run_job(&job, 20));
            assert_eq!((totals.kinds(), totals.count("main: connect")), (vec![], 1));
            totals.assert_accounted();
            let seen = server.requests();
            // The page is answered on a connection that stays open for the next operation.
            for pair in seen.windows(2) {
                let opened = pair[1].connection - pair[0].connection;
                assert_eq!(opened, u64::from(pair[1].target == "/end"), "{pair:?}");
            }
        }
    }
}

#[test]
fn a_redirect_fails_if_its_connection_cannot_be_reopened() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        drop(listener);
        let _ = stream.read(&mut [0; 4096]);
        stream.write_all(&redirect(302, "Connection: close\r\nLocation: /end\r\n")).unwrap();
    });
    let mut engine = Job::site(port, GET).start(1);
    let mut found = Vec::new();
    assert!(eventually(|| {
        found.extend(failures(&engine.drain().unwrap(), "go"));
        !found.is_empty()
    }));
    assert_eq!(found, ["connect-refused"]);
}

#[test]
fn a_redirect_to_another_host_is_a_failure_that_names_the_location() {
    let other = Server::new(|_, _| ok("stolen"));
    let port = other.port;
    for (location, kind) in [
        (format!("http://127.0.0.1:{port}/stolen?token=t0ken"), "redirect-elsewhere"),
        (format!("//127.0.0.1:{port}/stolen"), "redirect-elsewhere"),
        ("http://evil.example/".to_owned(), "redirect-elsewhere"),
        ("http://evil.example/a;jsessionid=t0ken".to_owned(), "redirect-elsewhere"),
        ("http://evil.example/a#access_token=t0ken&x=1".to_owned(), "redirect-elsewhere"),
        ("https://127.0.0.1/".to_owned(), "redirect-elsewhere"),
        ("file:///etc/passwd".to_owned(), "redirect-elsewhere"),
        (format!("ftp://a/?x={}", "b".repeat(300)), "redirect-elsewhere"),
        (String::new(), "bad-redirect"),
        ("http:/a".to_owned(), "bad-redirect"),
        ("/a\rX-Smuggled: 1".to_owned(), "malformed"),
        (format!("/{}", "a".repeat(9_000)), "bad-redirect"),
        (format!("/{}", "a".repeat(65_536)), "malformed"),
    ] {
        for expects in ["", ", expect.status = 302"] {
            let said = location.clone();
            let server = Server::new(move |_, _| to(302, &said));
            let text = GET.replace(" }]", &format!("{expects} }}]"));
            let snapshot = server.run(&text, 2);
            assert_eq!(failures(&snapshot, "go"), [kind], "{location:?}");
            assert!(asked(&server, 2).iter().all(|(_, target)| target == "/a/start?x=1"));
            if kind == "redirect-elsewhere" {
                let line = log_line(&server, &text);
                let shown =
                    location.replace("t0ken", "...").replace(&format!("?x={}", "b".repeat(300)), "...");
                assert_eq!(line["asked"], format!("GET /a/start?x=1 (302 to {shown})"));
                assert_eq!(line["kind"], kind);
            }
        }
    }
    assert!(other.requests().is_empty());
    let without = kinds(|_, _| redirect(302, ""), 2);
    let twice = kinds(|_, _| redirect(302, "Location: /a\r\nLocation: /b\r\n"), 2);
    assert_eq!((without, twice), (vec!["bad-redirect".to_owned()], vec!["bad-redirect".to_owned()]));
}

#[test]
fn a_redirect_may_name_the_host_of_the_request() {
    for path in ["/end", ""] {
        let server = Server::new(move |seen, _| match &*seen.target {
            "/end" | "/" => ok(""),
            _ => to(302, &format!("http://{}{path}", seen.header("Host").unwrap())),
        });
        assert_eq!(failures(&server.run(GET, 2), "go"), Vec::<String>::new());
    }
}

#[test]
fn loops_and_long_chains_of_redirects_are_failures() {
    let round = Server::new(|seen, _| to(302, if seen.target == "/x" { "/y" } else { "/x" }));
    let snapshot = round.run(GET, 42);
    assert_eq!(failures(&snapshot, "go"), ["too-many-redirects"]);
    // The first operation sends its request and follows twenty redirects. Then the next operation begins.
    assert_eq!(asked(&round, 22)[21], asked(&round, 1)[0]);
    for (length, expected) in [(20, vec![]), (21, vec!["too-many-redirects"])] {
        let answer =
            move |seen: &Seen, _| match seen.target.strip_prefix("/n").map_or(0, |n| n.parse().unwrap()) {
                n if n == length => ok(""),
                n => to(302, &format!("/n{}", n + 1)),
            };
        assert_eq!(kinds(answer, 44), expected, "{length}");
    }
}

#[test]
fn unsolicited_bytes_after_a_redirect_answer_no_request() {
    let found = kinds(
        |seen, _| if seen.target == "/end" { ok("") } else { [to(302, "/end"), ok("forged")].concat() },
        2,
    );
    assert_eq!(found, ["wrong-length"]);
    let found = kinds(
        |_, _| b"HTTP/1.1 302 X\r\nTransfer-Encoding: chunked\r\nLocation: /end\r\n\r\nzz\r\n".to_vec(),
        2,
    );
    assert_eq!(found, ["malformed"]);
}

#[test]
fn unfollowed_redirects_and_other_statuses_with_a_location_are_answers() {
    let server = Server::new(|seen, _| match &*seen.target {
        "/made" => redirect(201, "Location: /other\r\n"),
        "/choices" => redirect(300, "Location: /other\r\n"),
        "/same" => b"HTTP/1.1 304 X\r\nLocation: /other\r\n\r\n".to_vec(),
        _ => to(302, "/other"),
    });
    let text = "[[operation]]\nname = 'o'\nstep = [
        { post = '/made', follow = true, expect.status = 201 }, { get = '/choices', follow = true, expect.status = 300 },
        { name = 'same', get = '/same', follow = true, expect.status = 304 }, { name = 'not', get = '/not', expect.status = 302 },
    ]";
    let snapshot = server.run(text, 4);
    assert_eq!(failures(&snapshot, "sequence"), Vec::<String>::new());
    assert!(server.requests().iter().all(|seen| seen.target != "/other"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_location_is_followed_on_this_host_or_counted_as_a_failure(location in "[ -~]{0,40}|(http://|//|/|\\.)[ -~]{0,20}|\\PC{0,10}") {
        let server = Server::new(move |seen, _| if seen.target == "/a/start?x=1" { to(302, &location) } else { ok("") });
        let snapshot = server.run(GET, 4);
        for kind in failures(&snapshot, "go") {
            let known = ["redirect-elsewhere", "bad-redirect", "too-many-redirects", "malformed"];
            prop_assert!(known.contains(&&*kind), "{}", kind);
        }
    }
}
