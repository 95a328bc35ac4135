//! Lists of all people: answers of thousands of messages.

use std::sync::Arc;

use load::Counter;
use people::{Population, Profile};

use super::harness::{LOOKUP, RETRIEVE, Totals, people, session};
use super::responder::{Do, Responder};
use crate::job::Job;

fn listed(people: &Arc<Population>, what: Do, step: &str) -> Totals {
    let responder = Responder::lookups(people, what);
    let totals = responder.job(&session(3, &[step])).run(2, 200);
    assert!(totals.count("retrieve") >= 2, "{totals:?}");
    totals
}

#[test]
fn every_listed_entry_is_verified_even_if_it_arrives_in_pieces() {
    let people = people(Profile::Paper, 700);
    for what in [Do::Right, Do::RightButOtherwise, Do::InPieces(50_000)] {
        let totals = listed(&people, what, RETRIEVE);
        assert!(totals.kinds().is_empty(), "{what:?}: {totals:?}");
        let retrieve = totals.of("retrieve");
        assert!(retrieve.counter(Counter::BytesIn) / retrieve.count > 700 * 1_100, "{what:?}");
    }
}

#[test]
fn a_search_that_reaches_its_size_limit_is_a_right_answer() {
    let few = people(Profile::Small, 300);
    let totals = listed(&few, Do::Right, &RETRIEVE.replace("expect", "size_limit = 50, expect"));
    assert!(totals.kinds().is_empty(), "{totals:?}");
    // A listing that ends before its size limit must contain all people.
    let responder = Responder::right(&few);
    let more = Some(people(Profile::Small, 310));
    let totals = Job { people: more, ..responder.job(&session(3, &[RETRIEVE])) }.run(2, 100);
    assert_eq!(totals.kinds(), ["wrong-answer"]);
}

#[test]
fn a_message_larger_than_any_buffer_is_received_and_the_lane_continues() {
    // One entry of 300 kB among ordinary entries.
    let mut large = Vec::new();
    wire::ber::write_nested(&mut large, wire::ber::tag::SEQUENCE, |out| {
        wire::ldap::request::write_attribute(out, b"description", [&[b'x'; 300_000][..]]);
    });
    let responder = Responder::right(&people(Profile::Small, 5));
    responder.seen.added.lock().unwrap().insert(b"o=large".to_vec(), large);
    let search = "{ search = '(description=large)', base = 'o=large', expect.entries = 1 }";
    let totals = responder.job(&session(20, &[search, LOOKUP])).run(3, 300);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    let search = totals.of("search");
    assert!(search.counter(Counter::BytesIn) / search.count > 300_000);
    assert!(totals.count("lookup") > 10);
}

#[test]
fn a_search_must_return_the_expected_number_of_entries() {
    let responder = Responder::right(&people(Profile::Small, 40));
    for (expected, right) in [(40, true), (39, false), (41, false)] {
        let step =
            format!("{{ search = '(objectClass=*)', base = 'o=Intranet', expect.entries = {expected} }}");
        let totals = responder.job(&session(5, &[&step])).run(1, 50);
        assert_eq!(totals.kinds().is_empty(), right, "{expected}");
    }
}
