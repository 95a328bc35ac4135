//! Portable users, whose requests another program sends: their requests and judgements equal the requests and
//! judgements of lanes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use load::portable::{DirectoryUser, DirectoryUsers, Do, Judged, LdapAnswer};
use people::Profile;
use serde_json::json;
use wire::ldap::frame::message_length;
use wire::ldap::{Operation, Reply, Request, Response, ResultCode, op};

use super::harness::{ADD, DELETE, lookups, people, session};
use super::responder::{self, Responder};
use crate::job::Job;

fn try_users(job: &Job) -> Result<DirectoryUsers, String> {
    let config = serde_json::from_value(job.config.clone()).unwrap();
    DirectoryUsers::new_ldap(config, job.people.clone(), None, &job.tables).map_err(|error| error.to_string())
}

/// A portable user with its shared data, and a connection to the responder.
struct Client {
    users: DirectoryUsers,
    user: DirectoryUser,
    stream: Option<TcpStream>,
    responder: Responder,
}

impl Client {
    fn new(job: &Job, responder: Responder) -> Self {
        let users = try_users(job).unwrap_or_else(|problem| panic!("{problem}"));
        let user = users.user("mix").unwrap();
        Self { users, user, stream: None, responder }
    }

    /// The user's next instruction, which is followed if it opens or closes a connection; `None` if the user has
    /// stopped.
    fn step(&mut self) -> Option<Do> {
        let next = self.user.next(&mut self.users).unwrap();
        match next {
            Some(Do::Open { .. }) => {
                self.stream = Some(TcpStream::connect(self.responder.address()).unwrap());
            }
            Some(Do::Close { .. }) => self.stream = None,
            _ => {}
        }
        next
    }

    fn next(&mut self) -> Do {
        self.step().expect("it has not stopped")
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

    /// Follows the user's instructions up to the next request.
    fn ask(&mut self) -> Vec<u8> {
        loop {
            if let Do::Ask { request, .. } = self.next() {
                return request;
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

fn with_password(responder: &Responder, text: &str) -> Job {
    responder.job(text).scenario(json!({"env": {"PASSWORD": "pw"}}))
}

#[test]
fn a_portable_user_sends_the_same_requests_as_a_lane_of_the_same_seed() {
    let people = people(Profile::Paper, 100);
    for text in [&lookups(5), &session(4, &[ADD, DELETE]), MIX] {
        let responder = Responder::right(&people);
        let job = with_password(&responder, text);
        job.run_until(1, || responder.seen.messages.lock().unwrap().len() >= 300);
        let sent: Vec<_> = responder.seen.messages.lock().unwrap().clone();

        let mut client = Client::new(&job, Responder::right(&people));
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
    let success = responder::Do::Code(ResultCode::SUCCESS);
    let responder = Responder::lookups(&people(Profile::Paper, 1), success);
    let text = "[start]\nstep = [{ compare = 'cn=a', entry = { sn = 'a' } }, { search = '(uid=a)', capture.dn = 'dn' }]\n\
                [[operation]]\ndelete = '{dn}'";
    let mut client = Client::new(&responder.job(text), responder);
    let mut pauses_s = Vec::new();
    while pauses_s.len() < 7 {
        match client.next() {
            Do::Ask { request, .. } => drop(client.send(&request)),
            Do::Wait(pause) => pauses_s.push(pause.as_secs()),
            _ => {}
        }
    }
    assert_eq!(pauses_s, [1, 2, 4, 8, 16, 30, 30]);
}

#[test]
fn a_wrong_person_is_a_wrong_answer_and_the_sequence_is_recorded_as_failed() {
    let wrong = Responder::lookups(&people(Profile::Paper, 10), responder::Do::SomebodyElse);
    let mut client = Client::new(&wrong.job(&lookups(1)), wrong);
    let row = |step: &str| ("mix".into(), step.into());
    assert_eq!(client.next(), Do::BeginPass(None));
    assert_eq!(client.next(), Do::Open { row: row("connect"), connection: 0 });
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
    let responder = Responder::right(&people(Profile::Paper, 10));
    let mut client = Client::new(&responder.job(&lookups(100)), responder);
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
    let responder = Responder::right(&people(Profile::Paper, 10));
    let job = responder.job(
        "[data.n]\nrange = [1, 4]\ndeal = 'once'\n[[operation]]\nname = 'o'\nstep = [
           { repeat = 3, step = [{ delete = 'cn={n},o=x' }] }, { search = '(a=b)', base = 'o=x' }]",
    );
    let mut client = Client::new(&job, responder);
    let mut did = Vec::new();
    while let Some(next) = client.step() {
        match next {
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
    let refusal = responder::Do::Code(ResultCode::INVALID_CREDENTIALS);
    let refusing = Responder::only(&people(Profile::Paper, 10), op::BIND_REQUEST, refusal);
    let mut client = Client::new(&refusing.job(&lookups(1)), refusing);
    let row = ("mix".into(), "sequence".into());
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
    let responder = Responder::right(&people(Profile::Paper, 10));
    let mut client = Client::new(&responder.job(&lookups(1)), responder);
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
        let mut client = Client::new(&responder.job(text), responder);
        let mut asked = 0;
        for _ in 0..10 {
            client.user = client.users.user("mix").unwrap();
            while let Some(next) = client.step() {
                if let Do::Ask { request, .. } = next {
                    asked += 1;
                    if is_answered {
                        client.send(&request);
                    }
                    break;
                }
            }
        }
        assert_eq!(asked, expected, "{is_answered}");
    }
}

#[test]
fn the_refusal_of_a_feature_without_portable_support_names_the_feature() {
    let responder = Responder::right(&people(Profile::Paper, 10));
    let with = |text: &str| responder.job(text);
    let started = with("connection.main.tls = 'starttls'\n[[operation]]\nsearch = '(cn=a)'\nbase = 'o=x'");
    let started = started.target(json!({"choices": {"trust": {"insecure": true}}}));
    for (job, expected) in [
        (
            with_password(&responder, MIX).rate(10.0),
            "mix:1:1: a portable client does not do schedules of a rate",
        ),
        (started, "mix:1:1: a portable client does not do tls of a connection"),
        (
            with("[[operation]]\nsearch = '(cn=a)'\nbase = 'o=x'\npage_size = 9"),
            "mix:1:1: a portable client does not do page_size",
        ),
        (
            with("[[operation]]\ndelete = 'cn=a,o=x'\nexpect.control = '1.2.3'"),
            "mix:1:1: a portable client does not do expect.control",
        ),
    ] {
        let problem = try_users(&job).err().expect(expected);
        assert!(problem.contains(expected), "{problem}");
    }
}

/// The caller is told to wait now and then, so that the caller can be interrupted.
#[test]
fn a_repeat_that_sends_nothing_returns_to_its_caller() {
    let text = "[[operation]]\nname = \"a\"\n[[operation.step]]\nrepeat = 2147483648\n\
        step = [ { repeat = 2147483648, step = [ { think = \"0s\" } ] } ]\n[[operation.step]]\n\
        search = \"(cn=x)\"\n";
    let mut users = try_users(&Job::directory("127.0.0.1:1".parse().unwrap(), text)).unwrap();
    let mut user = users.user("mix").unwrap();
    let waits = (0..5).filter(|_| matches!(user.next(&mut users).unwrap(), Some(Do::Wait(_))));
    assert!(waits.count() >= 3);
    user.stop();
    assert_eq!(user.next(&mut users).unwrap(), None);
}

#[test]
fn a_stopping_user_completes_a_sequence_that_only_has_to_close_connections() {
    let responder = Responder::right(&people(Profile::Paper, 10));
    let mut client = Client::new(&responder.job(&lookups(1)), responder);
    for _ in ["bind", "lookup"] {
        let asked = client.ask();
        client.send(&asked);
    }
    client.user.stop();
    let row = |step: &str| ("mix".into(), step.into());
    assert_eq!(client.next(), Do::Close { row: Some(row("unbind")), connection: 0 });
    assert_eq!(client.next(), Do::End { row: row("sequence"), failure: None, answered: true });
    assert_eq!(client.user.next(&mut client.users).unwrap(), None);
}
