//! Other clients are served while one or many costly searches are evaluated.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::common::{Client, Search, lookup, matching_none, people_of_many_names};
use directory::Running;
use directory::limits::FILTER_TERMS;

const LOOKUPS: usize = 24;
const SEARCHES: i32 = 90;

fn look_up(client: &mut Client) {
    let search = Search { filter: lookup("Person 5"), ..Search::default() };
    assert_eq!(client.search(&search).0.len(), 1);
}

#[test]
fn a_search_of_thousands_of_terms_does_not_delay_other_clients() {
    let directory = people_of_many_names();
    let mut costly = Client::connect(directory.addr());
    let mut out = Vec::new();
    Search { filter: matching_none(FILTER_TERMS), ..Search::default() }.write(&mut out, 1);
    costly.send(&out);
    let mut other = Client::connect(directory.addr());
    (0..LOOKUPS).for_each(|_| look_up(&mut other));
    costly.stream.set_nonblocking(true).unwrap();
    let ended = costly.stream.peek(&mut [0]);
    let waits = ended.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    assert!(waits, "the search was over before {LOOKUPS} lookups: {ended:?}");
}

#[test]
fn costly_searches_sent_together_do_not_all_begin_in_one_turn() {
    let directory = people_of_many_names();
    let search = Search { filter: matching_none(32), ..Search::default() };
    let mut out = Vec::new();
    (1..=SEARCHES).for_each(|id| search.write(&mut out, id));
    assert!(out.len() < 64 << 10, "{} bytes are more than one read", out.len());
    // This thread may be scheduled late, but not in all ten tries.
    let few = (0..10).any(|_| begun_at_first(&directory, &out) < SEARCHES as u64 / 2);
    assert!(few, "half of {SEARCHES} searches and more were begun in one turn, each time");
}

/// Returns how many searches the server has begun when it first publishes a count above zero.
fn begun_at_first(directory: &Running, searches: &[u8]) -> u64 {
    let before = directory.stats().served.searches;
    let mut client = Client::connect(directory.addr());
    client.send(searches);
    // Threads publish their counts at the end of a turn.
    let give_up = Instant::now() + Duration::from_secs(30);
    let begun = loop {
        match directory.stats().served.searches - before {
            0 => assert!(Instant::now() < give_up, "nothing was begun"),
            begun => break begun,
        }
    };
    (0..SEARCHES).for_each(|_| drop(client.done()));
    begun
}
