//! HTTP/1.1 by RFC 9110 and RFC 9112.

use crate::client::assert_connections_persist_as_requested;
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
    let (addr, cookie) = (site.running.addr(), "Cookie: user=1\r\n");
    assert_connections_persist_as_requested(addr, "/", cookie, "data-user=\"1\"");
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
