//! Searches that take long, one or many: everybody else is served meanwhile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is a test")]

mod common;

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use common::{Client, Search, filter, lookup, serve};
use directory::Running;
use directory::limits::FILTER_TERMS;
use wire::ldap::filter::{write_equality, write_or};

const PEOPLE: usize = 3_000;
/// Names of each, for a search to have work.
const NAMES: usize = 10;
const LOOKUPS: usize = 24;
const SEARCHES: i32 = 90;

fn people() -> Running {
    let directory = serve("{}");
    let mut client = Client::connect(directory.addr());
    for i in 0..PEOPLE {
        let name = format!("Person {i}");
        let more: Vec<String> = (0..NAMES).map(|n| format!("one of the names of {name}: {n}")).collect();
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        let attributes: &[(&str, &[&str])] =
            &[("objectClass", &["RTPerson"]), ("cn", &[&name]), ("givenName", &more)];
        client.add(&format!("cn={name},ou=Dynamic,o=Intranet"), attributes);
    }
    directory
}

/// A filter of as many terms, each of which is held against everybody: no index knows the values of all
/// kinds of names, and nobody has this one.
fn nobody(terms: usize) -> Vec<u8> {
    filter(|out| write_or(out, |out| (1..terms).for_each(|_| write_equality(out, b"name", b"nobody"))))
}

fn look_up(client: &mut Client) {
    let search = Search { filter: lookup("Person 5"), ..Search::default() };
    assert_eq!(client.search(&search).0.len(), 1);
}

#[test]
fn a_search_of_thousands_of_terms_leaves_the_others_their_turns() {
    let directory = people();
    let mut costly = Client::connect(directory.addr());
    let mut out = Vec::new();
    Search { filter: nobody(FILTER_TERMS), ..Search::default() }.write(&mut out, 1);
    costly.send(&out);
    let mut other = Client::connect(directory.addr());
    (0..LOOKUPS).for_each(|_| look_up(&mut other));
    costly.stream.set_nonblocking(true).unwrap();
    let ended = costly.stream.peek(&mut [0]);
    let waits = ended.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    assert!(waits, "the search was over before {LOOKUPS} lookups: {ended:?}");
}

#[test]
fn costly_searches_sent_at_once_are_not_all_begun_in_one_turn() {
    let directory = people();
    let mut client = Client::connect(directory.addr());
    let before = directory.stats().searches;
    let search = Search { filter: nobody(32), ..Search::default() };
    let mut out = Vec::new();
    (1..=SEARCHES).for_each(|id| search.write(&mut out, id));
    assert!(out.len() < 64 << 10, "{} bytes are more than one read", out.len());
    client.send(&out);
    // Counts are published when a turn ends.
    let give_up = Instant::now() + Duration::from_secs(30);
    let begun = loop {
        match directory.stats().searches - before {
            0 => assert!(Instant::now() < give_up, "nothing was begun"),
            begun => break begun,
        }
    };
    assert!(begun < SEARCHES as u64 / 2, "{begun} searches in one turn");
}
