//! Users whose requests something else sends: they ask for what lanes ask for, and judge as they do.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use load::portable::{Do, HttpRequest, Judged, SiteUser, SiteUsers, TurnError};
use load::{AnyConfig, Tables};
use serde_json::{Value, json};

use super::harness::eventually;
use super::paper::{paper, visitors};
use super::scenarios::{Seen, Server, config, ok, one, try_start, with};

const LOGIN: &str = include_str!("../../../../../../examples/login_site/login.toml");

fn accounts() -> Tables {
    let rows: &[&[&str]] = &[&["1", "p w", "Ann & Bo"], &["2", "p%", "Cy"], &["3", "p&", "Di"]];
    one("account", &["number", "password", "name"], rows)
}

/// Answers as `examples/login_site/app.py` does: each form has a token, each login leads to a session.
fn login_site(seen: &Seen, number: usize) -> Vec<u8> {
    let field = |name: &str| {
        let body = String::from_utf8(seen.body.clone()).unwrap();
        body.split('&').find_map(|pair| Some(pair.strip_prefix(name)?.to_owned())).unwrap_or_default()
    };
    match (&*seen.method, &*seen.target) {
        ("GET", "/login") => ok(&format!("<input name=\"token\" value=\"t+{number}\">")),
        ("POST", "/login") => {
            assert_eq!(field("token="), format!("t%2B{}", number - 1), "the token of the form before");
            let session = format!("Set-Cookie: session={}; Path=/\r\n", field("user="));
            let head = format!("HTTP/1.1 303 See Other\r\nLocation: /\r\n{session}");
            format!("{head}Content-Length: 0\r\n\r\n").into_bytes()
        }
        _ => {
            let user = seen.header("Cookie").and_then(|line| line.strip_prefix("session=")).unwrap_or("none");
            let name = ["none", "Ann &amp; Bo", "Cy", "Di"][user.parse::<usize>().unwrap_or(0)];
            ok(&format!("<p data-user=\"{user}\"><h1>Hello, {name}</h1>"))
        }
    }
}

pub fn try_users(config: &Value, tables: &Tables) -> Result<SiteUsers, String> {
    let AnyConfig::Http(config) = serde_json::from_value(config.clone()).unwrap() else { panic!("no site") };
    SiteUsers::new_http(config, Some(visitors()), tables).map_err(|error| error.to_string())
}

pub fn users(config: &Value, tables: &Tables) -> SiteUsers {
    try_users(config, tables).unwrap_or_else(|problem| panic!("{problem}"))
}

/// A request as the server of these tests reads it.
fn seen(request: &[u8]) -> Seen {
    let end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head") + 4;
    let head = String::from_utf8(request[..end].to_vec()).unwrap();
    let mut words = head.split(' ');
    Seen {
        method: words.next().unwrap().to_owned(),
        target: words.next().unwrap().to_owned(),
        body: request[end..].to_vec(),
        head: head.clone(),
        connection: 0,
    }
}

/// An answer as an HTTP client hands it over.
pub fn judge<'u>(user: &mut Site<'u>, answer: &[u8]) -> Judged {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8(answer[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let header = |line: &str| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_owned(), value.to_owned())
    };
    let headers: Vec<_> = lines.map(header).collect();
    user.user.answered_http(user.users, status, &headers, &answer[end + 4..]).unwrap()
}

/// One of the users, with all that they share.
pub struct Site<'u> {
    pub users: &'u mut SiteUsers,
    pub user: SiteUser,
}

impl<'u> Site<'u> {
    pub fn new(users: &'u mut SiteUsers) -> Self {
        let user = users.user("mix").unwrap();
        Self { users, user }
    }

    pub fn next(&mut self) -> Do {
        self.user.next(self.users).unwrap().expect("it has not stopped")
    }

    /// Goes on to its next request.
    pub fn ask(&mut self) -> Vec<u8> {
        loop {
            if let Do::Ask { request, .. } = self.next() {
                return request;
            }
        }
    }

    fn lost(&mut self, failure: &str) -> Judged {
        self.user.lost(self.users, failure).unwrap()
    }
}

fn text(of: &Seen) -> String {
    format!("{}{}", of.head, String::from_utf8_lossy(&of.body))
}

#[test]
fn one_user_sends_what_a_lane_of_the_same_seed_sends() {
    let people = |seen: &Seen, _| match (&*seen.method, &*seen.target) {
        ("POST", "/users") => {
            b"HTTP/1.1 201 Created\r\nSet-Cookie: user=7\r\nContent-Length: 0\r\n\r\n".to_vec()
        }
        _ => ok(""),
    };
    let mix = "
        data.n.range = [1, 7]
        [connection.main]
        per = 5
        [start]
        step = [{ post = '/start', form = { user = '{user}' }, capture.key = { header = 'X-Key' } }]
        [[operation]]
        name = 'a'
        weight = 3
        step = [{ get = '/a/{n}/{random:3}', headers.X-Key = '{key}' }, { think = '1ms' },
            { repeat = 2, step = [{ name = 'b', get = '/b/{random:1..9}/{iteration}' }] }]
        [[operation]]
        put = '/c'
        json = { n = '{n}' }";
    type Answer = fn(&Seen, usize) -> Vec<u8>;
    let paper = paper();
    let cases: [(&str, Tables, Answer); 3] = [
        (LOGIN, accounts(), login_site),
        (&paper, Tables::new(), people),
        (mix, Tables::new(), |_, _| with("X-Key: k\r\nSet-Cookie: s=1\r\n", "")),
    ];
    for (file, tables, answer) in cases {
        let server = Server::new(answer);
        let config = config(server.port, file);
        let mut engine = try_start(&config, &tables).unwrap_or_else(|problem| panic!("{problem}"));
        engine.start_lanes("mix", 1).unwrap();
        assert!(eventually(|| server.requests().len() >= 300));
        engine.stop(Duration::from_secs(5)).unwrap();

        let mut users = users(&config, &tables);
        let mut user = Site::new(&mut users);
        for (number, expected) in server.requests().iter().take(300).enumerate() {
            let asked = seen(&user.ask());
            assert_eq!(text(&asked), text(expected), "request {number}");
            judge(&mut user, &answer(&asked, number));
        }
    }
}

/// What users do until they have ended so many operations, of a site that answers rightly.
fn counts(
    users: &mut SiteUsers,
    many: usize,
    ends: usize,
    answer: fn(&Seen, usize) -> Vec<u8>,
) -> BTreeMap<String, u64> {
    let mut all: Vec<_> = (0..many).map(|_| users.user("mix").unwrap()).collect();
    let (mut counts, mut ended) = (BTreeMap::new(), 0);
    let mut count = |what: &str, row: &load::portable::Row| {
        *counts.entry(format!("{what} {} {}", row.0, row.1)).or_default() += 1;
    };
    for turn in (0..many).cycle() {
        if ended == ends {
            break;
        }
        match all[turn].next(users).unwrap().unwrap() {
            Do::Ask { row, request, .. } => {
                count("ask", &row);
                let mut user = Site { users, user: all.swap_remove(turn) };
                let judged = judge(&mut user, &answer(&seen(&request), 0));
                assert_eq!(judged, Judged { failure: None, answered: true, shown: None });
                let user = user.user;
                all.push(user);
                let last = all.len() - 1;
                all.swap(turn, last);
            }
            Do::End { row, failure, answered } => {
                assert_eq!((failure, answered), (None, true));
                count("end", &row);
                ended += 1;
            }
            _ => {}
        }
    }
    counts
}

#[test]
fn all_users_share_one_deck() {
    let file = "[[operation]]\nget = '/'\nweight = 7\n[[operation]]\nname = 'w'\nweight = 3\n\
        step = [{ post = '/a' }, { post = '/b' }]";
    let mut users = users(&config(1, file), &Tables::new());
    let counts = counts(&mut users, 4, 1_000, |_, _| ok(""));
    // The others may have begun what is not over yet.
    for (row, expected) in [("end get sequence", 700_u64), ("end w sequence", 300), ("ask w post", 300)] {
        assert!(counts[row].abs_diff(expected) <= 4, "{row}: {counts:?}");
    }
    assert!(counts["ask w post"].abs_diff(counts["ask w post 2"]) <= 4, "{counts:?}");
}

#[test]
fn new_people_are_each_taken_once_and_rows_of_one_s_own_by_one_at_a_time() {
    let file = "data.newcomer.people = 'new'\ndata.owner = { people = 'seeded', deal = 'exclusive' }\n\
        [[operation]]\nname = 'all'\nstep = [{ post = '/n/{newcomer.id}' }, { post = '/o/{owner.id}' }, { get = '/' }]";
    let mut users = users(&config(1, file), &Tables::new());
    let mut all: Vec<_> = (0..8).map(|_| users.user("mix").unwrap()).collect();
    let (mut held, mut created) = (BTreeMap::new(), Vec::new());
    for turn in (0..8).cycle().take(8 * 200) {
        match all[turn].next(&mut users).unwrap().unwrap() {
            Do::Ask { request, .. } => {
                let HttpRequest { path, .. } = HttpRequest::of(&request);
                if let Some(number) = path.strip_prefix("/n/") {
                    created.push(number.parse::<u64>().unwrap());
                } else if let Some(number) = path.strip_prefix("/o/") {
                    let other = held.insert(number.to_owned(), turn);
                    assert_eq!(other, None, "{number} is another's");
                }
                all[turn].answered_http(&mut users, 200, &[], b"").unwrap();
            }
            Do::End { .. } => held.retain(|_, holder| *holder != turn),
            _ => {}
        }
    }
    // After the ten of the site.
    assert!(created.len() > 100 && created.iter().copied().eq(10..10 + created.len() as u64));
}

#[test]
fn a_change_that_was_never_answered_may_yet_take_place_and_keeps_its_row() {
    let file = "data.owner = { people = 'seeded', deal = 'exclusive' }\n[[operation]]\npost = '/{owner.id}'";
    let mut users = users(&config(1, file), &Tables::new());
    let mut user = Site::new(&mut users);
    // One of the ten is refused each time, and so may come again.
    let mut changed = |is_lost: bool| {
        let path = HttpRequest::of(&user.ask()).path;
        match is_lost {
            true => drop(user.lost("timeout")),
            false => drop(user.user.answered_http(user.users, 500, &[], b"").unwrap()),
        }
        path
    };
    let refused: BTreeSet<_> = (0..40).map(|_| changed(false)).collect();
    assert!(refused.len() <= 10);
    let lost: BTreeSet<_> = (0..10).map(|_| changed(true)).collect();
    assert_eq!(lost.len(), 10, "{lost:?}");
}

#[test]
fn a_row_that_a_value_names_is_updated_too() {
    let file = "data.owner = { people = 'seeded', deal = 'exclusive' }\nvalues.who = 'u{owner.id}'\n\
        values.path = '{who}/x'\n[[operation]]\nname = 'all'\n\
        step = [{ post = '/{path}' }, { get = '/{path}', expect.fresh = 'new' }]";
    let mut config = config(1, file);
    for (people, expected) in [(1, None), (2, Some("stale"))] {
        config["target"]["size"] = json!(people);
        let mut users = users(&config, &Tables::new());
        let mut first = Site::new(&mut users);
        first.ask();
        judge(&mut first, &ok(""));
        let first = first.user;
        let mut second = Site::new(&mut users);
        second.ask();
        judge(&mut second, &ok(""));
        let mut first = Site { users: &mut users, user: first };
        first.ask();
        assert_eq!(judge(&mut first, &ok("old")).failure.as_deref(), expected, "{people} people");
    }
}

#[test]
fn a_user_that_is_dropped_leaves_its_row_to_others_unless_it_may_yet_change() {
    let file = "data.owner = { people = 'seeded', deal = 'exclusive' }\n[[operation]]\nname = 'all'\n\
        step = [{ post = '/{owner.id}' }, { get = '/{owner.id}', expect.fresh = 'new' }]";
    for (is_answered, expected) in [(true, Some("stale")), (false, None)] {
        let mut users = users(&config(1, file), &Tables::new());
        // There are ten people.
        for _ in 0..30 {
            let mut user = Site::new(&mut users);
            user.ask();
            if is_answered {
                judge(&mut user, &ok(""));
            }
        }
        let mut user = Site::new(&mut users);
        user.ask();
        judge(&mut user, &ok(""));
        user.ask();
        assert_eq!(judge(&mut user, &ok("old")).failure.as_deref(), expected, "{is_answered}");
    }
}

#[test]
fn a_wrong_answer_is_told_by_the_engine_s_name_and_without_secrets() {
    let file = "data.account.file = 'a.csv'\n[[operation]]\nname = 'two'\n\
        step = [{ name = 'first', get = '/{account.user}?key={account.password}&a={account.password}' }, { get = '/next' }]";
    let tables = one("account", &["user", "password"], &[&["ann", "p&w 1"]]);
    let mut users = users(&config(1, file), &tables);
    let mut user = Site::new(&mut users);
    assert_eq!(user.next(), Do::Begin(Some(("two".into(), "sequence".into()))));
    user.ask();
    let judged = user.user.answered_http(user.users, 500, &[("X".into(), "y".into())], b"p&w 1").unwrap();
    let shown = "GET /ann?key=...&a={account.password}: 500, expected 200".to_owned();
    assert_eq!(judged, Judged { failure: Some("status:500".into()), answered: true, shown: Some(shown) });
    // After a wrong answer it goes on with the operation's next step.
    assert!(user.ask().starts_with(b"GET /next "));
    assert_eq!(judge(&mut user, &ok("")).failure, None);
    let row = ("two".into(), "sequence".into());
    assert_eq!(user.next(), Do::End { row, failure: Some("status:500".into()), answered: true });
}

#[test]
fn a_request_that_was_lost_ends_the_operation_and_is_followed_by_a_longer_pause_each_time() {
    let file = "[[operation]]\nname = 'two'\nstep = [{ get = '/1' }, { get = '/2' }]";
    let mut users = users(&config(1, file), &Tables::new());
    let mut user = Site::new(&mut users);
    for pause_ms in [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000] {
        assert!(user.ask().starts_with(b"GET /1 "));
        let judged = user.lost("connect-refused");
        let expected = (Some("connect-refused"), false, Some("GET /1"));
        assert_eq!((judged.failure.as_deref(), judged.answered, judged.shown.as_deref()), expected);
        let row = ("two".into(), "sequence".into());
        let end = Do::End { row, failure: Some("connect-refused".into()), answered: false };
        assert_eq!(user.next(), end);
        assert_eq!(user.next(), Do::Close { row: None, connection: 0 });
        assert_eq!(user.next(), Do::Wait(Duration::from_millis(pause_ms)));
    }
    user.ask();
    judge(&mut user, &ok(""));
    user.ask();
    user.lost("timeout");
    for expected in ["end", "close"] {
        assert!(format!("{:?}", user.next()).to_lowercase().starts_with(expected));
    }
    assert_eq!(user.next(), Do::Wait(Duration::from_millis(10)), "an answer came between");
}

#[test]
fn a_body_is_as_long_as_its_head_says_unless_it_was_packed() {
    let file = "[[operation]]\nget = '/'\nexpect.length = 5\n[[operation]]\nname = 'w'\nhead = '/'";
    let said = |lines: &[(&str, &str)]| -> Vec<_> {
        lines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    for (headers, body, expected) in [
        (said(&[("content-length", "5")]), "hello", None),
        (said(&[]), "hello", None),
        (said(&[("Content-Length", "3"), ("Content-Encoding", "gzip")]), "hello", None),
        (said(&[("Content-Length", "9"), ("Transfer-Encoding", "chunked")]), "hello", None),
        (said(&[("Content-Length", "5")]), "hell", Some("truncated")),
        (said(&[("Transfer-Encoding", "chunked")]), "hell", Some("wrong-length")),
        (said(&[("Bad header", "x")]), "hello", Some("malformed")),
    ] {
        let mut config = config(1, file);
        config["scenarios"][0]["operation"] = json!("get");
        let mut users = users(&config, &Tables::new());
        let mut user = Site::new(&mut users);
        user.ask();
        let judged = user.user.answered_http(user.users, 200, &headers, body.as_bytes()).unwrap();
        assert_eq!(judged.failure.as_deref(), expected, "{headers:?}");
        assert_eq!(judged.answered, expected.is_none_or(|kind| kind == "wrong-length"));
    }
    let mut config = config(1, file);
    config["scenarios"][0]["operation"] = json!("w");
    let mut users = users(&config, &Tables::new());
    let mut user = Site::new(&mut users);
    user.ask();
    let headers = said(&[("Content-Length", "900")]);
    let judged = user.user.answered_http(user.users, 200, &headers, b"").unwrap();
    assert_eq!(judged, Judged { failure: None, answered: true, shown: None }, "no body comes of HEAD");
}

#[test]
fn a_connection_is_closed_when_the_file_or_the_answer_says() {
    let close = Do::Close { row: None, connection: 0 };
    let named = |step: &str| Do::Close { row: Some(("mix".into(), step.into())), connection: 0 };
    let own = Do::Close { row: Some(("get".into(), "main: close".into())), connection: 0 };
    let said = ("Connection".to_owned(), "close".to_owned());
    for (file, headers, keepalive, expected) in [
        ("[[operation]]\nget = '/'", vec![], true, vec![]),
        ("[[operation]]\nget = '/'", vec![said], true, vec![close.clone(), close.clone(), close.clone()]),
        ("[[operation]]\nget = '/'", vec![], false, vec![close.clone(), close.clone(), close]),
        ("connection.main.per = 2\n[[operation]]\nget = '/'", vec![], true, vec![named("main: close")]),
        ("connection.main.per = 'iteration'\n[[operation]]\nget = '/'", vec![], true, vec![own; 3]),
    ] {
        let mut config = config(1, file);
        config["target"]["keepalive"] = json!(keepalive);
        let mut users = users(&config, &Tables::new());
        let mut user = Site::new(&mut users);
        let (mut closes, mut ends) = (Vec::new(), 0);
        while ends < 3 {
            match user.next() {
                Do::Ask { request, .. } => {
                    let headers_sent = HttpRequest::of(&request).headers;
                    assert_eq!(headers_sent.iter().any(|(name, _)| name == "Connection"), !keepalive);
                    user.user.answered_http(user.users, 200, &headers, b"").unwrap();
                }
                Do::End { .. } => ends += 1,
                each @ Do::Close { .. } => closes.push(each),
                Do::Begin(_) | Do::Open { .. } | Do::Wait(_) | Do::AwaitRow(_) => {}
            }
        }
        assert_eq!(closes, expected, "{file}");
    }
}

#[test]
fn each_of_several_connections_is_named() {
    let file = "[connection.main]\n[connection.other]\nper = 'iteration'\n[[operation]]\nname = 'all'\n\
        step = [{ get = '/1' }, { get = '/2', on = 'other' }, { get = '/3' }]";
    let mut users = users(&config(1, file), &Tables::new());
    let mut user = Site::new(&mut users);
    let mut said = Vec::new();
    while said.len() < 8 {
        match user.next() {
            Do::Ask { connection, .. } => {
                said.push(format!("ask {connection}"));
                judge(&mut user, &ok(""));
            }
            Do::Close { connection, .. } => said.push(format!("close {connection}")),
            _ => {}
        }
    }
    let pass = ["ask 0", "ask 1", "ask 0", "close 1"];
    assert_eq!(said, [pass, pass].concat());
}

#[test]
fn a_user_that_stops_ends_the_operation_without_its_pauses() {
    let file = "[[operation]]\nname = 'two'\nstep = [{ post = '/1' }, { think = '1h' }, { delete = '/1' }]";
    let mut config = config(1, file);
    config["scenarios"][0]["think_ms"] = json!(1e6);
    let mut users = users(&config, &Tables::new());
    let mut user = Site::new(&mut users);
    user.ask();
    user.user.stop();
    judge(&mut user, &ok(""));
    assert!(matches!(user.next(), Do::Ask { .. }));
    assert_eq!(user.user.next(user.users), Err(TurnError::Asking));
    judge(&mut user, &ok(""));
    assert_eq!(user.user.answered_http(user.users, 200, &[], b""), Err(TurnError::Silent));
    assert!(matches!(user.next(), Do::End { failure: None, answered: true, .. }));
    assert_eq!(user.user.next(user.users), Ok(None));

    // One that rests does not begin anew.
    let mut user = Site::new(&mut users);
    user.ask();
    judge(&mut user, &ok(""));
    assert!(matches!(user.next(), Do::Wait(_)));
    user.user.stop();
    assert!(matches!(user.next(), Do::Ask { .. }), "its operation is finished");
}

#[test]
fn a_request_comes_in_the_parts_that_clients_take() {
    let file = "[[operation]]\npost = '/a/{x}?b={x}'\nheaders.X = '<{x}>'\njson = { x = '{x}' }\n\
        [data.x]\nvalues = ['ä &']";
    let mut config = config(1, file);
    config["target"]["base_path"] = json!("/shop");
    let mut users = users(&config, &Tables::new());
    let mut user = Site::new(&mut users);
    let HttpRequest { method, path, headers, body } = HttpRequest::of(&user.ask());
    assert_eq!((&*method, &*path), ("POST", "/shop/a/%C3%A4%20%26?b=%C3%A4%20%26"));
    // A byte is a character.
    let expected = [("X", "<Ã¤ &>"), ("Content-Type", "application/json")];
    assert_eq!(headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(body, "{\"x\":\"ä &\"}".as_bytes());
}

#[test]
fn what_no_portable_client_does_is_refused_by_its_name() {
    let plain = "[[operation]]\nget = '/'";
    let mut open = config(1, plain);
    open["schedule"] = json!({"kind": "open", "rate": 10.0});
    let mut secure = config(1, plain);
    secure["target"]["secure"] = json!({"port": 2});
    let old = config(1, &format!("connection.main.http = '1.0'\n{plain}"));
    for (config, expected) in [
        (open, "mix: a portable client does not do schedules of a rate"),
        (secure, "mix: a portable client does not do a second address with TLS"),
        (old, "mix: a portable client does not do HTTP/1.0"),
    ] {
        let problem = try_users(&config, &Tables::new()).err().expect(expected);
        assert!(problem.contains(expected), "{problem}");
    }
}
