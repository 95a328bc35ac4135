//! Scenario files of sites: requests are sent as written, and every kind of wrong answer has its own name.

use std::fmt::Display;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use load::Snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};
use tls::{Acceptor, Stream};
use wire::http::RequestHead;

use super::harness::{eventually, examples};
use super::paper::paper;
use super::site::{Site, serve_requests};
use crate::job::Job;
use crate::listener::Listener;

/// A request as the server has read it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub head: String,
    pub body: Vec<u8>,
    /// The number of the request's connection.
    pub connection: u64,
}

impl Seen {
    fn new(message: &[u8], connection: u64) -> Self {
        let head_bytes = RequestHead::decode(message).unwrap().unwrap().length;
        let (head, body) = message.split_at(head_bytes);
        let head = String::from_utf8_lossy(head).into_owned();
        let mut words = head.split(' ').map(str::to_owned);
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        Self { method, target, body: body.to_vec(), head, connection }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (header, value) = line.split_once(": ")?;
            header.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

pub type Requests = Arc<Mutex<Vec<Seen>>>;

/// A server that calls `answer` with each request and its number, and closes the connection if the answer
/// requires that.
pub struct Server {
    pub port: u16,
    seen: Requests,
    _listener: Listener,
}

impl Server {
    pub fn new(answer: impl Fn(&Seen, usize) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::over(None, answer)
    }

    /// Like [`Server::new`], but over TLS if there is an acceptor.
    pub fn over(
        acceptor: Option<Acceptor>,
        answer: impl Fn(&Seen, usize) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let (seen, answer) = (Requests::default(), Arc::new(answer));
        let all = seen.clone();
        let listener = Listener::new("127.0.0.1:0", move |stream, connection| {
            let mut stream = Stream::new(stream);
            if let Some(acceptor) = &acceptor {
                stream.accept(acceptor).unwrap();
            }
            if stream.shake().is_err() {
                return;
            }
            serve_requests(&mut stream, |stream, message| {
                let (seen, number) = {
                    let (mut all, seen) = (all.lock().unwrap(), Seen::new(message, connection));
                    all.push(seen.clone());
                    (seen, all.len() - 1)
                };
                let answer = answer(&seen, number);
                let closes = String::from_utf8_lossy(&answer).contains("Connection: close");
                stream.write_all(&answer).is_ok() && !closes
            });
        });
        Self { port: listener.address.port(), seen, _listener: listener }
    }

    pub fn requests(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn forget_requests(&self) {
        self.seen.lock().unwrap().clear();
    }

    pub fn has_received(&self, count: usize) -> bool {
        self.seen.lock().unwrap().len() >= count
    }

    /// A scenario for this server, in an environment with a secret `KEY`.
    pub fn job(&self, text: &str) -> Job {
        Job::site(self.port, text).target(json!({"size": 10})).scenario(json!({"env": {"KEY": "env-key"}}))
    }

    /// Runs one lane until this server has received this many requests.
    pub fn run(&self, text: &str, count: usize) -> Snapshot {
        self.run_job(&self.job(text), count)
    }

    pub fn run_job(&self, job: &Job, count: usize) -> Snapshot {
        let [snapshot] = job.run_until(1, || self.has_received(count));
        snapshot
    }
}

/// An answer with further header lines.
pub fn answer(status: impl Display, lines: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{lines}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

pub fn ok(body: &str) -> Vec<u8> {
    with("", body)
}

pub fn with(lines: &str, body: &str) -> Vec<u8> {
    answer("200 OK", lines, body)
}

pub fn failures(snapshot: &Snapshot, step: &str) -> Vec<String> {
    let rows = snapshot.steps.iter().filter(|row| &*row.step == step);
    rows.flat_map(|row| &row.failures).map(|(kind, _)| kind.clone()).collect()
}

fn percent(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        out.push(u8::from_str_radix(&part[..2], 16).unwrap());
        out.extend_from_slice(&part.as_bytes()[2..]);
    }
    out
}

const EVERYWHERE: &str = "data.x.file = 'x.csv'\ndata.x.columns = ['cell']\ndata.x.deal = 'in-order'\n\
    [[operation]]\nname = 'all'\nstep = [
    { get = '/a/{x.cell}/b?q={x.cell}&r=1' },
    { post = '/form', form = { \"a&b\" = 'x {x.cell} y', c = '1' } },
    { post = '/json', json = { text = 'x{x.cell}', list = [1, true, '{x.cell}'] } },
    { post = '/plain', body = '<{x.cell}>', content_type = 'text/plain' },
]";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_cell_arrives_unchanged_in_every_place_of_an_http_request(cell in "\\PC*|[\\x01-\\x7f]{0,40}|[&=+%#?/;\"'\\\\{}\r\n ]{1,20}") {
        let server = Server::new(|_, _| ok(""));
        server.run_job(&server.job(EVERYWHERE).table("x", ["cell"], &[[&cell]]), 4);
        let seen = server.requests();
        let (path, query) = seen[0].target.split_once('?').unwrap();
        let segments: Vec<_> = path.split('/').map(percent).collect();
        let expected = [b"", &b"a"[..], cell.as_bytes(), b"b"];
        prop_assert_eq!(&segments[..], &expected.map(<[u8]>::to_vec)[..]);
        let values: Vec<_> = query.split('&').map(percent).collect();
        prop_assert_eq!(values, vec![format!("q={cell}").into_bytes(), b"r=1".to_vec()]);
        let form = String::from_utf8(seen[1].body.clone()).unwrap();
        let fields: Vec<_> = form.split('&').map(|pair| pair.split_once('=').unwrap()).collect();
        prop_assert_eq!(percent(fields[0].0), b"a&b");
        prop_assert_eq!(percent(fields[0].1), format!("x {cell} y").into_bytes());
        prop_assert_eq!(fields[1], ("c", "1"));
        let body: Value = serde_json::from_slice(&seen[2].body).unwrap();
        prop_assert_eq!(body, json!({"text": format!("x{cell}"), "list": [1, true, cell]}));
        prop_assert_eq!(&seen[3].body, &format!("<{cell}>").into_bytes());
    }

    #[test]
    fn a_header_contains_the_cell_unchanged_or_the_cell_is_refused(cell in "[ -~]{0,30}|[\\x00-\\x7f]{1,10}") {
        let server = Server::new(|_, _| ok(""));
        let text = "data.x.file = 'x.csv'\ndata.x.columns = ['cell']\n\
            [[operation]]\nget = '/'\nheaders.X-Cell = '<{x.cell}>'";
        let job = server.job(text).table("x", ["cell"], &[[&cell]]);
        let is_line = cell.bytes().all(|byte| byte == b'\t' || (byte >= 0x20 && byte != 0x7f));
        if !is_line {
            let problem = job.refusal();
            prop_assert!(problem.contains("control character") && problem.contains("row 1 of x"), "{}", problem);
            return Ok(());
        }
        server.run_job(&job, 1);
        let expected = format!("<{cell}>");
        let seen = server.requests();
        prop_assert_eq!(seen[0].header("X-Cell"), Some(&*expected));
    }
}

#[test]
fn visits_with_login_session_and_token_follow_one_another() {
    let server = Server::new(|seen, number| match (&*seen.method, &*seen.target) {
        ("GET", "/login") => {
            let session = format!("Set-Cookie: session=s{number}; Path=/; HttpOnly\r\n");
            with(&session, &format!("<input name=\"csrf\" value=\"t+{number}\">"))
        }
        ("POST", "/login") => answer(303, "Location: /\r\n", ""),
        _ => ok("<p data-user=\"ann\">Hello, Ann &amp; Bo"),
    });
    let text = r#"
        data.account.file = "a.csv"
        [[operation]]
        name = "session"
        step = [
          { name = "form", get = "/login", capture.csrf = { before = 'name="csrf" value="', until = '"' } },
          { name = "login", post = "/login", form = { user = "{account.user}", password = "{account.password}", csrf = "{csrf}" }, expect = { status = 303, headers.Location = "/" } },
          { name = "account", get = "/", expect = { contains = "Hello, {account.name}", identity = { before = 'data-user="', value = "{account.user}", until = '"' } } },
        ]"#;
    let job = server.job(text).table("account", ["user", "password", "name"], &[["ann", "p w", "Ann & Bo"]]);
    let snapshot = server.run_job(&job, 6);
    let seen = server.requests();
    for visit in seen.chunks_exact(3) {
        assert_eq!(visit[0].header("Cookie"), None, "another visit");
        let session = visit[1].header("Cookie").unwrap().strip_prefix("session=s").unwrap();
        assert_eq!(visit[1].body, format!("user=ann&password=p%20w&csrf=t%2B{session}").into_bytes());
        assert_eq!(visit[2].header("Cookie"), visit[1].header("Cookie"));
    }
    for step in ["sequence", "form", "login", "account"] {
        assert_eq!(failures(&snapshot, step), Vec::<String>::new(), "{step}");
    }
}

#[test]
fn captures_read_every_part_of_an_answer() {
    let server = Server::new(|seen, _| match &*seen.target {
        "/api" => with(
            "Set-Cookie: id=c1; Path=/\r\nX-Token: h1\r\n",
            r#"{"user": {"id": 17, "tags": ["a/b"]}, "until": "<x>m1</x>"}"#,
        ),
        _ => ok(""),
    });
    let text = r#"
        cookies = false
        [[operation]]
        name = "all"
        step = [
          { get = "/api", capture = { cookie = { cookie = "id" }, token = { header = "x-token" }, id = { json = "/user/id" }, tag = { json = "/user/tags/0" }, between = { before = "<x>", until = "</x>" }, none = { json = "/none", default = "d1" } } },
          { post = "/use/{cookie}/{token}/{id}/{tag}/{between}/{none}" },
        ]"#;
    server.run(text, 2);
    let used = &server.requests()[1];
    assert_eq!(used.target, "/use/c1/h1/17/a%2Fb/m1/d1");
    assert_eq!(used.header("Cookie"), None);
}

#[test]
fn a_step_without_its_capture_is_not_sent() {
    let server = Server::new(|_, _| ok("nothing"));
    let text = r#"
        [[operation]]
        name = "all"
        step = [
          { name = "find", get = "/find", capture.id = { before = "<", until = ">" } },
          { name = "use", get = "/use/{id}" },
        ]"#;
    let snapshot = server.run(text, 3);
    assert!(server.requests().iter().all(|seen| seen.target == "/find"));
    assert_eq!(failures(&snapshot, "find"), ["nothing-captured"]);
    assert_eq!(failures(&snapshot, "sequence"), ["nothing-captured"]);
}

#[test]
fn captures_and_cookies_of_the_start_belong_to_their_user() {
    let server = Server::new(|seen, _| match &*seen.target {
        "/login" => with("Set-Cookie: s=1\r\n", r#"{"token": "k1"}"#),
        _ => ok(""),
    });
    let text = r#"
        [headers]
        Authorization = "Bearer {token}"
        [start]
        step = [{ post = "/login", headers.Authorization = "Basic {env.KEY}", capture.token = { json = "/token" } }]
        [[operation]]
        get = "/work"
        [[operation]]
        name = "own"
        get = "/own"
        headers.Cookie = "mine=1""#;
    server.run(text, 6);
    let seen = server.requests();
    assert_eq!(seen[0].header("Authorization"), Some("Basic env-key"));
    assert!(seen[1..].iter().all(|seen| seen.target != "/login"), "once");
    for seen in &seen[1..] {
        assert_eq!(seen.header("Authorization"), Some("Bearer k1"));
        assert_eq!(seen.header("Cookie"), Some(if seen.target == "/own" { "mine=1" } else { "s=1" }));
    }
}

#[test]
fn a_failed_start_is_repeated_after_a_pause_of_a_second() {
    let server = Server::new(|_, _| ok("no"));
    let text = r#"
        [start]
        step = [{ get = "/form" }, { get = "/login", expect.contains = "Hello" }]
        [[operation]]
        get = "/work""#;
    let mut engine = server.job(text).start(1);
    assert!(eventually(|| server.requests().len() >= 2));
    let began = Instant::now();
    assert!(eventually(|| server.requests().len() >= 4));
    assert!(began.elapsed() > Duration::from_millis(900), "{:?}", began.elapsed());
    let snapshot = engine.stop(Duration::from_secs(5)).unwrap();
    assert_eq!(failures(&snapshot, "get"), Vec::<String>::new());
    assert!(server.requests().iter().all(|seen| seen.target != "/work"));
}

#[test]
fn an_unmet_expectation_is_named_in_example_and_log() {
    for (expect, lacking) in [
        ("expect.contains = ['who', '{account.password}\"x']", r#"no "{account.password}\"x" in 12 bytes"#),
        ("expect.contains = 'Itm 17'", "no \"Itm 17\" in 12 bytes"),
        ("expect.headers.X-Kind = '{account.name}'", "no \"X-Kind: ann\" in the head"),
        ("expect.headers.X-Token = 'abc'", "no \"X-Token: ...\" in the head"),
        ("expect.length = 5", "12 bytes, expected 5"),
        (
            "expect.identity = { before = 'id=', value = '{account.name}', until = ' ' }",
            "no \"id=ann\" in 12 bytes",
        ),
        ("capture.id = { json = '/a' }", "nothing to capture as id"),
        ("capture.id = { header = 'Location' }", "nothing to capture as id"),
    ] {
        let server = Server::new(|_, _| ok("<who am I> ."));
        let text = format!(
            "data.account.file = 'a.csv'\n[[operation]]\nname = 'o'\nstep = [{{ get = '/{{account.name}}', {expect} }}]"
        );
        let job = server.job(&text).with(json!({"log": {"most": 1}}));
        let job = job.table("account", ["name", "password"], &[["ann", "pa55"]]);
        let results = job.run_until(1, || server.has_received(2));
        assert_eq!(examples(&results)[0], format!("GET /ann: 200 OK, {lacking}"), "{expect}");
        let line: Value = serde_json::from_str(&results[0].log[0]).unwrap();
        assert_eq!(line["said"], format!("200 OK, {lacking}"));
    }
}

#[test]
fn the_example_of_a_failure_contains_no_secret() {
    let server = Server::new(|seen, _| {
        let path = percent(&seen.target);
        answer(format!("500 {} env-key", String::from_utf8_lossy(&path)), "", "")
    });
    let text = r#"
        data.account.file = "a.csv"
        [[operation]]
        get = "/u/{account.user}?key={account.password}&a={account.password}"
        headers.X = "{env.KEY}""#;
    let job = server.job(text).table("account", ["user", "password"], &[["ann", "p&w 1"]]);
    let example = examples(&[server.run_job(&job, 1)]).join("; ");
    assert!(example.contains("GET /u/ann?key=...&a={account.password}"), "{example}");
    assert!(example.contains("expected 200"), "{example}");
    for secret in ["p&w", "p%26w", "env-key"] {
        assert!(!example.contains(secret), "{secret}: {example}");
    }
}

#[test]
fn statuses_and_paths_from_columns_are_checked_before_the_first_request() {
    let server = Server::new(|seen, _| answer(if seen.target == "/gone?x=1" { 410 } else { 200 }, "", ""));
    let text =
        "data.page.file = 'p.csv'\n[[operation]]\nget = '{page.path}'\nexpect.status = '{page.status}'";
    let columns = ["path", "status"];
    let job = server.job(text).table("page", columns, &[["/", "200"], ["/gone?x=1", "410"]]);
    let snapshot = server.run_job(&job, 4);
    assert_eq!(failures(&snapshot, "get"), Vec::<String>::new());
    for (path, status, expected) in [
        ("x", "200", "does not begin with /"),
        ("/a b", "200", "write ' ' as %20"),
        ("/", "99", "is no status"),
    ] {
        let problem = server.job(text).table("page", columns, &[[path, status]]).refusal();
        assert!(problem.contains("row 1 of page") && problem.contains(expected), "{problem}");
    }
}

#[test]
fn the_scenario_of_the_paper_sends_only_the_three_expected_requests() {
    let site = Site::right();
    let totals = site.job(&paper()).run_steps(8, "update", 40);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    // Each hundred cards are 5 creates, 91 pages and 4 updates. At the end, a lane may have begun an
    // operation that other lanes have not begun.
    let updates = totals.count("update");
    assert!(totals.count("create").abs_diff(updates * 5 / 4) <= 5 + 8, "{totals:?}");
    assert!(totals.count("page").abs_diff(updates * 91 / 4) <= 91 + 8, "{totals:?}");

    let drawn = ["Cookie: user=", "Content-Length: ", "given=", "background="];
    let plain = |request: &Vec<u8>| {
        let text = String::from_utf8(request.clone()).unwrap().replace(&site.port().to_string(), "PORT");
        let shape = |line: &str| {
            drawn.iter().find(|start| line.starts_with(**start)).map_or(line, |start| start).to_owned()
        };
        text.split("\r\n").map(shape).collect::<Vec<_>>().join("\n")
    };
    let requests = site.seen.requests.lock().unwrap();
    let shapes = requests.iter().map(plain).collect::<std::collections::BTreeSet<_>>();
    let form = "Content-Type: application/x-www-form-urlencoded\nContent-Length: \n\n";
    let expected = [
        "GET / HTTP/1.1\nHost: 127.0.0.1:PORT\nCookie: user=\n\n".to_owned(),
        format!("POST /preferences HTTP/1.1\nHost: 127.0.0.1:PORT\nCookie: user=\n{form}background="),
        format!("POST /users HTTP/1.1\nHost: 127.0.0.1:PORT\n{form}given="),
    ];
    assert!(shapes.iter().all(|shape| expected.contains(shape)), "{shapes:#?}");
    assert!(shapes.len() >= 2, "of the last requests some were posted");
}

#[test]
fn a_repeat_iterates_over_all_values_of_a_capture() {
    let server = Server::new(|seen, _| match &*seen.target {
        "/list" => with(
            "Set-Cookie: c=1\r\nSet-Cookie: c=2\r\nX-H: 3\r\nX-H: \r\nX-H: 4\r\n",
            r#"{"ids": [5, "six", "", [0], {"a": 0}, true], "text": "<b>7</b><b>8</b>"}"#,
        ),
        _ => ok(""),
    });
    let captures = [
        ("cookie = 'c'", &["1", "2"][..]),
        ("header = 'x-h'", &["3", "4"]),
        ("json = '/ids'", &["5", "six", "true"]),
        ("json = '/ids/0'", &["5"]),
        ("before = '<b>', until = '</b>'", &["7", "8"]),
        ("json = '/none', default = ['9', '10']", &["9", "10"]),
        ("json = '/none', default = []", &[]),
    ];
    for (from, expected) in captures {
        let text = format!(
            "[[operation]]\nname = 'o'\nstep = [
              {{ get = '/list', capture.id = {{ {from}, take = 'all' }} }},
              {{ repeat = 'id', step = [{{ name = 'each', get = '/id/{{id}}' }}] }},
              {{ name = 'last', get = '/last' }},
            ]"
        );
        let before = server.requests().len();
        let snapshot = server.run(&text, before + 2 + expected.len());
        assert_eq!(failures(&snapshot, "sequence"), Vec::<String>::new(), "{from}");
        let asked: Vec<_> = server.requests()[before + 1..].iter().map(|seen| seen.target.clone()).collect();
        let ids: Vec<_> = expected.iter().map(|id| format!("/id/{id}")).chain(["/last".to_owned()]).collect();
        assert_eq!(asked[..ids.len()], ids, "{from}");
    }
    let text = "[[operation]]\nname = 'o'\nstep = [
        { get = '/list', capture.id = { json = '/none', take = 'all' } },
        { repeat = 'id', step = [{ name = 'each', get = '/id/{id}' }] }]";
    let snapshot = server.run(text, server.requests().len() + 3);
    assert_eq!(failures(&snapshot, "get"), ["nothing-captured"]);
    assert!(!snapshot.steps.iter().any(|step| &*step.step == "each" && step.count > 0));
    // Over many operations, a random choice from a list returns each of the values.
    let text = "[[operation]]\nname = 'o'\nstep = [
        { get = '/list', capture.id = { json = '/ids', take = 'random' } }, { name = 'each', get = '/any/{id}' }]";
    server.run(text, server.requests().len() + 200);
    for id in ["5", "six", "true"] {
        assert!(server.requests().iter().any(|seen| seen.target == format!("/any/{id}")), "{id}");
    }
}

#[test]
fn more_captured_values_than_the_limit_are_a_failure() {
    let body = "<b>x</b>".repeat(1_000_001);
    let server = Server::new(move |_, _| ok(&body));
    let text = "[[operation]]\nname = 'o'\nstep = [
        { get = '/list', capture.id = { before = '<b>', until = '</b>', take = 'all' } }]";
    assert_eq!(failures(&server.run(text, 1), "get"), ["too-much-captured"]);
}

#[test]
fn the_scenario_file_sets_the_lifetime_of_each_connection() {
    let (two, three) = (
        "{ get = '/image' }, { get = '/image' }",
        "{ get = '/image' }, { get = '/image', on = 'other' }, { get = '/image', on = 'other' }",
    );
    for (keepalive, connection, steps, per_request) in [
        (true, "main.per = 'user'", two, 0.0),
        (true, "main.http = '1.0'", two, 1.0),
        (true, "main.per = 'step'", two, 1.0),
        (true, "main.per = 'iteration'", two, 0.5),
        (true, "main.per = 4", two, 0.125),
        (true, "other.per = 'iteration'", three, 1.0 / 3.0),
        (false, "main = {}", two, 1.0),
        (false, "main.per = 'iteration'", two, 1.0),
        (false, "main.per = 4", two, 1.0),
    ] {
        let site = Site::right();
        let text = format!("connection.{connection}\n[[operation]]\nname = 'all'\nstep = [{steps}]");
        let job = site.job(&text).target(json!({"keepalive": keepalive}));
        job.run_until(1, || site.seen.answered("/image") >= 60);
        let connections = site.connections() as f64;
        let expected = site.seen.answered("/image") as f64 * per_request;
        assert!((connections - expected).abs() <= 2.0, "{connection}: {connections} of {expected}");
        let request = String::from_utf8(site.seen.requests.lock().unwrap()[0].clone()).unwrap();
        let is_old = connection.contains("http = '1.0'");
        assert_eq!(request.starts_with("GET /image HTTP/1.0\r\n"), is_old, "{request}");
    }
}

#[test]
fn each_row_of_data_dealt_once_is_requested_exactly_once() {
    let server = Server::new(|_, _| ok(""));
    let text = "[data.n]\nrange = [1, 100]\ndeal = 'once'\n[[operation]]\nget = '/{n}'";
    let job = server.job(text).with(json!({"threads": 2}));
    let [snapshot] = job.run_until(5, || server.has_received(100));
    assert_eq!((snapshot.lanes, failures(&snapshot, "get")), (0, vec![]));
    let mut asked: Vec<_> = server.requests().iter().map(|seen| seen.target.clone()).collect();
    asked.sort_unstable();
    let mut expected: Vec<_> = (1..=100).map(|n| format!("/{n}")).collect();
    expected.sort_unstable();
    assert_eq!(asked, expected);
}

#[test]
fn logged_requests_have_names_in_place_of_secrets() {
    let server = Server::new(|seen, _| match &*seen.method {
        "POST" => answer(format!("403 Not {}", String::from_utf8_lossy(&seen.body)), "", ""),
        _ => with("X-Id: i7\r\nX-Token: t0ken\r\n", ""),
    });
    let text = "headers.Authorization = 'Bearer {env.KEY}'\ndata.account.file = 'a.csv'\n[[operation]]\nname = 'o'\nstep = [
      { get = '/', capture.id = { header = 'X-Id' }, capture.csrf = { header = 'X-Token' } },
      { post = '/login?sid=1', headers.X-Csrf = '{csrf}', form = { user = '{account.name}', password = '{account.password}' } },
      { post = '/other', json = { name = '{account.name}', token = '{csrf}', password = { value = 'lit\"5', pin = 98765, on = true } } },
      { post = '/third?api_key=l%2Fit6', headers.X-Api-Key = 'lit7', form = { session = 'li t8', of = 'l%2Fit6' } },
    ]";
    let job = server.job(text).with(json!({"log": {"most": 4, "all": true}}));
    let job = job.table("account", ["name", "password"], &[["ann", "pa55"]]);
    let log = server.run_job(&job, 4).log;
    let lines: Vec<Value> = log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rest: Vec<_> = lines.iter().map(|line| line["rest"].as_str().unwrap()).collect();
    let key = "headers.Authorization=Bearer {env.KEY}";
    let login = "headers.X-Csrf=\"{csrf}\" form.user=\"ann\" form.password={account.password}";
    let json = "json.name=\"ann\" json.token={csrf} json.password.value={password} json.password.pin={password} json.password.on={password}";
    let third = "headers.X-Api-Key={password} form.session={password} form.of=\"{secret}\"";
    let expected =
        [key.to_owned(), format!("{key} {login}"), format!("{key} {json}"), format!("{key} {third}")];
    assert_eq!(rest, expected);
    assert_eq!(lines[0]["captured"], json!({"csrf": null, "id": null}));
    assert_eq!(lines[1]["asked"], "POST /login?sid=...");
    assert_eq!((&lines[1]["code"], &lines[1]["kind"]), (&json!("403"), &json!("status:403")));
    assert_eq!((&lines[1]["user"], &lines[1]["rows"]), (&json!(1), &json!({"account": 1})));
    // The server repeats the received request.
    assert!(lines[1]["diagnostic"].as_str().unwrap().contains("{account.password}"), "{}", lines[1]);
    // Secrets written in the file are hidden like substituted secrets, in any spelling.
    let said = |number: usize| lines[number]["diagnostic"].as_str().unwrap();
    assert_eq!(
        said(2),
        r#"Not {"name":"{account.name}","token":"{csrf}"#.replace("{account.name}", "ann")
            + r#"","password":{"value":"{secret}","pin":{secret},"on":true}}"#
    );
    assert_eq!(said(3), "Not session={secret}&of={secret}");
    assert_eq!(lines[3]["asked"], "POST /third?api_key=...");
    for secret in ["pa55", "t0ken", "env-key", "it6", "lit7", "t8", "98765"] {
        assert!(!log.iter().any(|line| line.contains(secret)), "{secret}: {log:?}");
    }
}
