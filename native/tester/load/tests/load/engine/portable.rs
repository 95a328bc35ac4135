//! Portable users, whose requests another program sends: their requests and judgements equal the requests and
//! judgements of lanes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use load::Tables;
use load::portable::{DirectoryUser, DirectoryUsers, Do, Judged, LdapAnswer};
use people::{Population, Profile};
use serde_json::{Value, json};
use wire::ldap::frame::message_length;
use wire::ldap::{Operation, Reply, Request, Response, ResultCode, op};

use super::harness::{self, ADD, DELETE, config, eventually, lookups, people, session};
use super::responder::{self, Responder};

fn try_users(config: &Value, people: &Arc<Population>, tables: &Tables) -> Result<DirectoryUsers, String> {
    let config = serde_json::from_value(config.clone()).unwrap();
    DirectoryUsers::new_ldap(config, Some(people.clone()), None, tables).map_err(|error| error.to_string())
}

/// A portable user with its shared data, and a connection to the responder.
struct Client {
    users: DirectoryUsers,
    user: DirectoryUser,
    stream: Option<TcpStream>,
    responder: Responder,
}

impl Client {
    fn new(config: &Value, people: &Arc<Population>, responder: Responder) -> Self {
        let users = try_users(config, people, &Tables::new()).unwrap_or_else(|problem| panic!("{problem}"));
        let user = users.user("p").unwrap();
        Self { users, user, stream: None, responder }
    }

    fn next(&mut self) -> Do {
        self.user.next(&mut self.users).unwrap().expect("it has not stopped")
    }

    /// Sends a request and hands the answer over as an LDAP client does.
    fn send(&mut self, request: &[u8]) -> Judged {
        let mut stream = self.stream.as_ref().expect("a connection");
        stream.write_all(request).unwrap();
        let (mut bytes, mut chunk, mut answer) = (Vec::new(), [0; 4096], LdapAnswer::default());
        loop {
            while let Ok(Some(length)) = message_length(&bytes, 1 << 20) {
                let message: Vec<u8> = bytes.drain(..length).collect();
                match Response::decode(&message).unwrap().reply {
                    Reply::Entry { dn, attributes } => {
                        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                        let values = attributes.iter().map(|attribute| {
                            let attribute = attribute.unwrap();
                            let values = attribute.values.iter().map(|value| value.unwrap().to_vec());
                            (text(attribute.name), values.collect())
                        });
                        answer.entries.push((text(dn), values.collect()));
                    }
                    Reply::Done { outcome, .. } => {
                        answer.code = outcome.code.0;
                        answer.diagnostic = String::from_utf8_lossy(outcome.diagnostic).into_owned();
                        answer.value = outcome.value.map(<[u8]>::to_vec);
                        return self.user.answered_ldap(&mut self.users, &answer).unwrap();
                    }
                    Reply::Reference | Reply::Intermediate => {}
                }
            }
            let read = stream.read(&mut chunk).unwrap();
            assert!(read > 0, "closed");
            bytes.extend_from_slice(&chunk[..read]);
        }
    }

    /// Follows the user's instructions up to the next request, opening and closing connections.
    fn ask(&mut self) -> Vec<u8> {
        loop {
            match self.next() {
                Do::Open { .. } => self.stream = Some(TcpStream::connect(self.responder.address).unwrap()),
                Do::Close { .. } => self.stream = None,
                Do::Ask { request, .. } => return request,
                Do::Begin(_) | Do::BeginPass(_) | Do::Wait(_) | Do::AwaitRow(_) | Do::End { .. } => {}
            }
        }
    }
}

const MIX: &str = "base = 'ou=people,o=x'
    data.n.range = [1, 9]
    [connection.main]
    bind = 'cn=admin,{base}'
    password = '{env.PASSWORD}'
    per = 3
    [[operation]]
    name = 'all'
    weight = 2
    step = [
      { search = '(&(cn={n})(sn=*x*))', attributes = ['cn'], scope = 'one', size_limit = 3, control.sort = 'cn' },
      { add = 'cn=a{n},{base}', entry = { objectClass = 'person', sn = ['{random:3}', 'y'] } },
      { modify = 'cn=a{n},{base}', change = [{ replace.sn = ['a'] }, { delete.description = [] }] },
      { modify_dn = 'cn=a{n},{base}', new_rdn = 'cn=b{n}', new_superior = 'o=x' },
      { repeat = 2, step = [{ compare = 'cn=b{n},o=x', entry = { sn = 'a' } }] },
      { delete = 'cn=b{n},o=x' },
    ]
    [[operation]]
    name = 'own'
    step = [{ password_modify = '', old_password = '{env.PASSWORD}' }, { refresh = 'cn={n},{base}', ttl = '5s' }]";

fn with_password(responder: &Responder, text: &str) -> Value {
    let mut config = config(responder.address, text);
    config["scenarios"][0]["env"] = json!({"PASSWORD": "pw"});
    config
}

#[test]
fn a_portable_user_sends_the_same_requests_as_a_lane_of_the_same_seed() {
    let people = people(Profile::Paper, 100);
    for text in [&lookups(5), &session(4, &[ADD, DELETE]), MIX] {
        let responder = Responder::right(&people);
        let config = with_password(&responder, text);
        let mut engine = harness::start(&config, Some(&people));
        engine.start_lanes("p", 1).unwrap();
        assert!(eventually(|| responder.seen.messages.lock().unwrap().len() >= 300));
        engine.stop(Duration::from_secs(5)).unwrap();
        let sent: Vec<_> = responder.seen.messages.lock().unwrap().clone();

        let mut client = Client::new(&config, &people, Responder::right(&people));
        let is_asked =
            |message: &&Vec<u8>| !matches!(Request::decode(message).unwrap().operation, Operation::Unbind);
        for (number, expected) in sent.iter().filter(is_asked).take(250).enumerate() {
            let asked = client.ask();
            assert_eq!(&asked, expected, "request {number}");
            client.send(&asked);
        }
    }
}

#[test]
fn pauses_after_failed_starts_double_up_to_half_a_minute() {
    let people = people(Profile::Paper, 1);
    let responder = Responder::lookups(&people, responder::Do::Code(ResultCode::SUCCESS));
    let text = "[start]\nstep = [{ compare = 'cn=a', entry = { sn = 'a' } }, { search = '(uid=a)', capture.dn = 'dn' }]\n\
                [[operation]]\ndelete = '{dn}'";
    let mut client = Client::new(&config(responder.address, text), &people, responder);
    let mut pauses_s = Vec::new();
    while pauses_s.len() < 7 {
        match client.next() {
            Do::Open { .. } => client.stream = Some(TcpStream::connect(client.responder.address).unwrap()),
            Do::Ask { request, .. } => drop(client.send(&request)),
            Do::Wait(pause) => pauses_s.push(pause.as_secs()),
            _ => {}
        }
    }
    assert_eq!(pauses_s, [1, 2, 4, 8, 16, 30, 30]);
}

#[test]
fn a_wrong_person_is_a_wrong_answer_and_the_sequence_is_recorded_as_failed() {
    let people = people(Profile::Paper, 10);
    let wrong = Responder::lookups(&people, responder::Do::SomebodyElse);
    let config = config(wrong.address, &lookups(1));
    let mut client = Client::new(&config, &people, wrong);
    let row = |step: &str| ("p".into(), step.into());
    assert_eq!(client.next(), Do::BeginPass(None));
    assert_eq!(client.next(), Do::Open { row: row("connect"), connection: 0 });
    client.stream = Some(TcpStream::connect(client.responder.address).unwrap());
    let bind = client.ask();
    assert_eq!(client.send(&bind), Judged { failure: None, answered: true, shown: None });
    let lookup = client.ask();
    let judged = client.send(&lookup);
    assert_eq!((judged.failure.as_deref(), judged.answered), (Some("wrong-answer"), true));
    assert!(judged.shown.is_some_and(|shown| !shown.is_empty()));
    assert_eq!(client.next(), Do::Close { row: Some(row("unbind")), connection: 0 });
    let end = Do::End { row: row("sequence"), failure: Some("wrong-answer".into()), answered: true };
    assert_eq!(client.next(), end);
    assert_eq!(client.next(), Do::BeginPass(None));
}

#[test]
fn a_stopped_portable_user_begins_no_further_operation_on_its_connection() {
    let people = people(Profile::Paper, 10);
    let responder = Responder::right(&people);
    let config = config(responder.address, &lookups(100));
    let mut client = Client::new(&config, &people, responder);
    for _ in 0..3 {
        let asked = client.ask();
        client.user.stop();
        client.send(&asked);
        if client.user.next(&mut client.users).unwrap().is_none() {
            return;
        }
    }
    panic!("it goes on");
}

#[test]
fn a_user_without_a_row_stops_after_its_begun_operation() {
    let people = people(Profile::Paper, 10);
    let responder = Responder::right(&people);
    let config = config(
        responder.address,
        "[data.n]\nrange = [1, 4]\ndeal = 'once'\n[[operation]]\nname = 'o'\nstep = [
           { repeat = 3, step = [{ delete = 'cn={n},o=x' }] }, { search = '(a=b)', base = 'o=x' }]",
    );
    let mut client = Client::new(&config, &people, responder);
    let mut did = Vec::new();
    while let Some(next) = client.user.next(&mut client.users).unwrap() {
        match next {
            Do::Open { .. } => client.stream = Some(TcpStream::connect(client.responder.address).unwrap()),
            Do::Ask { row, request, .. } => {
                did.push(row.1.to_string());
                client.send(&request);
            }
            Do::End { answered, .. } => did.push(format!("end {answered}")),
            _ => {}
        }
    }
    let expected = "delete delete delete search end true delete search end true";
    assert_eq!(did.join(" "), expected);
}

#[test]
fn a_failed_connect_or_bind_of_a_portable_user_ends_its_sequence() {
    let people = people(Profile::Paper, 10);
    let refusing = Responder::start(&people, |tag, _| match tag {
        op::BIND_REQUEST => responder::Do::Code(ResultCode::INVALID_CREDENTIALS),
        _ => responder::Do::Right,
    });
    let config = config(refusing.address, &lookups(1));
    let mut client = Client::new(&config, &people, refusing);
    let row = ("p".into(), "sequence".into());
    assert_eq!(client.next(), Do::BeginPass(None));
    assert!(matches!(client.next(), Do::Open { .. }));
    let judged = client.user.lost(&mut client.users, "connect-refused").unwrap();
    assert_eq!((judged.answered, judged.shown), (false, None));
    let failure = Some("connect-refused".to_owned());
    assert_eq!(client.next(), Do::End { row, failure, answered: false });
    assert!(matches!(client.next(), Do::Close { .. }));
    assert_eq!(client.next(), Do::Wait(Duration::from_millis(10)));
    let bind = client.ask();
    let judged = client.send(&bind);
    assert_eq!((judged.failure.as_deref(), judged.answered), (Some("result:invalidCredentials"), true));
    assert!(matches!(client.next(), Do::End { answered: false, .. }));
}

#[test]
fn the_pause_grows_with_each_lost_connection() {
    let people = people(Profile::Paper, 10);
    let responder = Responder::right(&people);
    let config = config(responder.address, &lookups(1));
    let mut client = Client::new(&config, &people, responder);
    for pause_ms in [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000] {
        while !matches!(client.next(), Do::Open { .. }) {}
        client.user.lost(&mut client.users, "connect-refused").unwrap();
        let pause = loop {
            if let Do::Wait(pause) = client.next() {
                break pause;
            }
        };
        assert_eq!(pause, Duration::from_millis(pause_ms));
    }
}

#[test]
fn a_dropped_user_returns_its_row_unless_a_change_may_still_follow() {
    let people = people(Profile::Paper, 10);
    let text = "[data.n]\nrange = [1, 3]\ndeal = 'exclusive'\n[[operation]]\nname = 'own'\nstep = [
        { modify = 'cn={n},o=x', change.replace.sn = 'a' }, { compare = 'cn={n},o=x', entry = { sn = 'a' } }]";
    for (is_answered, expected) in [(true, 10), (false, 3)] {
        let responder = Responder::right(&people);
        let mut client = Client::new(&config(responder.address, text), &people, responder);
        let mut asked = 0;
        for _ in 0..10 {
            client.user = client.users.user("p").unwrap();
            while let Some(next) = client.user.next(&mut client.users).unwrap() {
                match next {
                    Do::Open { .. } => {
                        client.stream = Some(TcpStream::connect(client.responder.address).unwrap());
                    }
                    Do::Ask { request, .. } => {
                        asked += 1;
                        if is_answered {
                            client.send(&request);
                        }
                        break;
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(asked, expected, "{is_answered}");
    }
}

#[test]
fn the_refusal_of_a_feature_without_portable_support_names_the_feature() {
    let people = people(Profile::Paper, 10);
    let responder = Responder::right(&people);
    let with = |text: &str| config(responder.address, text);
    let mut open = with_password(&responder, MIX);
    open["schedule"] = json!({"kind": "open", "rate": 10.0});
    let mut started =
        with("connection.main.tls = 'starttls'\n[[operation]]\nsearch = '(cn=a)'\nbase = 'o=x'");
    started["target"]["choices"] = json!({"trust": {"insecure": true}});
    for (config, expected) in [
        (open, "p:1:1: a portable client does not do schedules of a rate"),
        (started, "p:1:1: a portable client does not do tls of a connection"),
        (
            with("[[operation]]\nsearch = '(cn=a)'\nbase = 'o=x'\npage_size = 9"),
            "p:1:1: a portable client does not do page_size",
        ),
        (
            with("[[operation]]\ndelete = 'cn=a,o=x'\nexpect.control = '1.2.3'"),
            "p:1:1: a portable client does not do expect.control",
        ),
    ] {
        let problem = try_users(&config, &people, &Tables::new()).err().expect(expected);
        assert!(problem.contains(expected), "{problem}");
    }
}

/// The caller is told to wait now and then, so that the caller can be interrupted.
#[test]
fn a_repeat_that_sends_nothing_returns_to_its_caller() {
    let people = people(Profile::Paper, 1);
    let text = "[[operation]]\nname = \"a\"\n[[operation.step]]\nrepeat = 2147483648\n\
        step = [ { repeat = 2147483648, step = [ { think = \"0s\" } ] } ]\n[[operation.step]]\n\
        search = \"(cn=x)\"\n";
    let config = config("127.0.0.1:1".parse().unwrap(), text);
    let mut users = try_users(&config, &people, &Tables::new()).unwrap();
    let mut user = users.user("p").unwrap();
    let waits = (0..5).filter(|_| matches!(user.next(&mut users).unwrap(), Some(Do::Wait(_))));
    assert!(waits.count() >= 3);
    user.stop();
    assert_eq!(user.next(&mut users).unwrap(), None);
}

#[test]
fn a_stopping_user_completes_a_sequence_that_only_has_to_close_connections() {
    let people = people(Profile::Paper, 10);
    let responder = Responder::right(&people);
    let config = config(responder.address, &lookups(1));
    let mut client = Client::new(&config, &people, responder);
    for _ in ["bind", "lookup"] {
        let asked = client.ask();
        client.send(&asked);
    }
    client.user.stop();
    let row = |step: &str| ("p".into(), step.into());
    assert_eq!(client.next(), Do::Close { row: Some(row("unbind")), connection: 0 });
    assert_eq!(client.next(), Do::End { row: row("sequence"), failure: None, answered: true });
    assert_eq!(client.user.next(&mut client.users).unwrap(), None);
}
