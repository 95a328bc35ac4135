//! HTTP/1.1 by RFC 9110 and RFC 9112.

use std::time::{Duration, Instant};

use crate::common::Site;

#[test]
fn head_answers_like_get_without_the_body() {
    let site = Site::start();
    let mut client = site.client();
    for (path, length) in [("/", "8290"), ("/image/1.gif", "5480")] {
        client.send(format!("HEAD {path} HTTP/1.1\r\nHost: a\r\nCookie: user=1\r\n\r\n"));
        let answer = client.head();
        assert_eq!((answer.status, answer.header("content-length")), (200, Some(length)));
    }
    assert_eq!(client.get("/", Some(1)).body.len(), 8_290, "nothing was left unread");
}

#[test]
fn connections_close_or_persist_as_the_request_says() {
    let site = Site::start();
    for (request, stays) in [
        ("GET / HTTP/1.1\r\nHost: a\r\nCookie: user=1\r\nConnection: close\r\n\r\n", false),
        ("GET / HTTP/1.0\r\nCookie: user=1\r\n\r\n", false),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\nCookie: user=1\r\n\r\n", true),
    ] {
        let mut client = site.client();
        client.send(request);
        let answer = client.answer();
        assert_eq!((answer.status, answer.body.len()), (200, 8_290));
        assert_eq!(answer.header("connection"), Some(if stays { "keep-alive" } else { "close" }));
        if stays {
            assert_eq!(client.get("/", Some(1)).status, 200);
        } else {
            assert!(client.is_closed());
        }
    }
}

#[test]
fn requests_behind_a_request_with_connection_close_leave_its_answer_intact() {
    let site = Site::start();
    let last = "GET / HTTP/1.1\r\nHost: a\r\nCookie: user=1\r\nConnection: close\r\n\r\n";
    let mut client = site.client();
    client.send([last, last, last].concat());
    assert_eq!(client.answer().body.len(), 8_290);
    assert!(client.is_closed());
}

#[test]
fn a_client_that_half_closes_still_gets_its_answers() {
    let site = Site::start();
    let mut client = site.client();
    let page = "GET / HTTP/1.1\r\nHost: a\r\nCookie: user=1\r\n\r\n";
    let create = "POST /users HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    client.send([page, create, page].concat());
    client.finish_sending();
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.answer().status, 201);
    assert_eq!(client.answer().status, 200);
    assert!(client.is_closed());
}

#[test]
fn a_client_that_reads_nothing_does_not_delay_other_clients() {
    let site = Site::start();
    let mut greedy = site.client();
    let page = "GET / HTTP/1.1\r\nHost: a\r\nCookie: user=1\r\n\r\n";
    // 16 MB of answers exceed every socket buffer.
    let requests = page.repeat(2_000);
    let asking = std::thread::spawn(move || {
        greedy.send(requests);
        greedy
    });
    std::thread::sleep(Duration::from_millis(200));
    let start = Instant::now();
    assert_eq!(site.client().get("/", Some(2)).status, 200);
    assert!(start.elapsed() < Duration::from_secs(2));
    // Then the client reads all answers in order.
    let mut reader = asking.join().unwrap();
    for _ in 0..2_000 {
        assert!(reader.answer().text().contains("data-user=\"1\""));
    }
}

#[test]
fn connections_beyond_the_limit_get_status_503() {
    let site = Site::with(|config| config.limits.connections = 2);
    let (mut a, mut b) = (site.client(), site.client());
    assert_eq!((a.get("/", Some(1)).status, b.get("/", Some(1)).status), (200, 200));
    assert_eq!(site.client().head().status, 503);
    drop(a);
    let again = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        let mut client = site.client();
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        client.head().status == 200
    });
    assert!(again, "a place that is free again is given away");
}

#[test]
fn a_request_that_never_ends_is_cut_off() {
    let site = Site::start();
    let mut client = site.client();
    client.send("POST /users HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nname");
    let start = Instant::now();
    // A read by the client waits as long as the site waits for a stalled client, so the client sleeps before
    // it reads.
    std::thread::sleep(Duration::from_secs(9));
    assert!(client.is_closed());
    assert!(start.elapsed() < Duration::from_secs(13));
    site.has_counted(|stats| stats.traffic.aborted == 1);
}

#[test]
fn several_threads_accept_connections_on_one_port() {
    let site = Site::with(|config| config.threads = 3);
    for n in 0..40 {
        assert_eq!(site.client().get("/", Some(n)).status, 200);
    }
    site.has_counted(|stats| stats.served.pages == 40);
}
