//! Answers in any pieces, and bytes that are not answers.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::target::Share;
use super::*;
use crate::choose::keys::Choice;
use crate::protocol::{Encoded, Protocol, Received};
use crate::record::failure::Failure;

fn target() -> Target {
    serde_json::from_value(json!({"host": "127.0.0.1", "port": 80, "size": 10})).unwrap()
}

fn http() -> Http {
    let shared = Shared {
        visitors: None,
        files: None,
        target: Arc::new(target()),
        verify: true,
        threads: 1,
        scripts: Vec::new(),
    };
    Http::new(shared, Keys::new(Choice::Uniform, 10, 1), None, 1, 0)
}

fn page() -> Request {
    let spec = serde_json::from_value(json!({
        "path": "/?u={id}",
        "expect": {"status": 200, "length": 20, "identity": {"before": "u='", "value": "{id}", "until": "'"}},
    }));
    Request::Described(Box::new(Described::new(0, &spec.unwrap(), &target(), false).unwrap()))
}

/// Feeds an answer piece by piece, as a lane does, and returns what came of it.
fn feed(http: &mut Http, request: &Request, lane: &mut LaneState, answer: &[u8], cuts: &[usize]) -> Received {
    let (mut kept, mut at) = (Vec::new(), 0);
    let mut ends: Vec<_> = cuts.iter().map(|cut| cut % (answer.len() + 1)).chain([answer.len()]).collect();
    ends.sort_unstable();
    for end in ends {
        if end == at {
            continue;
        }
        kept.extend_from_slice(&answer[at..end]);
        at = end;
        match http.receive(request, lane, &kept) {
            Received::Partial { consumed } => drop(kept.drain(..consumed)),
            over => return over,
        }
    }
    http.ended(request, lane)
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
    fn an_answer_is_the_same_in_any_pieces(
        framing in 0usize..4,
        cuts in prop::collection::vec(any::<usize>(), 0..8),
        other: bool,
    ) {
        let (mut http, request, mut lane) = (http(), page(), LaneState::default());
        for _ in 0..3 {
            http.connected(&mut lane);
            let mut out = Vec::new();
            prop_assert_eq!(http.encode(&request, &mut lane, &mut out), Encoded::Send);
            let id = lane.asked.id;
            let asked = format!("GET /?u={id} HTTP/1.1\r\n");
            prop_assert!(out.starts_with(asked.as_bytes()));
            let answer = answer_of(if other { id + 1 } else { id }, framing);
            let received = feed(&mut http, &request, &mut lane, &answer, &cuts);
            let Received::Done { failure, .. } = received else { panic!("{received:?}") };
            prop_assert_eq!(failure, other.then_some(Failure::Leak));
            prop_assert_eq!(http.keeps_connection(&lane), framing != 2);
        }
    }

    #[test]
    fn an_answer_cut_short_is_never_right(framing in 0usize..2, missing in 1usize..60) {
        let (mut http, request, mut lane) = (http(), page(), LaneState::default());
        http.connected(&mut lane);
        http.encode(&request, &mut lane, &mut Vec::new());
        let answer = answer_of(lane.asked.id, framing);
        let left = answer.len().saturating_sub(missing);
        let received = feed(&mut http, &request, &mut lane, &answer[..left], &[]);
        prop_assert!(
            matches!(received, Received::Broken(Failure::Closed | Failure::Truncated)),
            "{:?}", received
        );
    }

    #[test]
    fn any_bytes_are_survived(bytes: Vec<u8>, head: bool, cuts in prop::collection::vec(any::<usize>(), 0..4)) {
        let (mut http, request, mut lane) = (http(), page(), LaneState::default());
        http.connected(&mut lane);
        http.encode(&request, &mut lane, &mut Vec::new());
        let start: &[u8] = if head { b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" } else { b"" };
        feed(&mut http, &request, &mut lane, &[start, &bytes].concat(), &cuts);
    }
}

#[test]
fn a_failure_is_described_without_secrets_and_by_its_last_status() {
    let spec = json!({"path": "/s/{captured}?page={captured}&PHPSESSID=1&code=2&jwt=3&next=/a&u={id}"});
    let request = Described::new(0, &serde_json::from_value(spec).unwrap(), &target(), false).unwrap();
    let (mut http, mut lane) = (http(), LaneState::default());
    http.encode_request(&request, &mut lane, &mut Vec::new());
    (lane.captured, lane.status) = (b"k1".to_vec(), 404);
    let asked = format!("GET /s/...?page=...&PHPSESSID=...&code=...&jwt=...&next=/a&u={}", lane.asked.id);
    let early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n";
    for (answer, expected) in
        [(&early[..], ": 404 Not Found, expected 200"), (b"the body's end", ": 404, expected 200")]
    {
        assert_eq!(http.describe_request(&request, &lane, Some(answer)), format!("{asked}{expected}"));
    }
    assert_eq!(http.describe_request(&request, &lane, None), asked);
}

#[test]
fn shares_are_everybody_once_whatever_the_threads_of_each_engine() {
    let (engines, size) = ([1_u64, 2, 5], 1_000_u64);
    let mut updated_by = vec![0; size as usize];
    for (index, threads) in engines.into_iter().enumerate() {
        let share = Share { index: index as u64, of: engines.len() as u64 };
        for thread in 0..threads {
            let (first, stride) = share.of_thread(thread, threads);
            (first..size).step_by(stride as usize).for_each(|number| updated_by[number as usize] += 1);
        }
    }
    assert!(updated_by.iter().all(|&engines| engines == 1));
}
