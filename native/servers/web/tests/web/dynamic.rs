//! Answers that the server itself generates.

use std::collections::HashSet;

use crate::common::Web;
use crate::page::page;

/// Today's date as a page shows it, from a Date line: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn day(date: &str) -> String {
    let words: Vec<&str> = date.split(' ').collect();
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.iter().position(|name| *name == words[2]).unwrap() + 1;
    format!("{}-{month:02}-{}", words[3], words[1])
}

#[test]
fn text_has_the_requested_length() {
    let web = Web::start();
    let mut client = web.client();
    for size in [0, 1, 6_250, 65_535, 65_536, 65_537, 5_248_000] {
        let constant = client.get(&format!("/dynamic/constant?size={size}"), None);
        assert!(constant.status == 200 && constant.body == page(size), "{size}");
        let random = client.get(&format!("/dynamic/random?a=b&size={size}"), None);
        assert_eq!((random.status, random.body.len()), (200, size));
        assert!(random.body.iter().all(|byte| (b'?'..=b'X').contains(byte)));
    }
    let usual = client.get("/dynamic/constant", None);
    assert_eq!((usual.body.len(), usual.header("content-type")), (6_250, Some("text/html")));
    for size in ["", "-1", "+1", "x", "1e3", "1073741825", "99999999999999999999999"] {
        assert_eq!(client.get(&format!("/dynamic/random?size={size}"), None).status, 400, "{size}");
    }
    client.send("HEAD /dynamic/random?size=100000 HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.head().header("content-length"), Some("100000"));
    web.has_counted(|stats| stats.served.in_process == 16);
}

#[test]
fn random_text_differs_per_request_and_repeats_after_a_restart() {
    let texts = |web: &Web| {
        let mut client = web.client();
        (0..20).map(|_| client.get("/dynamic/random", None).body).collect::<Vec<_>>()
    };
    let first = texts(&Web::start());
    assert_eq!(first, texts(&Web::start()));
    assert_eq!(first.iter().collect::<HashSet<_>>().len(), 20);
}

#[test]
fn both_kinds_of_page_have_the_papers_size_and_todays_date() {
    let web = Web::start();
    let mut client = web.client();
    for path in ["/dynamic/page.shtml", "/dynamic/template/0", "/dynamic/template/99"] {
        let page = client.get(path, None);
        assert_eq!((page.status, page.body.len()), (200, 6_250), "{path}");
        assert_eq!(page.header("content-type"), Some("text/html"));
        let today = day(page.header("date").unwrap());
        assert!(page.text().contains(&format!("Today is {today}.")), "{path}: {today}");
    }
    for path in
        ["/dynamic/template/100", "/dynamic/template/-1", "/dynamic/template/", "/dynamic/", "/dynamic/x"]
    {
        assert_eq!(client.get(path, None).status, 404, "{path}");
    }
    web.has_counted(|stats| (stats.served.pages, stats.served.templates) == (1, 2));
}

#[test]
fn a_page_of_the_docroot_is_parsed_for_each_request() {
    let web = Web::with(|config| config.limits.page_bytes = 1_000_000);
    let date = "<!--#config timefmt=\"%F\" --><!--#echo var=\"DATE_LOCAL\" -->";
    web.file("a.shtml", format!("<p>{date}</p><!--#exec cmd=\"id\" -->{}", "x".repeat(200_000)));
    web.file("a.html", date);
    web.file("long.shtml", "x".repeat(1_000_001));
    let mut client = web.client();
    for _ in 0..3 {
        let page = client.get("/a.shtml", None);
        let today = day(page.header("date").unwrap());
        let start = format!("<p>{today}</p>[an error occurred while processing this directive]xxx");
        assert!(page.text().starts_with(&start) && page.text().ends_with("xxx"), "{:.100}", page.text());
        // The page changes every day.
        assert_eq!((page.header("etag"), page.header("last-modified")), (None, None));
    }
    assert_eq!(client.get("/a.html", None).text(), date);
    assert_eq!(client.get("/long.shtml", None).status, 500);
    web.has_counted(|stats| (stats.served.pages, stats.served.failed) == (3, 1));
}

#[test]
fn page_variables_are_the_standard_cgi_variables_without_http_proxy() {
    let web = Web::start();
    let mut client = web.client();
    client.send(
        "GET /dynamic/env?c=d HTTP/1.1\r\nHost: there:81\r\nProxy: http://evil\r\nAccept: x\r\nACCEPT: y\r\n\
         Authorization: secret\r\nContent_Type: evil\r\nCookie: a=b\r\nX-A1: z\r\n\r\n",
    );
    let port = format!("SERVER_PORT={}", web.running.addr().port());
    let expected = [
        "GATEWAY_INTERFACE=CGI/1.1",
        concat!("SERVER_SOFTWARE=sitebench/", env!("CARGO_PKG_VERSION")),
        "SERVER_PROTOCOL=HTTP/1.1",
        "SERVER_NAME=there",
        &port,
        "REQUEST_METHOD=GET",
        "REQUEST_URI=/dynamic/env?c=d",
        "SCRIPT_NAME=/dynamic/env",
        "QUERY_STRING=c=d",
        "REMOTE_ADDR=127.0.0.1",
        "REMOTE_HOST=127.0.0.1",
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "HTTP_HOST=there:81",
        "HTTP_ACCEPT=x, y",
        "HTTP_COOKIE=a=b",
        "HTTP_X_A1=z",
        "",
    ];
    assert_eq!(client.answer().text(), expected.join("\n"));
}
