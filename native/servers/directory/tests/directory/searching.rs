//! Searches: base, scope, filter, attributes, limits.

use crate::common::{Client, Search, filter, lookup, serve_alone};
use directory::Running;
use wire::ber::{self, tag};
use wire::ldap::control::{Control, write_control};
use wire::ldap::filter as f;
use wire::ldap::{ResultCode, Scope, oid};

fn people(count: usize) -> (Running, Client) {
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    for i in 0..count {
        assert_eq!(client.add_person(&format!("Person {i}")).code, ResultCode::SUCCESS);
    }
    (directory, client)
}

#[test]
fn a_lookup_returns_one_entry_with_all_its_user_attributes() {
    let (_directory, mut client) = people(3);
    let (found, done) = client.search(&Search { filter: lookup("person 1"), ..Search::default() });
    assert_eq!((found.len(), done.code), (1, ResultCode::SUCCESS));
    assert_eq!(found[0].dn, "cn=Person 1,ou=Dynamic,o=Intranet");
    assert_eq!(found[0].names(), ["objectClass", "cn", "sn"]);
    let (found, done) = client.search(&Search { filter: lookup("nobody"), ..Search::default() });
    assert_eq!((found.len(), done.code), (0, ResultCode::SUCCESS));
}

#[test]
fn the_scope_sets_the_depth_of_a_search() {
    let (_directory, mut client) = people(3);
    let mut count = |base, scope| {
        let (found, done) = client.search(&Search { base, scope, ..Search::default() });
        (found.len(), done.code)
    };
    assert_eq!(count("o=Intranet", Scope::Base), (1, ResultCode::SUCCESS));
    assert_eq!(count("o=Intranet", Scope::One), (1, ResultCode::SUCCESS));
    assert_eq!(count("o=Intranet", Scope::Subtree), (5, ResultCode::SUCCESS));
    assert_eq!(count("OU=dynamic, O=intranet", Scope::One), (3, ResultCode::SUCCESS));
    assert_eq!(count("", Scope::Subtree), (5, ResultCode::SUCCESS));
    assert_eq!(count("o=Intranet", Scope::Children), (4, ResultCode::SUCCESS));
    assert_eq!(count("OU=dynamic, O=intranet", Scope::Children), (3, ResultCode::SUCCESS));
    assert_eq!(count("", Scope::Children), (5, ResultCode::SUCCESS));
    assert_eq!(count("cn=Subschema", Scope::Children), (0, ResultCode::SUCCESS));
}

#[test]
fn a_missing_base_is_answered_with_its_closest_existing_ancestor() {
    let (_directory, mut client) = people(1);
    let search = Search { base: "cn=x,cn=y,ou=Dynamic,o=Intranet", ..Search::default() };
    let (_, done) = client.search(&search);
    assert_eq!(done.code, ResultCode::NO_SUCH_OBJECT);
    assert_eq!(done.matched_dn, "ou=Dynamic,o=Intranet");
    let (_, done) = client.search(&Search { base: "no name", ..Search::default() });
    assert_eq!(done.code, ResultCode::INVALID_DN_SYNTAX);
}

#[test]
fn only_the_selected_attributes_are_returned() {
    let (_directory, mut client) = people(1);
    let mut names = |attributes: &[&str]| {
        let (found, _) =
            client.search(&Search { filter: lookup("Person 0"), attributes, ..Search::default() });
        found[0].names().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names(&["*"]), ["objectClass", "cn", "sn"]);
    assert_eq!(names(&["1.1"]), Vec::<String>::new());
    assert_eq!(names(&["nothing"]), Vec::<String>::new());
    let mut some = names(&["sn", "CN"]);
    some.sort();
    assert_eq!(some.len(), 2);
    assert!(some.iter().any(|name| name.eq_ignore_ascii_case("cn")));
    let operational = names(&["+"]);
    for name in ["createTimestamp", "modifyTimestamp", "entryDN", "subschemaSubentry"] {
        assert!(operational.iter().any(|found| found == name), "{name} in {operational:?}");
    }
    assert!(!operational.iter().any(|found| found == "cn"));
    assert_eq!(names(&["*", "createTimestamp"]).len(), 4);
}

#[test]
fn a_types_only_search_returns_no_values() {
    let (_directory, mut client) = people(1);
    let search = Search { filter: lookup("Person 0"), types_only: true, ..Search::default() };
    let (found, _) = client.search(&search);
    assert_eq!(found[0].names(), ["objectClass", "cn", "sn"]);
    assert!(found[0].attributes.iter().all(|(_, values)| values.is_empty()));
}

#[test]
fn only_a_search_with_more_entries_than_its_size_limit_is_cut_short() {
    let (_directory, mut client) = people(20);
    let all = || filter(|out| f::write_present(out, b"sn"));
    let mut limited = |size_limit| {
        let (found, done) = client.search(&Search { filter: all(), size_limit, ..Search::default() });
        (found.len(), done.code)
    };
    assert_eq!(limited(7), (7, ResultCode::SIZE_LIMIT_EXCEEDED));
    assert_eq!(limited(19), (19, ResultCode::SIZE_LIMIT_EXCEEDED));
    assert_eq!(limited(20), (20, ResultCode::SUCCESS));
    assert_eq!(limited(0), (20, ResultCode::SUCCESS));
}

#[test]
fn the_servers_size_limit_applies_to_searches_without_a_smaller_limit() {
    let directory = serve_alone(r#"{"limits": {"search_entries": 5}}"#);
    let mut client = Client::connect(directory.addr());
    for i in 0..10 {
        client.add_person(&format!("Person {i}"));
    }
    for (asked, expected) in [(0, 5), (100, 5), (3, 3)] {
        let (found, done) = client.search(&Search { size_limit: asked, ..Search::default() });
        assert_eq!((found.len(), done.code), (expected, ResultCode::SIZE_LIMIT_EXCEEDED));
    }
}

fn paged(size: i64, cookie: &[u8], critical: bool) -> Vec<u8> {
    let (mut value, mut controls) = (Vec::new(), Vec::new());
    wire::ldap::control::PagedResults { size, cookie }.encode(&mut value);
    write_control(&mut controls, &Control { oid: oid::PAGED_RESULTS, critical, value: Some(&value) });
    controls
}

fn cookie(answer: &crate::common::Answer) -> Vec<u8> {
    let (oid, value) = answer.controls.first().expect("a paged results control");
    assert_eq!(oid, oid::PAGED_RESULTS);
    wire::ldap::control::PagedResults::decode(value).unwrap().cookie.to_vec()
}

#[test]
fn a_paged_search_returns_every_entry_once() {
    let (_directory, mut client) = people(25);
    let mut names = std::collections::BTreeSet::new();
    let (mut next, mut pages) = (Vec::new(), 0);
    loop {
        let search = Search {
            filter: filter(|out| f::write_present(out, b"sn")),
            controls: paged(10, &next, true),
            ..Search::default()
        };
        let (found, done) = client.search(&search);
        assert_eq!(done.code, ResultCode::SUCCESS);
        assert!(found.len() <= 10);
        names.extend(found.into_iter().map(|entry| entry.dn));
        pages += 1;
        next = cookie(&done);
        if next.is_empty() {
            break;
        }
    }
    assert_eq!((names.len(), pages), (25, 3));
}

#[test]
fn a_page_cookie_is_valid_once_and_only_on_its_connection() {
    let (directory, mut client) = people(25);
    let page = |cookie: &[u8]| Search { controls: paged(5, cookie, true), ..Search::default() };
    let first = cookie(&client.search(&page(b"")).1);
    let mut other = Client::connect(directory.addr());
    assert_eq!(other.search(&page(&first)).1.code, ResultCode::UNWILLING_TO_PERFORM);
    let second = cookie(&client.search(&page(&first)).1);
    assert_eq!(client.search(&page(&first)).1.code, ResultCode::UNWILLING_TO_PERFORM);
    // A request for a page of no entries ends the search (RFC 2696 section 3).
    let end = Search { controls: paged(0, &second, true), ..Search::default() };
    let (found, done) = client.search(&end);
    assert_eq!((found.len(), done.code, cookie(&done)), (0, ResultCode::SUCCESS, Vec::new()));
    assert_eq!(client.search(&page(&second)).1.code, ResultCode::UNWILLING_TO_PERFORM);
}

#[test]
fn unknown_controls_are_refused_only_if_critical() {
    let (_directory, mut client) = people(1);
    let control = |oid: &[u8], critical| {
        let mut controls = Vec::new();
        write_control(&mut controls, &Control { oid, critical, value: None });
        controls
    };
    for (oid, critical, code) in [
        (&b"1.2.3.4"[..], true, ResultCode::UNAVAILABLE_CRITICAL_EXTENSION),
        (b"1.2.3.4", false, ResultCode::SUCCESS),
        (oid::MANAGE_DSA_IT, true, ResultCode::SUCCESS),
    ] {
        let (_, done) = client.search(&Search { controls: control(oid, critical), ..Search::default() });
        assert_eq!(done.code, code);
    }
    let mut delete = Vec::new();
    wire::ldap::request::write_delete(&mut delete, 9, b"cn=Person 0,ou=Dynamic,o=Intranet");
    let delete = crate::common::with_controls(&delete, &paged(1, b"", true));
    let done = client.request(|out| out.extend_from_slice(&delete));
    assert_eq!(done.code, ResultCode::UNAVAILABLE_CRITICAL_EXTENSION);
    assert_eq!(client.delete("cn=Person 0,ou=Dynamic,o=Intranet").code, ResultCode::SUCCESS);
}

#[test]
fn the_root_dse_lists_the_supported_features() {
    let (_directory, mut client) = people(0);
    let mut root = |attributes: &[&str]| {
        let search = Search { base: "", scope: Scope::Base, attributes, ..Search::default() };
        client.search(&search).0.remove(0)
    };
    assert_eq!(root(&[]).names(), ["objectClass"]);
    let all = root(&["*", "+"]);
    assert_eq!(all.dn, "");
    assert_eq!(all.values("namingContexts"), ["o=Intranet"]);
    assert_eq!(all.values("subschemaSubentry"), ["cn=Subschema"]);
    assert_eq!(all.values("supportedLDAPVersion"), ["2", "3"]);
    assert!(all.values("supportedExtension").contains(&"1.3.6.1.4.1.1466.101.119.1"));
    assert!(all.values("supportedControl").contains(&"1.2.840.113556.1.4.319"));
    assert_eq!(root(&["vendorName"]).values("vendorName"), ["sitebench"]);
}

#[test]
fn the_subschema_is_an_entry() {
    let (_directory, mut client) = people(0);
    let search = Search {
        base: "cn=subschema",
        scope: Scope::Base,
        filter: filter(|out| f::write_equality(out, b"objectClass", b"subschema")),
        attributes: &["*", "+"],
        ..Search::default()
    };
    let (found, _) = client.search(&search);
    assert!(found[0].values("attributeTypes").iter().any(|definition| definition.contains("'cn'")));
    assert!(found[0].values("objectClasses").iter().any(|definition| definition.contains("'RTPerson'")));
    assert!(!found[0].values("ldapSyntaxes").is_empty());
    assert!(!found[0].values("matchingRules").is_empty());
}

#[test]
fn filters_of_every_kind_are_answered() {
    let (_directory, mut client) = people(12);
    let mut count = |write: &dyn Fn(&mut Vec<u8>)| {
        client.search(&Search { filter: filter(|out| write(out)), ..Search::default() }).0.len()
    };
    let substrings = |out: &mut Vec<u8>| f::write_substrings(out, b"cn", [f::Piece::Initial(b"person 1")]);
    assert_eq!(count(&substrings), 3);
    assert_eq!(count(&|out| f::write_not(out, |out| f::write_present(out, b"sn"))), 1);
    assert_eq!(count(&|out| f::write_and(out, |_| {})), 13);
    assert_eq!(count(&|out| f::write_or(out, |_| {})), 0);
    assert_eq!(count(&|out| f::write_approx(out, b"cn", b"PERSON 3")), 1);
    let since = |out: &mut Vec<u8>| f::write_greater_or_equal(out, b"createTimestamp", b"20200101000000Z");
    let until = |out: &mut Vec<u8>| f::write_less_or_equal(out, b"createTimestamp", b"20200101000000Z");
    assert_eq!((count(&since), count(&until)), (13, 0));
    let extensible = f::Extensible {
        rule: Some(b"2.5.13.2"),
        attribute: Some(b"cn"),
        value: b"person 5",
        dn_attributes: false,
    };
    assert_eq!(count(&|out| f::write_extensible(out, &extensible)), 1);
    let either = |out: &mut Vec<u8>| {
        f::write_or(out, |out| {
            f::write_equality(out, b"cn", b"person 1");
            f::write_equality(out, b"cn", b"person 2");
            f::write_equality(out, b"unheard", b"of");
        });
    };
    assert_eq!(count(&either), 2);
}

#[test]
fn a_malformed_page_control_is_a_protocol_error() {
    let (_directory, mut client) = people(1);
    let mut controls = Vec::new();
    ber::write_nested(&mut controls, tag::SEQUENCE, |out| {
        ber::write_octets(out, oid::PAGED_RESULTS);
        ber::write_octets(out, b"\x30\x01");
    });
    let (_, done) = client.search(&Search { controls, ..Search::default() });
    assert_eq!(done.code, ResultCode::PROTOCOL_ERROR);
}

#[test]
fn a_later_page_must_repeat_the_search_and_counts_towards_the_size_limit() {
    let (_directory, mut client) = people(5);
    let ask = |client: &mut Client, cookie: &[u8], size_limit, filter| {
        let controls = paged(2, cookie, true);
        let search = Search { size_limit, filter, controls, ..Search::default() };
        client.search(&search)
    };
    let persons = || filter(|out| f::write_equality(out, b"objectClass", b"RTPerson"));
    let (found, done) = ask(&mut client, b"", 3, persons());
    assert_eq!((found.len(), done.code), (2, ResultCode::SUCCESS));
    let (rest, all) = ask(&mut client, &cookie(&done), 3, persons());
    assert_eq!((rest.len(), all.code), (1, ResultCode::SIZE_LIMIT_EXCEEDED));
    let (_, done) = ask(&mut client, b"", 3, persons());
    let another = filter(|out| f::write_equality(out, b"cn", b"nobody"));
    let (_, done) = ask(&mut client, &cookie(&done), 3, another);
    assert_eq!(done.code, ResultCode::UNWILLING_TO_PERFORM, "another question with the same cookie");
}

#[test]
fn a_first_page_of_size_zero_is_answered_with_a_page_control() {
    let (_directory, mut client) = people(1);
    let (_, done) = client.search(&Search { controls: paged(0, b"", true), ..Search::default() });
    assert_eq!((done.code, cookie(&done)), (ResultCode::SUCCESS, Vec::new()));
}

#[test]
fn the_subschema_is_found_by_any_spelling_and_never_by_an_unknown_type() {
    let (_directory, mut client) = people(0);
    let negated = filter(|out| {
        f::write_not(out, |out| f::write_equality(out, b"noSuchType", b"x"));
    });
    let present = || filter(|out| f::write_present(out, b"objectClass"));
    let since = |time| filter(|out| f::write_greater_or_equal(out, b"modifyTimestamp", time));
    for (base, filter, count) in [
        ("cn=Subschema", present(), 1),
        ("CN = subschema", present(), 1),
        ("2.5.4.3=subschema", present(), 1),
        (" OID.2.5.4.3 = SUB\\73CHEMA", present(), 1),
        ("cn=Subschema", negated.clone(), 0),
        ("cn=Subschema", since(b"20200101000000Z"), 1),
        ("cn=Subschema", since(b"20990101000000Z"), 0),
        ("", negated, 0),
    ] {
        let search = Search { base, scope: Scope::Base, filter, ..Search::default() };
        assert_eq!(client.search(&search).0.len(), count, "{base:?}");
    }
}

#[test]
fn the_subschema_has_timestamps_of_creation_and_change() {
    let (_directory, mut client) = people(0);
    let attributes = &["createTimestamp", "modifyTimestamp"];
    let search = Search { base: "cn=Subschema", scope: Scope::Base, attributes, ..Search::default() };
    let (found, _) = client.search(&search);
    assert_eq!(found[0].names(), *attributes);
}

#[test]
fn an_assertion_value_that_is_not_a_uuid_is_undefined() {
    let (_directory, mut client) = people(1);
    let unlike = |value: &'static [u8]| {
        filter(|out| f::write_not(out, |out| f::write_equality(out, b"entryUUID", value)))
    };
    for (value, count) in [(b"nonsense".as_slice(), 0), (b"12345678-1234-1234-1234-1234567890AB", 2)] {
        let (found, _) = client.search(&Search { filter: unlike(value), ..Search::default() });
        assert_eq!(found.len(), count);
    }
}
