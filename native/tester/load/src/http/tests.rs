//! Answers in any pieces, and bytes that are not answers.

use proptest::prelude::*;
use serde_json::json;

use super::request::Request;
use super::*;
use crate::fill::Tables;
use crate::program::{self, Compiled, Connects, Op, Program, Rules};
use crate::protocol::{Encoded, Protocol, Received};
use crate::record::failure::Failure;
use crate::scripted::{Lower, convert};

const PAGE: &str = "data.who.people = 'seeded'\n[[operation]]\nget = '/?u={who.id}'\n\
    expect = { length = 20, identity = { before = \"u='\", value = '{who.id}', until = \"'\" } }";

/// A lane of a site of ten people.
struct Lane {
    http: Http,
    state: LaneState,
    program: Program<Request>,
    pc: usize,
}

/// The program of a scenario for a site of ten people.
fn compiled(text: &str) -> (Compiled<Request>, Shared) {
    let config = json!({
        "target": {"host": "127.0.0.1", "port": 80, "size": 10},
        "scenarios": [{"name": "p", "text": text}],
    });
    let config: HttpConfig = serde_json::from_value(config).unwrap();
    let mut shared = Shared::new(&config, None).unwrap();
    let (spec, tables) = (&config.scenarios[0], Tables::new());
    let (program, script) = convert(&shared.requests(), spec, 0, &tables, config.keys, 1).unwrap();
    shared.scripts = vec![script];
    let endpoint = Requests::endpoint_of;
    let rules = Rules { open: false, connects: Connects::WhenDown, endpoint, phases: false };
    let compiled = program::compile(vec![program], rules).unwrap();
    (compiled, shared)
}

impl Lane {
    fn new(text: &str) -> Self {
        let (mut compiled, shared) = compiled(text);
        let program = compiled.programs.remove(0);
        let http = Http::new(shared, None, 1, 0);
        Self { http, state: LaneState::default(), pc: program.ops.len() - 1, program }
    }

    /// Goes on to the next request over a new connection, and returns the request.
    fn ask(&mut self) -> String {
        self.http.connected(&mut self.state);
        loop {
            self.pc = (self.pc + 1) % self.program.ops.len();
            let mut out = Vec::new();
            match &self.program.ops[self.pc] {
                Op::Prepare(preparation) => {
                    assert_eq!(self.http.prepare(preparation, &mut self.state), Encoded::Skip);
                }
                Op::Exchange { request, .. } => {
                    assert_eq!(self.http.encode(request, &mut self.state, &mut out), Encoded::Send);
                    return String::from_utf8(out).unwrap();
                }
                _ => {}
            }
        }
    }

    /// Goes on to the next request for a page, and returns the number of the page's person.
    fn ask_page(&mut self) -> u64 {
        let request = self.ask();
        let user_and_iteration = request.strip_prefix("GET /?u=").unwrap().split(' ').next().unwrap();
        user_and_iteration.parse().unwrap()
    }

    /// Feeds an answer piece by piece, as a lane does, and returns the result.
    fn feed(&mut self, answer: &[u8], cuts: &[usize]) -> Received {
        let Self { http, state, program, pc } = self;
        let (_, request) = program.request_at(*pc).unwrap();
        let (mut data, mut at) = (Vec::new(), 0);
        let mut ends: Vec<_> =
            cuts.iter().map(|cut| cut % (answer.len() + 1)).chain([answer.len()]).collect();
        ends.sort_unstable();
        for end in ends {
            if end == at {
                continue;
            }
            data.extend_from_slice(&answer[at..end]);
            at = end;
            match http.receive(request, state, &data) {
                Received::Partial { consumed } => drop(data.drain(..consumed)),
                over => return over,
            }
        }
        http.ended(request, state)
    }
}

fn answer_of(id: u64, framing: usize) -> Vec<u8> {
    let body = format!("{:<20}", format!("<p u='{id}'>"));
    let (first, second) = body.split_at(7);
    let text = match framing {
        0 => format!("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{body}"),
        1 => format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{first}\r\nD\r\n{second}\r\n0\r\n\r\n"
        ),
        2 => format!("HTTP/1.0 200 OK\r\n\r\n{body}"),
        _ => format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{body}"),
    };
    text.into_bytes()
}

proptest! {
    #[test]
    fn an_http_answer_is_judged_the_same_however_it_is_split(
        framing in 0usize..4,
        cuts in prop::collection::vec(any::<usize>(), 0..8),
        other: bool,
    ) {
        let mut lane = Lane::new(PAGE);
        for _ in 0..3 {
            let id = lane.ask_page();
            let answer = answer_of(if other { id + 1 } else { id }, framing);
            let received = lane.feed(&answer, &cuts);
            let Received::Done { failure, .. } = received else { panic!("{received:?}") };
            prop_assert_eq!(failure, other.then_some(Failure::Leak));
            prop_assert_eq!(lane.http.keeps_connection(&lane.state), framing != 2);
        }
    }

    #[test]
    fn a_truncated_http_answer_is_never_right(framing in 0usize..2, missing in 1usize..60) {
        let mut lane = Lane::new(PAGE);
        let answer = answer_of(lane.ask_page(), framing);
        let left = answer.len().saturating_sub(missing);
        let received = lane.feed(&answer[..left], &[]);
        prop_assert!(
            matches!(received, Received::Broken(Failure::Closed | Failure::Truncated)),
            "{:?}", received
        );
    }

    #[test]
    fn no_bytes_make_the_http_reader_panic(bytes: Vec<u8>, head: bool, cuts in prop::collection::vec(any::<usize>(), 0..4)) {
        let mut lane = Lane::new(PAGE);
        lane.ask_page();
        let start: &[u8] = if head { b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" } else { b"" };
        lane.feed(&[start, &bytes].concat(), &cuts);
    }
}

#[test]
fn a_failure_is_described_with_its_final_status_and_without_secrets() {
    let mut lane = Lane::new(
        "data.who.people = 'seeded'\n[start]\nstep = [{ get = '/', capture.key = { header = 'X' } }]\n\
         [[operation]]\nget = '/s/{key}?page={key}&PHPSESSID=1&code=2&jwt=3&next=/a&u={who.id}'",
    );
    lane.ask();
    lane.feed(b"HTTP/1.1 200 OK\r\nX: k1\r\nContent-Length: 0\r\n\r\n", &[]);
    let (sent, rest) = (lane.ask(), "&next=/a&u=");
    assert!(sent.starts_with("GET /s/k1?page=k1&PHPSESSID=1&code=2&jwt=3"), "{sent}");
    let who = sent.split(rest).nth(1).unwrap().split(' ').next().unwrap();
    let asked = format!("GET /s/{{key}}?page={{key}}&PHPSESSID=...&code=...&jwt=...{rest}{who}");
    lane.state.status = 404;
    let early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n";
    for (answer, expected) in [
        (Some(&early[..]), ": 404 Not Found, expected 200"),
        (Some(b"the body's end"), ": 404, expected 200"),
        (None, ""),
    ] {
        let Lane { http, state, program, pc } = &mut lane;
        let (_, request) = program.request_at(*pc).unwrap();
        assert_eq!(http.describe(request, state, answer).to_string(), format!("{asked}{expected}"));
    }
}

#[test]
fn weights_beyond_32_bits_are_dealt_in_proportion() {
    let operation = |name: &str, weight: u64| {
        format!("[[operation]]\nname = '{name}'\nweight = {weight}\nget = '/{name}'\n")
    };
    let (compiled, _) = compiled(&(operation("a", 1 << 33) + &operation("b", 1 << 34)));
    assert_eq!(&compiled.decks[0][..], [1, 2]);
}
