//! Requests that are refused, and their answers.

use crate::client::assert_nothing_is_smuggled;
use crate::common::{PEOPLE, Site};

#[test]
fn bytes_that_are_not_http_are_refused_and_the_connection_closed() {
    let site = Site::start();
    for request in [
        "nonsense\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST /users HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /users HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
        site.refuses(request, 400, true);
    }
    site.has_counted(|stats| stats.traffic.aborted == 7);
    site.refuses("GET / HTTP/2.0\r\n\r\n", 505, true);
    site.refuses("POST /users HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501, true);
}

#[test]
fn no_request_can_be_smuggled_behind_another_request() {
    let site = Site::start();
    let hidden = "GET /image/1.gif HTTP/1.1\r\nHost: a\r\n\r\n";
    assert_nothing_is_smuggled(site.running.addr(), "/users", hidden);
    // An unexpected body is not read as the next request.
    let with_body = format!("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{hidden}", hidden.len());
    let mut client = site.client();
    client.send(with_body);
    assert_eq!(client.answer().status, 200);
    assert!(client.is_closed());
    site.has_counted(|stats| stats.served.creates == 0 && stats.served.images == 0);
}

#[test]
fn a_request_must_name_exactly_one_host() {
    let site = Site::start();
    site.refuses("GET / HTTP/1.1\r\n\r\n", 400, false);
    site.refuses("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, false);
}

#[test]
fn unknown_methods_and_unknown_paths_have_different_statuses() {
    let site = Site::start();
    site.refuses("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n", 404, false);
    site.refuses("GET /image/../../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", 404, false);
    site.refuses("GET /image/%2e%2e%2f1.gif HTTP/1.1\r\nHost: a\r\n\r\n", 404, false);
    site.refuses("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", 405, false);
    site.refuses("BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501, false);
    assert_eq!(site.ask("GET /users HTTP/1.1\r\nHost: a\r\n\r\n").header("allow"), Some("POST"));
    // A request whose body is not read is answered, and its connection closed without a reset.
    site.refuses("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 405, true);
    site.refuses("POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 404, true);
}

#[test]
fn invalid_forms_change_nothing() {
    let site = Site::start();
    let post = |form: &str, cookie: &str| {
        let length = form.len();
        format!("POST /preferences HTTP/1.1\r\nHost: a\r\n{cookie}Content-Length: {length}\r\n\r\n{form}")
    };
    let cookie = "Cookie: user=1\r\n";
    assert!(site.refuses(post("background=red", cookie), 400, false).contains("background"));
    assert!(site.refuses(post("colour=red", cookie), 400, false).contains("colour"));
    site.refuses(post("city=%zz", cookie), 400, false);
    site.refuses(post("", cookie), 400, false);
    site.refuses(post("city=a", &format!("Cookie: user={PEOPLE}\r\n")), 404, false);
    site.refuses(post("city=a", &format!("Cookie: user={}\r\n", u64::MAX)), 404, false);
    site.refuses(post("city=a", ""), 403, true);
    let json = "Content-Type: application/json\r\nCookie: user=1\r\n";
    site.refuses(post("{}", json), 415, true);
    site.has_counted(|stats| stats.served.updates == 0);
}
