//! Searches at the limits.

use directory::limits::Limits;
use wire::ldap::ResultCode;
use wire::ldap::filter::{Extensible, Piece, write_equality, write_extensible, write_or, write_substrings};

use super::{GROUP, add_group, members};
use crate::common::{Client, Found, Search, filter, lookup, used_ms};
use crate::own_process::in_own_process;

fn search(client: &mut Client, filter: Vec<u8>) -> (Vec<Found>, ResultCode) {
    let (found, done) = client.search(&Search { filter, ..Search::default() });
    (found, done.code)
}

#[test]
fn an_attribute_requested_repeatedly_is_returned_once() {
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
fn the_number_of_requested_attributes_is_limited() {
    let directory = crate::common::serve_alone("{}");
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
fn the_length_of_a_filter_is_limited() {
    let directory = crate::common::serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    let long = vec![b'x'; Limits::default().filter_bytes];
    let within = filter(|out| write_equality(out, b"cn", &long[20..]));
    assert_eq!(search(&mut client, within).1, ResultCode::SUCCESS);
    let beyond = filter(|out| write_equality(out, b"cn", &long));
    assert_eq!(search(&mut client, beyond).1, ResultCode::ADMIN_LIMIT_EXCEEDED);
}

#[test]
fn the_pieces_of_a_substring_assertion_count_as_terms() {
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
    let directory = crate::common::serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    for (count, code) in [(terms - 1, ResultCode::SUCCESS), (terms + 1, ResultCode::ADMIN_LIMIT_EXCEEDED)] {
        assert_eq!(search(&mut client, pieces(count)).1, code, "{count} pieces");
        assert_eq!(search(&mut client, extensible(count)).1, code, "{count} written pieces");
    }
    let ils = crate::common::serve_alone(r#"{"profile": "ils"}"#);
    let mut client = Client::connect(ils.addr());
    for (count, code) in [(terms - 1, ResultCode::SUCCESS), (terms + 1, ResultCode::ADMIN_LIMIT_EXCEEDED)] {
        assert_eq!(search(&mut client, wild(count)).1, code, "{count} pieces between percent signs");
    }
}

#[test]
fn an_empty_piece_of_a_substring_assertion_is_refused() {
    let directory = crate::common::serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    let empty = filter(|out| write_substrings(out, b"cn", [Piece::Any(b"")]));
    assert_eq!(search(&mut client, empty).1, ResultCode::PROTOCOL_ERROR);
}

#[test]
fn thousands_of_terms_over_thousands_of_values_are_refused() {
    let directory = crate::common::serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    add_group(&mut client, "uniqueMember", &members(2_000));
    let texts: Vec<String> = (0..2_000).map(|i| format!("text {i}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(client.modify(GROUP, &[(0, "description", &texts)]).code, ResultCode::SUCCESS);
    let mut base = |count: usize, write: &dyn Fn(&mut Vec<u8>, usize)| {
        let filter = filter(|out| write_or(out, |out| (0..count).for_each(|i| write(out, i))));
        client.search(&Search { base: GROUP, filter, ..Search::default() }).1.code
    };
    let substring = |out: &mut Vec<u8>, i: usize| {
        write_substrings(out, b"description", [Piece::Any(format!("x{i}").as_bytes())]);
    };
    let equality = |out: &mut Vec<u8>, i: usize| {
        write_equality(out, b"uniqueMember", format!("cn=X{i}").as_bytes());
    };
    assert_eq!(base(20, &substring), ResultCode::SUCCESS);
    assert_eq!(base(2_000, &substring), ResultCode::ADMIN_LIMIT_EXCEEDED);
    // An equality match on a large attribute uses a lookup, not a scan.
    assert_eq!(base(2_000, &equality), ResultCode::SUCCESS);
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
        let directory = crate::common::serve_alone("{}");
        let mut client = Client::connect(directory.addr());
        add_group(&mut client, attribute, values);
        let mut took_ms = |terms: usize| {
            let filter = filter(|out| write_or(out, |out| (0..terms).for_each(|i| write(out, i))));
            let search = Search { base: GROUP, filter, ..Search::default() };
            let least = (0..3).map(|_| {
                let before = used_ms();
                assert_eq!(client.search(&search).1.code, ResultCode::SUCCESS);
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
    let directory = crate::common::serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    client.add(
        "cn=Me,ou=Dynamic,o=Intranet",
        &[("objectClass", &["RTPerson"]), ("cn", &["Me"]), ("userPassword", &["secret"])],
    );
    assert_eq!(client.bind("cn=Me,ou=Dynamic,o=Intranet", "secret").code, ResultCode::SUCCESS);
    add_group(&mut client, "member", &members(9_000));
    for (spelling, matches) in [("cn=Nobody", 0), ("CN = Member ", 1)] {
        let filter = filter(|out| {
            write_or(out, |out| {
                (8_990..9_010).for_each(|i| {
                    let value = format!("{spelling}{i},OU=Dynamic,o=Intranet");
                    write_equality(out, b"member", value.as_bytes());
                });
            });
        });
        let (found, done) = client.search(&Search { base: GROUP, filter, ..Search::default() });
        assert_eq!((found.len(), done.code), (matches, ResultCode::SUCCESS), "{spelling}");
    }
}

#[test]
fn a_value_counts_towards_search_limits_with_its_normalised_length() {
    let directory = crate::common::serve_alone("{}");
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
