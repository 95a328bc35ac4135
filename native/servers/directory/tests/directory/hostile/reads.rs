//! Searches.

use directory::limits::Limits;
use wire::ldap::ResultCode;
use wire::ldap::filter::{Extensible, Piece, write_equality, write_extensible, write_or, write_substrings};

use super::{GROUP, add_group, members};
use crate::common::{Client, Found, Search, filter, lookup};

fn search(client: &mut Client, filter: Vec<u8>) -> (Vec<Found>, ResultCode) {
    let (found, done) = client.search(&Search { filter, ..Search::default() });
    (found, done.code)
}

#[test]
fn an_attribute_that_is_asked_for_often_is_answered_once() {
    for profile in ["paper", "ils"] {
        let directory =
            directory::start(crate::common::config(&format!(r#"{{"profile": "{profile}"}}"#)), None).unwrap();
        let mut client = Client::connect(directory.addr());
        client
            .add("ou=Dynamic,o=Intranet", &[("objectClass", &["organizationalUnit"]), ("ou", &["Dynamic"])]);
        let long = "x".repeat(50_000);
        add_group(&mut client, "description", &[long]);
        for asked in [["description"; 200].as_slice(), &["cn", "name", "CN", "commonName"]] {
            let filter = filter(|out| write_equality(out, b"cn", b"Group"));
            let (found, done) = client.search(&Search { filter, attributes: asked, ..Search::default() });
            assert_eq!((found.len(), done.code), (1, ResultCode::SUCCESS));
            assert_eq!(found[0].names().len(), 1, "{profile}: {:?}", found[0].names());
        }
    }
}

#[test]
fn a_search_asks_for_a_number_of_attributes() {
    let directory = crate::common::serve("{}");
    let mut client = Client::connect(directory.addr());
    client.add_person("Ann 1");
    let most = Limits::default().requested_attributes;
    for (count, code) in [(most, ResultCode::SUCCESS), (most + 1, ResultCode::ADMIN_LIMIT_EXCEEDED)] {
        let asked = vec!["name"; count];
        let search = Search { filter: lookup("Ann 1"), attributes: &asked, ..Search::default() };
        assert_eq!(client.search(&search).1.code, code, "{count}");
    }
}

#[test]
fn a_filter_has_a_length() {
    let directory = crate::common::serve("{}");
    let mut client = Client::connect(directory.addr());
    let long = vec![b'x'; Limits::default().filter_bytes];
    let within = filter(|out| write_equality(out, b"cn", &long[20..]));
    assert_eq!(search(&mut client, within).1, ResultCode::SUCCESS);
    let beyond = filter(|out| write_equality(out, b"cn", &long));
    assert_eq!(search(&mut client, beyond).1, ResultCode::ADMIN_LIMIT_EXCEEDED);
}

#[test]
fn the_pieces_of_a_substring_assertion_are_terms() {
    let terms = Limits::default().filter_terms;
    let pieces = |count: usize| {
        filter(|out| write_substrings(out, b"cn", std::iter::repeat_n(Piece::Any(b"a"), count)))
    };
    let written = |separator: &str, count: usize| vec!["a"; count].join(separator).into_bytes();
    let extensible = |count: usize| {
        let value = written("*", count);
        let rule = Some(b"caseIgnoreSubstringsMatch".as_slice());
        filter(|out| {
            let attribute = Some(b"cn".as_slice());
            write_extensible(out, &Extensible { rule, attribute, value: &value, dn_attributes: false });
        })
    };
    let wild = |count: usize| filter(|out| write_equality(out, b"cn", &written("%", count)));
    let directory = crate::common::serve("{}");
    let mut client = Client::connect(directory.addr());
    for (count, code) in [(terms - 1, ResultCode::SUCCESS), (terms + 1, ResultCode::ADMIN_LIMIT_EXCEEDED)] {
        assert_eq!(search(&mut client, pieces(count)).1, code, "{count} pieces");
        assert_eq!(search(&mut client, extensible(count)).1, code, "{count} written pieces");
    }
    let ils = crate::common::serve(r#"{"profile": "ils"}"#);
    let mut client = Client::connect(ils.addr());
    for (count, code) in [(terms - 1, ResultCode::SUCCESS), (terms + 1, ResultCode::ADMIN_LIMIT_EXCEEDED)] {
        assert_eq!(search(&mut client, wild(count)).1, code, "{count} pieces between percent signs");
    }
}

#[test]
fn an_empty_piece_is_none() {
    let directory = crate::common::serve("{}");
    let mut client = Client::connect(directory.addr());
    let empty = filter(|out| write_substrings(out, b"cn", [Piece::Any(b"")]));
    assert_eq!(search(&mut client, empty).1, ResultCode::PROTOCOL_ERROR);
}

#[test]
fn thousands_of_terms_over_thousands_of_values_are_refused() {
    let directory = crate::common::serve("{}");
    let mut client = Client::connect(directory.addr());
    add_group(&mut client, "uniqueMember", &members(2_000));
    let terms = |count: usize| {
        filter(|out| {
            write_or(out, |out| {
                (0..count).for_each(|i| write_equality(out, b"uniqueMember", format!("cn=X{i}").as_bytes()));
            });
        })
    };
    let mut base = |count: usize| {
        let filter = terms(count);
        client.search(&Search { base: GROUP, filter, ..Search::default() }).1.code
    };
    assert_eq!(base(20), ResultCode::SUCCESS);
    assert_eq!(base(2_000), ResultCode::ADMIN_LIMIT_EXCEEDED);
}

#[test]
fn a_value_counts_as_long_as_what_is_compared() {
    let directory = crate::common::serve("{}");
    let mut client = Client::connect(directory.addr());
    // U+FDFA is compared as eighteen letters.
    add_group(&mut client, "description", &["\u{fdfa}".repeat(10_000)]);
    let mut with = |terms: usize| {
        let filter = filter(|out| {
            write_or(out, |out| {
                (0..terms).for_each(|_| write_substrings(out, b"description", [Piece::Any(b"x")]));
            });
        });
        client.search(&Search { base: GROUP, filter, ..Search::default() }).1.code
    };
    assert_eq!(with(1), ResultCode::SUCCESS);
    assert_eq!(with(100), ResultCode::ADMIN_LIMIT_EXCEEDED);
}
