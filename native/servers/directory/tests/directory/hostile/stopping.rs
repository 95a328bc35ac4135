//! The server stops, whatever its clients have sent.

use std::time::{Duration, Instant};

use wire::ldap::filter::{Piece, write_substrings};

use crate::common::{Client, Search, filter};

#[test]
fn the_server_stops_while_hundreds_of_long_requests_wait() {
    let directory = crate::common::serve_alone("{}");
    let mut out = Vec::new();
    let piece = "\u{fdfa}".repeat(20_000);
    let filter = filter(|out| write_substrings(out, b"cn", [Piece::Any(piece.as_bytes())]));
    Search { filter, ..Search::default() }.write(&mut out, 1);
    let mut clients: Vec<Client> = (0..200).map(|_| Client::connect(directory.addr())).collect();
    clients.iter_mut().for_each(|client| client.send(&out));
    clients[0].done();
    let begun = Instant::now();
    drop(directory);
    assert!(begun.elapsed() < Duration::from_secs(2), "it took {:?} to end", begun.elapsed());
}
