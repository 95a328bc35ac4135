//! Scenario files of sites: requests are sent as written, and every kind of wrong answer has its own name.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use load::{AnyConfig, Engine, Snapshot, Tables};
use proptest::prelude::*;
use serde_json::{Value, json};
use table::{Form, Table};
use tls::{Acceptor, Stream};
use wire::http::{Framing, RequestHead};

use super::harness::eventually;
use super::paper::{self, paper, visitors};
use super::site::{Do, Site};

/// A request as the server has read it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub head: String,
    pub body: Vec<u8>,
    /// The number of the request's connection.
    pub connection: usize,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

pub type Requests = Arc<Mutex<Vec<Seen>>>;

/// A server that calls `answer` with each request and its number, and closes the connection if the answer
/// requires that.
pub struct Server {
    pub port: u16,
    pub seen: Requests,
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
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Requests::default();
        let (answer, all) = (Arc::new(answer), seen.clone());
        std::thread::spawn(move || {
            for (connection, stream) in listener.incoming().flatten().enumerate() {
                let (answer, all) = (answer.clone(), all.clone());
                stream.set_nodelay(true).unwrap();
                let mut stream = Stream::new(stream);
                if let Some(acceptor) = &acceptor {
                    stream.accept(acceptor).unwrap();
                }
                std::thread::spawn(move || {
                    if stream.shake().is_ok() {
                        serve(stream, connection, &*answer, &all);
                    }
                });
            }
        });
        Self { port, seen }
    }

    pub fn requests(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: Stream<TcpStream>,
    connection: usize,
    answer: &dyn Fn(&Seen, usize) -> Vec<u8>,
    all: &Requests,
) {
    let (mut buffer, mut chunk) = (Vec::new(), [0; 65_536]);
    loop {
        while let Some(head) = RequestHead::decode(&buffer).expect("a request") {
            let Framing::Length(length) = head.framing else { panic!("a request with chunks") };
            let end = head.length + length as usize;
            if buffer.len() < end {
                break;
            }
            let text = String::from_utf8_lossy(&buffer[..head.length]).into_owned();
            let mut words = text.split(' ');
            let seen = Seen {
                method: words.next().unwrap().to_owned(),
                target: words.next().unwrap().to_owned(),
                body: buffer[head.length..end].to_vec(),
                head: text.clone(),
                connection,
            };
            buffer.drain(..end);
            let number = {
                let mut all = all.lock().unwrap();
                all.push(seen.clone());
                all.len() - 1
            };
            let answer = answer(&seen, number);
            let closes = String::from_utf8_lossy(&answer).contains("Connection: close");
            if stream.write_all(&answer).is_err() || closes {
                return;
            }
        }
        match stream.read_some(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(n) => buffer.extend_from_slice(&chunk[..n]),
        }
    }
}

pub fn ok(body: &str) -> Vec<u8> {
    with("", body)
}

pub fn with(lines: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

pub fn table(columns: &[&str], rows: &[&[&str]]) -> Arc<Table> {
    let cell = |cell: &&str| format!("\"{}\"", cell.replace('"', "\"\""));
    let line = |row: &&[&str]| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n";
    let text: String = rows.iter().map(line).collect();
    let columns = columns.iter().map(|&name| name.to_owned()).collect();
    let form = Form { columns: Some(columns), ..Form::default() };
    Arc::new(Table::parse(text.into(), &form, |_, _| Ok(())).unwrap())
}

pub fn one(name: &str, columns: &[&str], rows: &[&[&str]]) -> Tables {
    Tables::from([(format!("mix/{name}"), table(columns, rows))])
}

pub fn config(port: u16, text: &str) -> Value {
    json!({
        "target": {"protocol": "http", "host": "127.0.0.1", "port": port, "size": 10},
        "scenarios": [{"name": "mix", "text": text, "env": {"KEY": "env-key"}}],
    })
}

pub fn try_start(config: &Value, tables: &Tables) -> Result<Engine, String> {
    let AnyConfig::Http(config) = serde_json::from_value(config.clone()).unwrap() else { panic!("no site") };
    Engine::start_http(config, Some(visitors()), tables).map_err(|error| error.to_string())
}

/// Runs a scenario until its server has received this many requests; returns the snapshot.
pub fn run(server: &Server, text: &str, tables: &Tables, count: usize) -> Snapshot {
    let mut engine =
        try_start(&config(server.port, text), tables).unwrap_or_else(|problem| panic!("{problem}"));
    engine.start_lanes("mix", 1).unwrap();
    assert!(eventually(|| server.seen.lock().unwrap().len() >= count), "{:?}", server.requests());
    engine.stop(Duration::from_secs(5)).unwrap()
}

pub fn failures(snapshot: &Snapshot, step: &str) -> Vec<String> {
    let steps = snapshot.steps.iter().filter(|each| &*each.step == step);
    steps.flat_map(|each| each.failures.iter().map(|(kind, _)| kind.clone())).collect()
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
        run(&server, EVERYWHERE, &one("x", &["cell"], &[&[&cell]]), 4);
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
        let tables = one("x", &["cell"], &[&[&cell]]);
        let is_line = cell.bytes().all(|byte| byte == b'\t' || (byte >= 0x20 && byte != 0x7f));
        if !is_line {
            let problem = try_start(&config(server.port, text), &tables).err().expect("a control character");
            prop_assert!(problem.contains("control character") && problem.contains("row 1 of x"), "{}", problem);
            return Ok(());
        }
        run(&server, text, &tables, 1);
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
        ("POST", "/login") => b"HTTP/1.1 303 See Other\r\nLocation: /\r\nContent-Length: 0\r\n\r\n".to_vec(),
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
    let tables = one("account", &["user", "password", "name"], &[&["ann", "p w", "Ann & Bo"]]);
    let snapshot = run(&server, text, &tables, 6);
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
    run(&server, text, &Tables::new(), 2);
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
    let snapshot = run(&server, text, &Tables::new(), 3);
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
    run(&server, text, &Tables::new(), 6);
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
    let mut engine = try_start(&config(server.port, text), &Tables::new()).unwrap();
    engine.start_lanes("mix", 1).unwrap();
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
        let mut config = config(server.port, &text);
        config["log"] = json!({"most": 1});
        let tables = one("account", &["name", "password"], &[&["ann", "pa55"]]);
        let mut engine = try_start(&config, &tables).unwrap_or_else(|problem| panic!("{problem}"));
        engine.start_lanes("mix", 1).unwrap();
        assert!(eventually(|| server.requests().len() > 1));
        let snapshot = engine.stop(Duration::from_secs(5)).unwrap();
        let example =
            snapshot.steps.iter().flat_map(|step| &step.examples).map(|(_, example)| example).next();
        assert_eq!(example.map(String::as_str), Some(&*format!("GET /ann: 200 OK, {lacking}")), "{expect}");
        let line: Value = serde_json::from_str(&snapshot.log[0]).unwrap();
        assert_eq!(line["said"], format!("200 OK, {lacking}"));
    }
}

#[test]
fn the_example_of_a_failure_contains_no_secret() {
    let server = Server::new(|seen, _| {
        let path = percent(&seen.target);
        let said = String::from_utf8_lossy(&path).into_owned();
        format!("HTTP/1.1 500 {said} env-key\r\nContent-Length: 0\r\n\r\n").into_bytes()
    });
    let text = r#"
        data.account.file = "a.csv"
        [[operation]]
        get = "/u/{account.user}?key={account.password}&a={account.password}"
        headers.X = "{env.KEY}""#;
    let tables = one("account", &["user", "password"], &[&["ann", "p&w 1"]]);
    let snapshot = run(&server, text, &tables, 1);
    let example = format!("{:?}", snapshot.steps.iter().map(|each| &each.examples).collect::<Vec<_>>());
    assert!(example.contains("GET /u/ann?key=...&a={account.password}"), "{example}");
    assert!(example.contains("expected 200"), "{example}");
    for secret in ["p&w", "p%26w", "env-key"] {
        assert!(!example.contains(secret), "{secret}: {example}");
    }
}

#[test]
fn statuses_and_paths_from_columns_are_checked_before_the_first_request() {
    let server = Server::new(|seen, _| {
        let status = if seen.target == "/gone?x=1" { 410 } else { 200 };
        format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n").into_bytes()
    });
    let text =
        "data.page.file = 'p.csv'\n[[operation]]\nget = '{page.path}'\nexpect.status = '{page.status}'";
    let columns = ["path", "status"];
    let snapshot = run(&server, text, &one("page", &columns, &[&["/", "200"], &["/gone?x=1", "410"]]), 4);
    assert_eq!(failures(&snapshot, "get"), Vec::<String>::new());
    for (path, status, expected) in [
        ("x", "200", "does not begin with /"),
        ("/a b", "200", "write ' ' as %20"),
        ("/", "99", "is no status"),
    ] {
        let tables = one("page", &columns, &[&[path, status]]);
        let problem = try_start(&config(server.port, text), &tables).err().expect(expected);
        assert!(problem.contains("row 1 of page") && problem.contains(expected), "{problem}");
    }
}

#[test]
fn the_scenario_of_the_paper_sends_only_the_three_expected_requests() {
    let site = Site::right();
    let totals = paper::run(&paper::config(&site, &paper()), 8, "update", 40);
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
fn each_fault_of_a_page_has_its_own_failure_kind() {
    for (what, kind) in [
        (Do::Outdated, "stale"),
        (Do::SomebodyElse, "leak"),
        (Do::Nobody, "wrong-answer"),
        (Do::WrongGreeting, "wrong-answer"),
        (Do::OfLength(9_000), "wrong-length"),
        (Do::Status(302), "status:302"),
    ] {
        let site = Site::new(move |path, _| if path == "/" { what } else { Do::Right });
        let totals = paper::run(&paper::config(&site, &paper()), 2, "updated page", 12);
        let kinds = totals.of("updated page").failures.keys().cloned().collect::<Vec<_>>();
        assert_eq!(kinds, [kind], "{what:?}");
    }
}

#[test]
fn a_redirect_is_an_answer_unless_a_step_follows_it() {
    let other = Server::new(|_, _| ok(""));
    let elsewhere = other.port;
    let server = Server::new(move |_, _| {
        format!(
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{elsewhere}/stolen\r\nContent-Length: 0\r\n\r\n"
        )
        .into_bytes()
    });
    let snapshot = run(&server, "[[operation]]\nget = '/'", &Tables::new(), 3);
    assert_eq!(failures(&snapshot, "get"), ["status:302"]);
    assert!(other.requests().is_empty());
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
        let snapshot = run(&server, &text, &Tables::new(), before + 2 + expected.len());
        assert_eq!(failures(&snapshot, "sequence"), Vec::<String>::new(), "{from}");
        let asked: Vec<_> = server.requests()[before + 1..].iter().map(|seen| seen.target.clone()).collect();
        let ids: Vec<_> = expected.iter().map(|id| format!("/id/{id}")).chain(["/last".to_owned()]).collect();
        assert_eq!(asked[..ids.len()], ids, "{from}");
    }
    let text = "[[operation]]\nname = 'o'\nstep = [
        { get = '/list', capture.id = { json = '/none', take = 'all' } },
        { repeat = 'id', step = [{ name = 'each', get = '/id/{id}' }] }]";
    let snapshot = run(&server, text, &Tables::new(), server.requests().len() + 3);
    assert_eq!(failures(&snapshot, "get"), ["nothing-captured"]);
    assert!(!snapshot.steps.iter().any(|step| &*step.step == "each" && step.count > 0));
    // Over many operations, a random choice from a list returns each of the values.
    let text = "[[operation]]\nname = 'o'\nstep = [
        { get = '/list', capture.id = { json = '/ids', take = 'random' } }, { name = 'each', get = '/any/{id}' }]";
    run(&server, text, &Tables::new(), server.requests().len() + 200);
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
    assert_eq!(failures(&run(&server, text, &Tables::new(), 1), "get"), ["too-much-captured"]);
}

#[test]
fn a_pool_of_connections_to_a_site_is_refused() {
    let server = Server::new(|_, _| ok(""));
    let text = "connection.main.pool = 4\n[[operation]]\nget = '/'";
    let problem = try_start(&config(server.port, text), &Tables::new()).err().unwrap();
    assert!(problem.contains("a connection that users share (pool) is read, but not run yet"), "{problem}");
}

#[test]
fn the_scenario_file_sets_the_lifetime_of_a_connection() {
    for (lives, per_request) in
        [("http = '1.0'", 1.0), ("per = 'step'", 1.0), ("per = 'iteration'", 0.5), ("per = 4", 0.125)]
    {
        let site = Site::right();
        let text = format!(
            "[connection.main]\n{lives}\n[[operation]]\nname = 'two'\nstep = [{{ get = '/image' }}, {{ get = '/image' }}]"
        );
        let mut engine = try_start(&config(site.port(), &text), &Tables::new())
            .unwrap_or_else(|problem| panic!("{problem}"));
        engine.start_lanes("mix", 1).unwrap();
        assert!(eventually(|| site.seen.answered("/image") >= 40));
        engine.stop(Duration::from_secs(5)).unwrap();
        let wanted = site.seen.answered("/image") as f64 * per_request;
        assert!(
            (site.connections() as f64 - wanted).abs() <= 2.0,
            "{lives}: {} of {wanted}",
            site.connections()
        );
        let request = String::from_utf8(site.seen.requests.lock().unwrap()[0].clone()).unwrap();
        assert_eq!(request.starts_with("GET /image HTTP/1.0\r\n"), lives == "http = '1.0'", "{request}");
    }
}

#[test]
fn without_keep_alive_each_request_has_its_own_connection() {
    for lives in ["", "per = 'iteration'", "per = 4"] {
        let site = Site::right();
        let text = format!("[connection.main]\n{lives}\n[[operation]]\nget = '/image'");
        let mut config = config(site.port(), &text);
        config["target"]["keepalive"] = json!(false);
        let mut engine = try_start(&config, &Tables::new()).unwrap_or_else(|problem| panic!("{problem}"));
        engine.start_lanes("mix", 1).unwrap();
        assert!(eventually(|| site.seen.answered("/image") >= 40));
        engine.stop(Duration::from_secs(5)).unwrap();
        let (connections, asked) = (site.connections(), site.seen.answered("/image"));
        assert!(connections.abs_diff(asked) <= 2, "{lives}: {connections} for {asked}");
    }
}

#[test]
fn the_scenario_file_sets_the_lifetime_of_each_connection_of_a_user() {
    let site = Site::right();
    let text = "[connection.main]\n[connection.other]\nper = 'iteration'\n[[operation]]\nname = 'all'\n\
        step = [{ get = '/image' }, { get = '/image', on = 'other' }, { get = '/image', on = 'other' }]";
    let mut engine =
        try_start(&config(site.port(), text), &Tables::new()).unwrap_or_else(|problem| panic!("{problem}"));
    engine.start_lanes("mix", 1).unwrap();
    assert!(eventually(|| site.seen.answered("/image") >= 60));
    engine.stop(Duration::from_secs(5)).unwrap();
    let wanted = 1.0 + site.seen.answered("/image") as f64 / 3.0;
    assert!((site.connections() as f64 - wanted).abs() <= 2.0, "{} of {wanted}", site.connections());
}

#[test]
fn each_row_of_data_dealt_once_is_requested_exactly_once() {
    let server = Server::new(|_, _| ok(""));
    let text = "[data.n]\nrange = [1, 100]\ndeal = 'once'\n[[operation]]\nget = '/{n}'";
    let mut config = config(server.port, text);
    config["threads"] = json!(2);
    let mut engine = try_start(&config, &Tables::new()).unwrap();
    engine.start_lanes("mix", 5).unwrap();
    assert!(eventually(|| server.seen.lock().unwrap().len() >= 100));
    let snapshot = engine.stop(Duration::from_secs(5)).unwrap();
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
        "POST" => {
            let said = format!("HTTP/1.1 403 Not {}\r\n", String::from_utf8_lossy(&seen.body));
            format!("{said}Content-Length: 0\r\n\r\n").into_bytes()
        }
        _ => with("X-Id: i7\r\nX-Token: t0ken\r\n", ""),
    });
    let text = "headers.Authorization = 'Bearer {env.KEY}'\ndata.account.file = 'a.csv'\n[[operation]]\nname = 'o'\nstep = [
      { get = '/', capture.id = { header = 'X-Id' }, capture.csrf = { header = 'X-Token' } },
      { post = '/login?sid=1', headers.X-Csrf = '{csrf}', form = { user = '{account.name}', password = '{account.password}' } },
      { post = '/other', json = { name = '{account.name}', token = '{csrf}', password = { value = 'lit\"5', pin = 98765, on = true } } },
      { post = '/third?api_key=l%2Fit6', headers.X-Api-Key = 'lit7', form = { session = 'li t8', of = 'l%2Fit6' } },
    ]";
    let mut config = config(server.port, text);
    config["log"] = json!({"most": 4, "all": true});
    let tables = one("account", &["name", "password"], &[&["ann", "pa55"]]);
    let mut engine = try_start(&config, &tables).unwrap();
    engine.start_lanes("mix", 1).unwrap();
    assert!(eventually(|| server.seen.lock().unwrap().len() >= 4));
    let log = engine.stop(Duration::from_secs(5)).unwrap().log;
    let found: Vec<Value> = log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rest: Vec<_> = found.iter().map(|each| each["rest"].as_str().unwrap()).collect();
    let key = "headers.Authorization=Bearer {env.KEY}";
    let login = "headers.X-Csrf=\"{csrf}\" form.user=\"ann\" form.password={account.password}";
    let json = "json.name=\"ann\" json.token={csrf} json.password.value={password} json.password.pin={password} json.password.on={password}";
    let third = "headers.X-Api-Key={password} form.session={password} form.of=\"{secret}\"";
    let expected =
        [key.to_owned(), format!("{key} {login}"), format!("{key} {json}"), format!("{key} {third}")];
    assert_eq!(rest, expected);
    assert_eq!(found[0]["captured"], json!({"csrf": null, "id": null}));
    assert_eq!(found[1]["asked"], "POST /login?sid=...");
    assert_eq!((&found[1]["code"], &found[1]["kind"]), (&json!("403"), &json!("status:403")));
    assert_eq!((&found[1]["user"], &found[1]["rows"]), (&json!(1), &json!({"account": 1})));
    // The server repeats the received request.
    assert!(found[1]["diagnostic"].as_str().unwrap().contains("{account.password}"), "{}", found[1]);
    // Secrets written in the file are hidden like substituted secrets, in any spelling.
    let said = |number: usize| found[number]["diagnostic"].as_str().unwrap();
    assert_eq!(
        said(2),
        r#"Not {"name":"{account.name}","token":"{csrf}"#.replace("{account.name}", "ann")
            + r#"","password":{"value":"{secret}","pin":{secret},"on":true}}"#
    );
    assert_eq!(said(3), "Not session={secret}&of={secret}");
    assert_eq!(found[3]["asked"], "POST /third?api_key=...");
    for secret in ["pa55", "t0ken", "env-key", "it6", "lit7", "t8", "98765"] {
        assert!(!log.iter().any(|line| line.contains(secret)), "{secret}: {log:?}");
    }
}
