//! Costly searches: other clients are served meanwhile, and requests behind them wait in the kernel.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Client, Search, assert_idle, eventually, filter, lookup, serve};
use crate::own_process::in_own_process;
use directory::Running;
use directory::limits::FILTER_TERMS;
use wire::ldap::filter::{write_equality, write_or};

const LOOKUPS: usize = 24;
const SEARCHES: i32 = 90;
/// Lengthens the search requests without making their evaluation more expensive.
static PADDING: [u8; 20_000] = [b'x'; 20_000];
/// The most bytes of requests that the server may have read without beginning the requests: one read, one
/// message, and the delay of the counts.
const BACKLOG: u64 = 640 << 10;

/// 3,000 people with enough names to keep a search busy.
fn people_of_many_names() -> (Running, Client) {
    let (directory, mut client) = serve("{}");
    for i in 0..3_000 {
        let name = format!("Person {i}");
        let more: Vec<String> = (0..10).map(|n| format!("one of the names of {name}: {n}")).collect();
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        client.add_person_with(&name, &[("givenName", &more)]);
    }
    (directory, client)
}

/// A filter of `terms` terms that match nobody. The search evaluates each of them on all people, because
/// there is no index on `name` with its subtypes.
fn matching_none(terms: usize) -> Vec<u8> {
    filter(|out| write_or(out, |out| (1..terms).for_each(|_| write_equality(out, b"name", b"nobody"))))
}

/// Requests for this many searches with a filter.
fn searches(count: i32, filter: &[u8]) -> Vec<u8> {
    let search = Search { filter: filter.to_vec(), ..Search::default() };
    (1..=count).flat_map(|id| search.message(id)).collect()
}

#[test]
fn a_search_of_thousands_of_terms_does_not_delay_other_clients() {
    let (directory, mut costly) = people_of_many_names();
    costly.send(&searches(1, &matching_none(FILTER_TERMS)));
    let mut other = Client::connect(directory.addr());
    for _ in 0..LOOKUPS {
        let search = Search { filter: lookup("Person 5"), ..Search::default() };
        assert_eq!(other.search(&search).0.len(), 1);
    }
    assert!(!costly.has_answer(), "the search was over before {LOOKUPS} lookups");
}

#[test]
fn costly_searches_sent_together_do_not_all_begin_in_one_turn() {
    let (directory, _) = people_of_many_names();
    let out = searches(SEARCHES, &matching_none(32));
    assert!(out.len() < 64 << 10, "{} bytes are more than one read", out.len());
    // This thread may be scheduled late, but not in all ten tries.
    let few = (0..10).any(|_| begun_at_first(&directory, &out) < SEARCHES as u64 / 2);
    assert!(few, "half of {SEARCHES} searches and more were begun in one turn, each time");
}

/// Returns how many searches the server has begun when it first publishes a count above zero.
fn begun_at_first(directory: &Running, searches: &[u8]) -> u64 {
    let before = directory.stats();
    let mut client = Client::connect(directory.addr());
    client.send(searches);
    // Threads publish their counts at the end of a turn.
    let give_up = Instant::now() + Duration::from_secs(30);
    let begun = loop {
        match directory.stats().served.searches - before.served.searches {
            0 => assert!(Instant::now() < give_up, "nothing was begun"),
            begun => break begun,
        }
    };
    // The searches end with their connection.
    drop(client);
    assert!(eventually(|| directory.stats().traffic.disconnections > before.traffic.disconnections));
    begun
}

/// Afterwards the server is idle.
#[test]
fn pending_requests_of_a_fast_client_stay_in_the_kernel_without_using_cpu() {
    if in_own_process(pending_requests_of_a_fast_client_stay_in_the_kernel_without_using_cpu) {
        return;
    }
    let (directory, mut client) = people_of_many_names();
    let costly = filter(|out| {
        write_or(out, |out| {
            out.extend(matching_none(32));
            write_equality(out, b"name", &PADDING);
        });
    });
    let out = searches(SEARCHES, &costly);
    let request_bytes = out.len() as u64 / SEARCHES as u64;
    let before = directory.stats();
    let mut stream = client.stream.try_clone().unwrap();
    let sender = thread::spawn(move || stream.write_all(&out).unwrap());
    let give_up = Instant::now() + Duration::from_secs(60);
    loop {
        // `read` is taken first, so searches that begin in between only make the backlog look shorter.
        let read = directory.stats().traffic.bytes_in - before.traffic.bytes_in;
        let begun = directory.stats().served.searches - before.served.searches;
        let backlog = read.saturating_sub(begun * request_bytes);
        assert!(backlog < BACKLOG, "{backlog} bytes wait with {begun} searches begun");
        if begun == SEARCHES as u64 {
            break;
        }
        assert!(Instant::now() < give_up, "{begun} searches were begun");
    }
    sender.join().unwrap();
    (0..SEARCHES).for_each(|_| drop(client.done()));
    // The last of several requests in one read can use up the turn.
    client.send(&searches(3, &matching_none(32)));
    (0..3).for_each(|_| drop(client.done()));
    assert_idle();
}
