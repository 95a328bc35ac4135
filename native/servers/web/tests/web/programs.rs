//! CGI programs, and their errors.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::Web;

const TEXT: &str = "printf 'Content-Type: text/plain\\n\\n'";

/// Whether a process of this number runs and is not a zombie.
fn runs(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    state.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

fn comes_true(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_there(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))
}

#[test]
fn a_program_has_a_clean_environment_and_runs_in_its_folder() {
    let web = Web::start();
    web.program("env", &format!("{TEXT}; env; echo DIR=$(pwd)"));
    let answer = web.get_with(
        "/cgi-bin/env/path%20info?a=b%20c",
        "Proxy: http://evil\r\nAuthorization: Basic evil\r\nX-A: $(id)`id`;id\r\nX_Under: evil\r\n",
    );
    let text = answer.text();
    let cgi = web.outside("cgi").canonicalize().unwrap();
    for line in [
        "GATEWAY_INTERFACE=CGI/1.1",
        "REQUEST_METHOD=GET",
        "SCRIPT_NAME=/cgi-bin/env",
        "PATH_INFO=/path info",
        "QUERY_STRING=a=b%20c",
        "REQUEST_URI=/cgi-bin/env/path%20info?a=b%20c",
        "REMOTE_ADDR=127.0.0.1",
        "SERVER_NAME=a",
        "HTTP_X_A=$(id)`id`;id",
        &format!("DIR={}", cgi.display()),
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line} in {text}");
    }
    assert!(!text.contains("evil") && !text.contains("HTTP_PROXY"), "{text}");
    // The test's own environment contains CARGO's variables.
    assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO")) && !text.contains("CARGO"));
    web.has_counted(|stats| stats.served.cgi == 1);
}

#[test]
fn a_program_inherits_only_three_descriptors() {
    let web = Web::start();
    web.file("a.txt", "content");
    web.program("descriptors", &format!("{TEXT}; exec ls -l /proc/self/fd"));
    let mut client = web.client();
    assert_eq!(client.get("/a.txt", None).status, 200, "a file is open, and a client's socket");
    let answer = client.get("/cgi-bin/descriptors", None);
    let descriptors = answer.text().lines().filter_map(|line| line.split_once(" -> "));
    let descriptors: Vec<_> =
        descriptors.map(|(line, target)| (line.rsplit(' ').next().unwrap(), target)).collect();
    assert!(descriptors.len() >= 4, "{}", answer.text());
    let started_by = std::os::unix::process::parent_id();
    for (number, target) in descriptors {
        // Descriptor 3 is the folder that `ls` reads. Descriptors that the test process itself has inherited
        // do not come from the server.
        let inherited = fs::read_link(format!("/proc/{started_by}/fd/{number}"));
        let is_ours = ["0", "1", "2", "3"].contains(&number);
        assert!(is_ours || inherited.is_ok_and(|path| path == Path::new(target)), "{number}: {target}");
    }
}

#[test]
fn requests_of_disconnected_clients_do_not_block_programs_of_other_clients() {
    let web = Web::with(|config| config.limits.cgi_processes = 1);
    web.program("slow", &format!("echo x >> '{}'; sleep 1.2; {TEXT}", web.outside("runs").display()));
    web.program("quick", TEXT);
    for _ in 0..20 {
        web.client().send("GET /cgi-bin/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    assert_eq!(web.get("/cgi-bin/quick").status, 200);
    let runs = fs::read_to_string(web.outside("runs")).unwrap().lines().count();
    assert!(runs <= 3, "{runs} of 20 were run for clients that had gone");
}

#[test]
fn a_client_that_half_closes_is_answered() {
    let web = Web::start();
    web.program("slow", &format!("sleep 0.3; {TEXT}; printf there"));
    let mut client = web.client();
    client.send("GET /cgi-bin/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    client.finish_sending();
    assert_eq!(client.answer().text(), "there");
}

#[test]
fn a_program_reads_the_request_body_and_sets_status_and_header_lines() {
    let web = Web::with(|config| config.limits.body_bytes = 1_000_000);
    web.program("echo", &format!("{TEXT}; echo \"$CONTENT_LENGTH $CONTENT_TYPE\"; cat"));
    web.program(
        "status",
        "printf 'Status: 404 Not here\\nX-A: b\\nConnection: x\\nContent-Type: a/b\\n\\ngone'",
    );
    web.program("moved", "printf 'Location: /elsewhere\\n\\n'");
    web.program("nothing", "printf 'Status: 204 No Content\\n\\n'");
    web.program("deaf", &format!("exec 0<&-; {TEXT}; printf deaf"));
    let mut client = web.client();
    // The body exceeds a pipe's buffer in both directions.
    let body = "b".repeat(600_000);
    client.send(format!(
        "POST /cgi-bin/echo HTTP/1.1\r\nHost: a\r\nContent-Type: text/x\r\nContent-Length: 600000\r\n\r\n{body}"
    ));
    assert_eq!(client.answer().text(), format!("600000 text/x\n{body}"));
    let chunked = "POST /cgi-bin/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n";
    for byte in chunked.bytes() {
        client.send([byte]);
    }
    assert_eq!(client.answer().text(), "4 \nabcd");
    client
        .send("POST /cgi-bin/echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.head().status, 100);
    client.send("ok");
    assert_eq!(client.answer().text(), "2 \nok");
    let answer = client.get("/cgi-bin/status", None);
    assert_eq!((answer.status, answer.text(), answer.header("x-a")), (404, "gone", Some("b")));
    assert!(answer.head.starts_with("HTTP/1.1 404 Not here\r\n") && answer.header("connection").is_none());
    let answer = client.get("/cgi-bin/moved", None);
    assert_eq!((answer.status, answer.header("location")), (302, Some("/elsewhere")));
    client.send("GET /cgi-bin/nothing HTTP/1.1\r\nHost: a\r\n\r\n");
    let answer = client.head();
    assert_eq!((answer.status, answer.header("content-length")), (204, None));
    client.send(format!("POST /cgi-bin/deaf HTTP/1.1\r\nHost: a\r\nContent-Length: 600000\r\n\r\n{body}"));
    assert_eq!(client.answer().text(), "deaf");
    client.send("HEAD /cgi-bin/status HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.head().header("content-length"), Some("4"));
    client.send("PUT /cgi-bin/echo HTTP/1.1\r\nHost: a\r\n\r\n");
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD, POST")));
    assert_eq!(client.get("/cgi-bin/moved", None).status, 302, "the connection goes on");
}

#[test]
fn only_programs_of_the_cgi_folder_run() {
    let web = Web::start();
    web.program("good", &format!("{TEXT}; printf good"));
    web.program("plain", "");
    fs::write(web.outside("cgi/plain"), "not executable").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    fs::set_permissions(web.outside("cgi/plain"), mode).unwrap();
    fs::write(web.outside("cgi/nonsense"), [0, 1, 2, 3]).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(web.outside("cgi/nonsense"), mode).unwrap();
    fs::create_dir(web.outside("cgi/folder")).unwrap();
    symlink("/bin/sh", web.outside("cgi/shell")).unwrap();
    symlink("good", web.outside("cgi/within")).unwrap();
    for (path, status) in [
        ("good", 200),
        ("within", 200),
        ("plain", 403),
        ("nonsense", 502),
        ("folder", 404),
        ("shell", 404),
        ("nothing", 404),
        ("", 404),
        ("../cgi/good", 404),
        ("%2e%2e/good", 404),
        ("..%2fgood", 404),
        ("g%6fod", 404),
        ("good%00", 404),
        ("good/%00", 400),
        ("good;id", 404),
        ("/bin/sh", 404),
    ] {
        assert_eq!(web.get(&format!("/cgi-bin/{path}")).status, status, "{path}");
    }
    // A folder of this name in the docroot contains program source, which must not be served.
    for web in [web, Web::with(|config| config.cgi = None)] {
        web.file("cgi-bin/source", "secret");
        for path in ["/cgi-bin/source", "//cgi-bin/source", "/%63gi-bin/source", "/cgi-bin//source"] {
            assert_eq!(web.get(path).status, 404, "{path}");
        }
    }
}

#[test]
fn a_program_that_hangs_is_killed_with_all_its_descendants() {
    let web = Web::with(|config| config.limits.cgi_ms = 2_000);
    let pids = web.outside("pids");
    let pids_text = pids.display();
    web.program("hangs", &format!("sleep 60 & echo $$ > {pids_text}.1; echo $! > {pids_text}.2; wait"));
    web.program("silent", &format!("{TEXT}; echo started; exec >&-; sleep 60"));
    let begun = Instant::now();
    for path in ["/cgi-bin/hangs", "/cgi-bin/silent"] {
        let answer = web.get(path);
        assert_eq!(answer.status, 504, "{path}: {}", answer.text());
        assert!(answer.text().contains("2000 ms"), "{}", answer.text());
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    for end in ["pids.1", "pids.2"] {
        let pid = fs::read_to_string(web.outside(end)).unwrap();
        comes_true(end, || !runs(&pid));
    }
    web.has_counted(|stats| (stats.served.cgi_failed, stats.served.failed, stats.served.cgi) == (2, 2, 0));
}

#[test]
fn an_answer_is_complete_when_its_program_ends_even_if_a_child_runs_on() {
    let web = Web::start();
    let pid = web.outside("pid");
    // The child holds the program's standard output open.
    web.program("leaves", &format!("{TEXT}; sleep 60 & echo $! > {}; printf done", pid.display()));
    let begun = Instant::now();
    assert_eq!(web.get("/cgi-bin/leaves").text(), "done");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let pid = fs::read_to_string(pid).unwrap();
    comes_true("what is left behind is killed", || !runs(&pid));
}

#[test]
fn a_program_that_dies_or_writes_no_answer_yields_bad_gateway() {
    let web = Web::start();
    for (name, script) in [
        ("dies", format!("{TEXT}; printf half; kill -SEGV $$")),
        ("silent", String::new()),
        ("fails", "exit 1".into()),
        ("no-header", "echo hello".into()),
        ("short", "printf 'Content-Type: a/b\\nContent-Length: 9\\n\\nbody'".into()),
    ] {
        web.program(name, &script);
        let answer = web.get(&format!("/cgi-bin/{name}"));
        assert_eq!(answer.status, 502, "{name}: {}", answer.head);
        assert!(answer.text().starts_with("the program "), "{name}: {}", answer.text());
    }
    web.has_counted(|stats| (stats.served.cgi_failed, stats.served.cgi) == (5, 0));
}

#[test]
fn a_program_that_writes_endlessly_is_cut_off() {
    let web = Web::with(|config| config.limits.cgi_output_bytes = 1_000_000);
    web.program("endless", &format!("{TEXT}; exec yes"));
    web.program("much", &format!("{TEXT}; head -c 999973 /dev/zero"));
    let begun = Instant::now();
    let answer = web.get("/cgi-bin/endless");
    assert_eq!(
        (answer.status, answer.text()),
        (502, "the program wrote more than 1000000 bytes (cgi_output_bytes) and was killed\n")
    );
    assert!(begun.elapsed() < Duration::from_secs(8));
    assert_eq!(web.get("/cgi-bin/much").body.len(), 999_973, "a megabyte with the header");
}

#[test]
fn the_buffered_output_of_programs_is_limited() {
    let web = Web::with(|config| config.limits.cgi_held_bytes = 300_000);
    web.program("a", &format!("{TEXT}; head -c 250000 /dev/zero"));
    web.program("b", &format!("{TEXT}; head -c 350000 /dev/zero"));
    for _ in 0..5 {
        assert_eq!(web.get("/cgi-bin/a").body.len(), 250_000, "what was sent is held no longer");
        assert_eq!(web.get("/cgi-bin/b").status, 503);
    }
}

#[test]
fn a_client_that_disconnects_while_its_program_runs_affects_no_other_request() {
    let web = Web::with(|config| config.limits.cgi_processes = 1);
    let started = web.outside("started");
    web.program("slow", &format!("echo >> {}; sleep 0.3; {TEXT}; printf slow", started.display()));
    let mut client = web.client();
    client.send("GET /cgi-bin/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    comes_true("it starts", || is_there(&started));
    drop(client);
    // The connection is closed when the program has ended; until then other connections are served.
    web.file("a.txt", "file");
    let mut next = web.client();
    assert_eq!(next.get("/a.txt", None).text(), "file");
    assert_eq!(next.get("/cgi-bin/slow", None).text(), "slow");
    assert_eq!(next.get("/a.txt", None).text(), "file");
    web.has_counted(|stats| stats.traffic.disconnections == 1);
}

#[test]
fn requests_beyond_the_program_limit_wait_in_a_queue_of_limited_length() {
    let web = Web::with(|config| (config.limits.cgi_processes, config.limits.cgi_waiting) = (2, 3));
    let (started, go) = (web.outside("started"), web.outside("go"));
    let wait = format!("while [ ! -e {} ]; do sleep 0.02; done", go.display());
    web.program("slow", &format!("echo >> {}; {wait}; {TEXT}; printf slow", started.display()));
    let mut clients: Vec<_> = (0..10).map(|_| web.client()).collect();
    for (n, client) in (1..).zip(&mut clients) {
        client.send("GET /cgi-bin/slow HTTP/1.1\r\nHost: a\r\n\r\n");
        if n <= 2 {
            comes_true("it starts", || fs::read(&started).is_ok_and(|text| text.len() == n));
        }
    }
    web.has_counted(|stats| stats.served.failed == 5);
    fs::write(go, "").unwrap();
    let mut statuses: Vec<u16> = clients.iter_mut().map(|client| client.answer().status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 503, 503, 503, 503, 503]);
}

#[test]
fn a_running_program_delays_no_other_request_and_ends_with_the_server() {
    let web = Web::start();
    let pid = web.outside("pid");
    web.program("slow", &format!("echo $$ > {}; sleep 60", pid.display()));
    web.file("a.txt", "file");
    let mut waits = web.client();
    waits.send("GET /cgi-bin/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    comes_true("it starts", || is_there(&pid));
    assert_eq!(web.get("/a.txt").text(), "file");
    let number = fs::read_to_string(&pid).unwrap();
    assert!(runs(&number));
    let begun = Instant::now();
    drop(web.running);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(!runs(&number));
}
