//! Long answers: slow readers, concurrent requests, and clients that abandon a search.

use std::io::Read;
use std::time::{Duration, Instant};

use crate::common::{
    Client, ENTRIES, Message, Search, crowd, eventually, filter, lookup, search_for_all, serve_large_entries,
    serve_people,
};
use wire::ldap::request::{write_abandon, write_bind};
use wire::ldap::{ResultCode, op};

#[test]
fn other_requests_are_answered_during_a_long_answer() {
    let directory = crowd("{}");
    let mut client = Client::connect(directory.addr());
    let search = Search { filter: lookup("Person 5"), ..Search::default() };
    client.send(&[search_for_all(1), search.message(2)].concat());
    let (mut before, mut finished) = (0, Vec::new());
    while finished.len() < 2 {
        match client.receive() {
            Message::Entry(entry) if entry.id == 1 && finished.is_empty() => before += 1,
            Message::Entry(_) => {}
            Message::Done(answer) => finished.push(answer.id),
        }
    }
    assert_eq!(finished, [2, 1]);
    assert!(before < ENTRIES / 2, "the lookup waited for {before} entries");
}

#[test]
fn an_abandoned_search_stops_without_an_answer() {
    let directory = crowd("{}");
    let mut client = Client::connect(directory.addr());
    client.send(&search_for_all(1));
    assert!(matches!(client.receive(), Message::Entry(_)));
    let mut out = Vec::new();
    write_abandon(&mut out, 2, 1);
    write_bind(&mut out, 3, 3, b"", b"");
    client.send(&out);
    let (entries, done) = client.collect();
    assert_eq!((done.id, done.tag), (3, op::BIND_RESPONSE));
    assert!(entries.len() < ENTRIES, "all {} entries came all the same", entries.len());
    assert!(eventually(|| directory.stats().served.abandons == 1));
    // Abandoning an unknown request is not answered either.
    client.send(&filter(|out| write_abandon(out, 4, 99)));
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
}

#[test]
fn two_long_answers_share_their_connection() {
    let directory = crowd("{}");
    let mut client = Client::connect(directory.addr());
    client.send(&[search_for_all(1), search_for_all(2)].concat());
    let (mut counts, mut at_first_end) = ([0; 3], None);
    let mut ends = 0;
    while ends < 2 {
        match client.receive() {
            Message::Entry(entry) => counts[entry.id as usize] += 1,
            Message::Done(_) => {
                ends += 1;
                at_first_end.get_or_insert(counts);
            }
        }
    }
    assert_eq!(counts, [0, ENTRIES + 1, ENTRIES + 1]);
    let [_, a, b] = at_first_end.unwrap();
    assert!(a.min(b) > ENTRIES / 2, "{a} and {b} when the first was done");
}

#[test]
fn a_client_that_never_reads_its_answer_is_cut_off() {
    let (directory, mut stalled) = serve_large_entries(r#"{"limits": {"stall_ms": 400}}"#);
    stalled.send(&search_for_all(1));
    std::thread::sleep(Duration::from_millis(1500));
    let mut rest = Vec::new();
    let ended = stalled.stream.read_to_end(&mut rest);
    assert!(rest.len() < 10_000_000 && (ended.is_err() || !rest.ends_with(&[4, 0, 4, 0])));
    assert!(eventually(|| directory.stats().traffic.aborted == 1));
}

#[test]
fn a_time_limit_ends_a_search_whose_client_does_not_read() {
    let servers_limit = r#"{"limits": {"search_s": 1}}"#;
    for (json, time_limit_s) in [("{}", 1), (servers_limit, 0), (servers_limit, 60)] {
        let (_directory, mut client) = serve_large_entries(json);
        client.send(&Search { time_limit_s, ..Search::default() }.message(1));
        std::thread::sleep(Duration::from_millis(1500));
        let (entries, done) = client.collect();
        let count = entries.len();
        assert_eq!(done.code, ResultCode::TIME_LIMIT_EXCEEDED, "{json} {time_limit_s}: {count} entries");
        assert!((1..=50).contains(&count), "{json} {time_limit_s}: {count} entries");
        assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
    }
}

#[test]
fn concurrent_searches_beyond_the_limit_are_answered_with_busy() {
    let (_directory, mut client) = serve_people(r#"{"limits": {"running_searches": 2}}"#, 2000);
    client.send(&[search_for_all(1), search_for_all(2), search_for_all(3)].concat());
    let mut ends = Vec::new();
    while ends.len() < 3 {
        if let Message::Done(answer) = client.receive() {
            ends.push((answer.id, answer.code));
        }
    }
    assert!(ends.contains(&(3, ResultCode::BUSY)), "{ends:?}");
    assert_eq!(ends.iter().filter(|(_, code)| *code == ResultCode::SUCCESS).count(), 2);
}

#[test]
fn a_server_that_stops_closes_every_connection() {
    let directory = crowd("{}");
    let mut clients: Vec<_> = (0..20).map(|_| Client::connect(directory.addr())).collect();
    for client in &mut clients {
        client.send(&search_for_all(1));
    }
    let begun = Instant::now();
    drop(directory);
    assert!(begun.elapsed() < Duration::from_secs(2));
    let mut rest = Vec::new();
    let _ = clients[0].stream.read_to_end(&mut rest);
}
