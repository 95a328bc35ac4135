//! Files, whole, in ranges and with conditional requests.

use std::fs::{self, File};
use std::os::unix::net::UnixListener;
use std::time::{Duration, SystemTime};

use web::limits::Limits;

use crate::common::Web;

#[test]
fn a_file_is_sent_with_its_type_length_date_and_tag() {
    let web = Web::start();
    web.file("a/b.html", "<p>hello");
    let when = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    File::options().write(true).open(web.inside("a/b.html")).unwrap().set_modified(when).unwrap();
    let answer = web.get("/a/b.html");
    assert_eq!((answer.status, answer.text()), (200, "<p>hello"));
    assert_eq!(answer.header("content-type"), Some("text/html"));
    assert_eq!(answer.header("last-modified"), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    assert_eq!(answer.header("accept-ranges"), Some("bytes"));
    assert!(answer.header("etag").unwrap().starts_with('"'));
    assert!(answer.header("date").unwrap().ends_with(" GMT"));
    assert_eq!(web.get("/a%2Fb.html").status, 404);
    assert_eq!(web.get("/a/%62.html?query").text(), "<p>hello");
    assert_eq!(web.get("http://anywhere/a/b.html").text(), "<p>hello");
    web.has_counted(|stats| (stats.served.files, stats.served.rejected) == (3, 1));
}

#[test]
fn files_of_every_length_arrive_unchanged() {
    let web = Web::start();
    let mut client = web.client();
    for size in [0, 1, 8_192, 65_535, 65_536, 65_537, 131_072, 131_073, 1_000_003] {
        let content: Vec<u8> = (0..size).map(|n: u32| (n ^ (n >> 8)) as u8).collect();
        let name = format!("/{size}.bin");
        web.file(&name[1..], &content);
        let answer = client.get(&name, None);
        assert!(answer.status == 200 && answer.body == content, "{size}");
        client.send(format!("HEAD {name} HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert_eq!(client.head().header("content-length"), Some(size.to_string().as_str()));
        if size > 2 {
            let (from, to) = (size as usize / 3, size as usize - 1);
            client.send(format!("GET {name} HTTP/1.1\r\nHost: a\r\nRange: bytes={from}-{}\r\n\r\n", to - 1));
            let part = client.answer();
            assert!(part.status == 206 && part.body == content[from..to], "{size}");
        }
    }
}

#[test]
fn a_folder_is_served_as_its_index_page_at_a_path_that_ends_in_a_slash() {
    let web = Web::start();
    web.file("index.html", "top");
    web.file("a/index.html", "below");
    fs::create_dir_all(web.inside("empty/index.html")).unwrap();
    assert_eq!(web.get("/").text(), "top");
    assert_eq!(web.get("/a/").text(), "below");
    assert_eq!(web.get("/empty/").status, 404);
    assert_eq!(web.get("/index.html/").status, 404);
    for (path, location) in [("/a", "/a/"), ("//a", "/a/"), ("/%61", "/%61/"), ("http://elsewhere/a", "/a/")]
    {
        let answer = web.get(path);
        assert_eq!((answer.status, answer.header("location")), (301, Some(location)), "{path}");
    }
}

#[test]
fn a_file_that_the_client_has_is_not_sent_again() {
    let web = Web::start();
    web.file("a.txt", "content");
    let first = web.get("/a.txt");
    let (tag, date) = (first.header("etag").unwrap(), first.header("last-modified").unwrap());
    for line in [
        format!("If-None-Match: {tag}"),
        format!("If-None-Match: \"x\", W/{tag}"),
        "If-None-Match: *".into(),
        format!("If-Modified-Since: {date}"),
        "If-Modified-Since: Sun, 06 Nov 2094 08:49:37 GMT".into(),
        format!("Range: bytes=1-2\r\nIf-None-Match: {tag}"),
    ] {
        let mut client = web.client();
        client.send(format!("GET /a.txt HTTP/1.1\r\nHost: a\r\n{line}\r\n\r\n"));
        let answer = client.head();
        assert_eq!((answer.status, answer.header("etag")), (304, Some(tag)), "{line}");
        assert_eq!(client.get("/a.txt", None).text(), "content", "nothing came behind the head");
    }
    for line in [
        "If-None-Match: \"x\"",
        "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
        "If-Modified-Since: yesterday",
        // The entity tag takes precedence (RFC 9110 section 13.1.3).
        &format!("If-None-Match: \"x\"\r\nIf-Modified-Since: {date}"),
        &format!("If-Match: {tag}"),
        &format!("If-Unmodified-Since: {date}"),
    ] {
        assert_eq!(web.get_with("/a.txt", &format!("{line}\r\n")).text(), "content", "{line}");
    }
    for line in ["If-Match: \"x\"", "If-Match: W/\"x\"", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"]
    {
        assert_eq!(web.get_with("/a.txt", &format!("{line}\r\n")).status, 412, "{line}");
    }
    web.has_counted(|stats| stats.served.not_modified == 6);
}

#[test]
fn one_range_is_sent_and_a_range_beyond_the_file_is_refused() {
    let web = Web::start();
    web.file("a.txt", "0123456789");
    let tag = web.get("/a.txt").header("etag").unwrap().to_owned();
    for (lines, status, said, body) in [
        ("Range: bytes=2-4", 206, Some("bytes 2-4/10"), "234"),
        ("Range: bytes=-3", 206, Some("bytes 7-9/10"), "789"),
        ("Range: bytes=8-", 206, Some("bytes 8-9/10"), "89"),
        ("Range: bytes=0-0,2-2", 200, None, "0123456789"),
        ("Range: bytes=x", 200, None, "0123456789"),
        (&format!("Range: bytes=2-4\r\nIf-Range: {tag}"), 206, Some("bytes 2-4/10"), "234"),
        ("Range: bytes=2-4\r\nIf-Range: \"x\"", 200, None, "0123456789"),
        ("Range: bytes=10-", 416, Some("bytes */10"), "the file has no such bytes\n"),
    ] {
        let answer = web.get_with("/a.txt", &format!("{lines}\r\n"));
        assert_eq!(
            (answer.status, answer.header("content-range"), answer.text()),
            (status, said, body),
            "{lines}"
        );
    }
    let mut client = web.client();
    client.send("HEAD /a.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=2-4\r\n\r\n");
    assert_eq!(client.head().header("content-length"), Some("10"));
}

#[test]
fn sockets_and_fifos_are_not_found_and_do_not_block() {
    let web = Web::start();
    let _socket = UnixListener::bind(web.inside("socket")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        web.inside("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    for path in ["/socket", "/fifo", "/nothing", "/nothing/at/all"] {
        assert_eq!(web.get(path).status, 404, "{path}");
    }
    let bare = Web::with(|config| config.docroot = None);
    assert_eq!(bare.get("/").status, 404);
}

#[test]
fn more_files_than_the_server_keeps_open_are_served_repeatedly() {
    for open_files in [0, 1, 3] {
        let web = Web::with(|config| config.limits.open_files = open_files);
        let mut client = web.client();
        for n in (0..20).chain(0..20).chain(5..10) {
            web.file(&n.to_string(), n.to_string());
            assert_eq!(client.get(&format!("/{n}"), None).text(), n.to_string());
        }
    }
}

#[test]
fn a_changed_file_is_served_with_its_new_content() {
    let web = Web::start();
    web.file("a.txt", "long content");
    let mut client = web.client();
    assert_eq!(client.get("/a.txt", None).text(), "long content");
    // The file is truncated in place, so the open file has fewer bytes than before.
    web.file("a.txt", "short");
    assert_eq!(client.get("/a.txt", None).text(), "short");
    web.file("new", "another");
    fs::rename(web.inside("new"), web.inside("a.txt")).unwrap();
    std::thread::sleep(Duration::from_millis(1_100));
    assert_eq!(client.get("/a.txt", None).text(), "another");
    fs::remove_file(web.inside("a.txt")).unwrap();
    std::thread::sleep(Duration::from_millis(1_100));
    assert_eq!(client.get("/a.txt", None).status, 404);
}

#[test]
fn a_missing_folder_is_a_startup_error() {
    for config in [
        web::Config { docroot: Some("/nowhere".into()), ..web::Config::default() },
        web::Config { cgi: Some("/nowhere".into()), ..web::Config::default() },
    ] {
        let error = web::start(config).unwrap_err().to_string();
        assert!(error.contains("/nowhere") && error.contains("name one"), "{error}");
    }
    let limits = Limits { cgi_processes: 0, ..Limits::default() };
    let error = web::start(web::Config { limits, ..web::Config::default() }).unwrap_err().to_string();
    assert!(error.contains("cgi_processes"), "{error}");
}
