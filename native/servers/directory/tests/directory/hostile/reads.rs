//! Searches at the limits.

use std::time::{Duration, Instant};

use directory::limits::Limits;
use wire::ldap::ResultCode;
use wire::ldap::filter::{Piece, write_equality, write_or, write_substrings};

use super::{GROUP, add_group, members};
use crate::common::{Client, Search, filter, lookup, serve, used_ms};
use crate::own_process::in_own_process;

/// A filter of this many terms, each of which `write_term` writes.
fn either(terms: std::ops::Range<usize>, write_term: impl Fn(&mut Vec<u8>, usize)) -> Vec<u8> {
    filter(|out| write_or(out, |out| terms.for_each(|i| write_term(out, i))))
}

fn code_of(client: &mut Client, base: &str, filter: Vec<u8>) -> ResultCode {
    client.search(&Search { base, filter, ..Search::default() }).1.code
}

#[test]
fn an_attribute_requested_repeatedly_is_returned_once() {
    for profile in ["paper", "ils"] {
        let (_directory, mut client) = serve(&format!(r#"{{"profile": "{profile}"}}"#));
        add_group(&mut client, "description", &["x".repeat(50_000)]);
        for attributes in [["description"; 200].as_slice(), &["cn", "name", "CN", "commonName"]] {
            let filter = filter(|out| write_equality(out, b"cn", b"Group"));
            let (entries, done) = client.search(&Search { filter, attributes, ..Search::default() });
            assert_eq!((entries.len(), done.code), (1, ResultCode::SUCCESS));
            assert_eq!(entries[0].names().len(), 1, "{profile}: {:?}", entries[0].names());
        }
    }
}

#[test]
fn the_number_of_requested_attributes_is_limited() {
    let (_directory, mut client) = serve("{}");
    client.add_person("Ann 1");
    let most = Limits::default().requested_attributes;
    for (count, code) in [(most, ResultCode::SUCCESS), (most + 1, ResultCode::ADMIN_LIMIT_EXCEEDED)] {
        let names = vec!["name"; count];
        let search = Search { filter: lookup("Ann 1"), attributes: &names, ..Search::default() };
        assert_eq!(client.search(&search).1.code, code, "{count}");
    }
}

#[test]
fn an_empty_piece_of_a_substring_assertion_is_refused() {
    let (_directory, mut client) = serve("{}");
    let empty = filter(|out| write_substrings(out, b"cn", [Piece::Any(b"")]));
    assert_eq!(code_of(&mut client, "", empty), ResultCode::PROTOCOL_ERROR);
}

#[test]
fn thousands_of_terms_over_thousands_of_values_are_refused() {
    let (_directory, mut client) = serve("{}");
    add_group(&mut client, "uniqueMember", &members(2_000));
    let texts: Vec<String> = (0..2_000).map(|i| format!("text {i}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(client.modify(GROUP, &[(0, "description", &texts)]).code, ResultCode::SUCCESS);
    let substring = |out: &mut Vec<u8>, i: usize| {
        write_substrings(out, b"description", [Piece::Any(format!("x{i}").as_bytes())]);
    };
    let equality = |out: &mut Vec<u8>, i: usize| {
        write_equality(out, b"uniqueMember", format!("cn=X{i}").as_bytes());
    };
    assert_eq!(code_of(&mut client, GROUP, either(0..20, substring)), ResultCode::SUCCESS);
    let many = either(0..2_000, substring);
    assert_eq!(code_of(&mut client, GROUP, many), ResultCode::ADMIN_LIMIT_EXCEEDED);
    // An equality match on a large attribute uses a lookup, not a scan.
    assert_eq!(code_of(&mut client, GROUP, either(0..2_000, equality)), ResultCode::SUCCESS);
}

/// Values are normalised once for all terms (RFC 4518 section 2). A search of 438 bytes took 0.3 s if each
/// term normalised the values again.
#[test]
fn many_filter_terms_normalise_the_values_of_a_large_group_only_once() {
    if in_own_process(many_filter_terms_normalise_the_values_of_a_large_group_only_once) {
        return;
    }
    let hex = r"\ef\b7\ba".repeat(5);
    let names: Vec<String> = (0..1_600).map(|i| format!("cn={hex}{i}")).collect();
    let texts: Vec<String> = (0..1_600).map(|i| format!("{}{i}", "\u{fdfa}".repeat(5))).collect();
    let name = |out: &mut Vec<u8>, i: usize| write_equality(out, b"member", format!("cn=zz{i}").as_bytes());
    let text = |out: &mut Vec<u8>, i: usize| write_equality(out, b"description", format!("zz{i}").as_bytes());
    let part = |out: &mut Vec<u8>, i: usize| {
        write_substrings(out, b"description", [Piece::Any(format!("zz{i}").as_bytes())]);
    };
    type Write<'w> = &'w dyn Fn(&mut Vec<u8>, usize);
    let rows = [
        ("member", &names, &name as Write<'_>),
        ("description", &texts, &text),
        ("description", &texts, &part),
    ];
    for (attribute, values, write) in rows {
        let (_directory, mut client) = serve("{}");
        add_group(&mut client, attribute, values);
        let mut took_ms = |terms: usize| {
            let least = (0..3).map(|_| {
                let (filter, before) = (either(0..terms, write), used_ms());
                assert_eq!(code_of(&mut client, GROUP, filter), ResultCode::SUCCESS);
                used_ms() - before
            });
            least.min().unwrap()
        };
        let (one, twenty) = (took_ms(1), took_ms(20));
        assert!(twenty <= 4 * one + 4, "{attribute}: {twenty} ms for twenty terms, {one} ms for one");
    }
}

/// A search for the groups of twenty people (as clients with nested groups send it) is not refused.
#[test]
fn a_filter_with_twenty_names_is_answered_on_a_group_of_9000_members() {
    let (_directory, mut client) = serve("{}");
    client.add_person_with("Me", &[("userPassword", &["secret"])]);
    assert_eq!(client.bind("cn=Me,ou=Dynamic,o=Intranet", "secret").code, ResultCode::SUCCESS);
    add_group(&mut client, "member", &members(9_000));
    for (spelling, matches) in [("cn=Nobody", 0), ("CN = Member ", 1)] {
        let filter = either(8_990..9_010, |out, i| {
            write_equality(out, b"member", format!("{spelling}{i},OU=Dynamic,o=Intranet").as_bytes());
        });
        let (entries, done) = client.search(&Search { base: GROUP, filter, ..Search::default() });
        assert_eq!((entries.len(), done.code), (matches, ResultCode::SUCCESS), "{spelling}");
    }
}

#[test]
fn a_value_counts_towards_search_limits_with_its_normalised_length() {
    let (_directory, mut client) = serve("{}");
    // U+FDFA is compared as eighteen letters.
    add_group(&mut client, "description", &["\u{fdfa}".repeat(10_000)]);
    let term = |out: &mut Vec<u8>, _| write_substrings(out, b"description", [Piece::Any(b"x")]);
    assert_eq!(code_of(&mut client, GROUP, either(0..1, term)), ResultCode::SUCCESS);
    assert_eq!(code_of(&mut client, GROUP, either(0..100, term)), ResultCode::ADMIN_LIMIT_EXCEEDED);
}

#[test]
fn the_server_stops_while_hundreds_of_long_requests_wait() {
    let (directory, _) = serve("{}");
    let piece = "\u{fdfa}".repeat(20_000);
    let filter = filter(|out| write_substrings(out, b"cn", [Piece::Any(piece.as_bytes())]));
    let request = Search { filter, ..Search::default() }.message(1);
    let mut clients: Vec<Client> = (0..200).map(|_| Client::connect(directory.addr())).collect();
    clients.iter_mut().for_each(|client| client.send(&request));
    clients[0].done();
    let begun = Instant::now();
    drop(directory);
    assert!(begun.elapsed() < Duration::from_secs(2), "it took {:?} to end", begun.elapsed());
}
