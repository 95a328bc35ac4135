//! Searches: base, scope, filter, attributes, limits.

use std::collections::BTreeSet;

use crate::common::{Client, Search, filter, lookup, paged, serve_people, with_controls};
use wire::ber::{self, tag};
use wire::ldap::control::{Control, write_control};
use wire::ldap::filter as f;
use wire::ldap::{ResultCode, Scope, oid};

#[test]
fn a_lookup_returns_one_entry_with_all_its_user_attributes() {
    let (_directory, mut client) = serve_people("{}", 3);
    let (entries, done) = client.search(&Search { filter: lookup("person 1"), ..Search::default() });
    assert_eq!((entries.len(), done.code), (1, ResultCode::SUCCESS));
    assert_eq!(entries[0].dn, "cn=Person 1,ou=Dynamic,o=Intranet");
    assert_eq!(entries[0].names(), ["objectClass", "cn", "sn"]);
    let (entries, done) = client.search(&Search { filter: lookup("nobody"), ..Search::default() });
    assert_eq!((entries.len(), done.code), (0, ResultCode::SUCCESS));
    let types_only = Search { filter: lookup("Person 0"), types_only: true, ..Search::default() };
    let (entries, _) = client.search(&types_only);
    assert_eq!(entries[0].names(), ["objectClass", "cn", "sn"]);
    assert!(entries[0].attributes.iter().all(|(_, values)| values.is_empty()));
}

#[test]
fn the_scope_sets_the_depth_of_a_search() {
    let (_directory, mut client) = serve_people("{}", 3);
    for (base, scope, count) in [
        ("o=Intranet", Scope::Base, 1),
        ("o=Intranet", Scope::One, 1),
        ("o=Intranet", Scope::Subtree, 5),
        ("o=Intranet", Scope::Children, 4),
        ("OU=dynamic, O=intranet", Scope::One, 3),
        ("OU=dynamic, O=intranet", Scope::Children, 3),
        ("cn=Person 1,ou=Dynamic,o=Intranet", Scope::One, 0),
        ("cn=Person 1,ou=Dynamic,o=Intranet", Scope::Subtree, 1),
        ("", Scope::One, 1),
        ("", Scope::Subtree, 5),
        ("", Scope::Children, 5),
        ("cn=Subschema", Scope::Children, 0),
    ] {
        for controls in [Vec::new(), paged(10, b"")] {
            let (entries, done) = client.search(&Search { base, scope, controls, ..Search::default() });
            assert_eq!((entries.len(), done.code), (count, ResultCode::SUCCESS), "{base:?} {scope:?}");
        }
    }
}

#[test]
fn a_missing_base_is_answered_with_its_closest_existing_ancestor() {
    let (_directory, mut client) = serve_people("{}", 1);
    let search = Search { base: "cn=x,cn=y,ou=Dynamic,o=Intranet", ..Search::default() };
    let (_, done) = client.search(&search);
    assert_eq!(done.code, ResultCode::NO_SUCH_OBJECT);
    assert_eq!(done.matched_dn, "ou=Dynamic,o=Intranet");
    let (_, done) = client.search(&Search { base: "no name", ..Search::default() });
    assert_eq!(done.code, ResultCode::INVALID_DN_SYNTAX);
}

#[test]
fn a_search_ends_at_the_smaller_size_limit() {
    let servers_limit = r#"{"limits": {"search_entries": 5}}"#;
    for (json, size_limit, count, code) in [
        ("{}", 7, 7, ResultCode::SIZE_LIMIT_EXCEEDED),
        ("{}", 10, 10, ResultCode::SIZE_LIMIT_EXCEEDED),
        ("{}", 11, 11, ResultCode::SUCCESS),
        ("{}", 0, 11, ResultCode::SUCCESS),
        (servers_limit, 0, 5, ResultCode::SIZE_LIMIT_EXCEEDED),
        (servers_limit, 100, 5, ResultCode::SIZE_LIMIT_EXCEEDED),
        (servers_limit, 3, 3, ResultCode::SIZE_LIMIT_EXCEEDED),
    ] {
        let (_directory, mut client) = serve_people(json, 10);
        let (entries, done) = client.search(&Search { size_limit, ..Search::default() });
        assert_eq!((entries.len(), done.code), (count, code), "{json} {size_limit}");
    }
}

#[test]
fn a_paged_search_returns_every_entry_once() {
    let (_directory, mut client) = serve_people("{}", 24);
    let pages = client.pages(10, 10);
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [10, 10, 5]);
    let names: BTreeSet<&str> = pages.iter().flatten().map(|entry| entry.dn.as_str()).collect();
    assert_eq!(names.len(), 25);
}

#[test]
fn a_page_cookie_is_valid_once_and_only_on_its_connection() {
    let (directory, mut client) = serve_people("{}", 25);
    let first = client.page(5, b"").1.cookie().unwrap();
    let mut other = Client::connect(directory.addr());
    assert_eq!(other.page(5, &first).1.code, ResultCode::UNWILLING_TO_PERFORM);
    let second = client.page(5, &first).1.cookie().unwrap();
    assert_eq!(client.page(5, &first).1.code, ResultCode::UNWILLING_TO_PERFORM);
    // A request for a page of no entries ends the search (RFC 2696 section 3).
    let (entries, done) = client.page(0, &second);
    assert_eq!((entries.len(), done.code, done.cookie()), (0, ResultCode::SUCCESS, Some(Vec::new())));
    assert_eq!(client.page(5, &second).1.code, ResultCode::UNWILLING_TO_PERFORM);
    // A first page of size zero is answered with a page control, too.
    let (_, done) = client.page(0, b"");
    assert_eq!((done.code, done.cookie()), (ResultCode::SUCCESS, Some(Vec::new())));
}

#[test]
fn unknown_controls_are_refused_only_if_critical() {
    let (_directory, mut client) = serve_people("{}", 1);
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
    let delete = with_controls(&delete, &paged(1, b""));
    let done = client.request(|out| out.extend_from_slice(&delete));
    assert_eq!(done.code, ResultCode::UNAVAILABLE_CRITICAL_EXTENSION);
    assert_eq!(client.delete("cn=Person 0,ou=Dynamic,o=Intranet").code, ResultCode::SUCCESS);
}

#[test]
fn the_root_dse_lists_the_supported_features() {
    let (_directory, mut client) = serve_people("{}", 0);
    let mut root = |attributes: &[&str]| client.read("", attributes).unwrap();
    assert_eq!(root(&[]).names(), ["objectClass"]);
    let all = root(&["*", "+"]);
    assert_eq!(all.dn, "");
    assert_eq!(all.values("namingContexts"), ["o=Intranet"]);
    assert_eq!(all.values("subschemaSubentry"), ["cn=Subschema"]);
    assert_eq!(all.values("supportedLDAPVersion"), ["2", "3"]);
    assert!(all.values("supportedExtension").contains(&"1.3.6.1.4.1.1466.101.119.1"));
    assert!(all.values("supportedControl").contains(&"1.2.840.113556.1.4.319"));
    assert_eq!(root(&["vendorName"]).values("vendorName"), ["sitebench"]);
    assert_eq!(client.compare("", "supportedLDAPVersion", "3"), ResultCode::COMPARE_TRUE);
}

#[test]
fn the_subschema_is_an_entry() {
    let (_directory, mut client) = serve_people("{}", 0);
    let search = Search {
        base: "cn=subschema",
        scope: Scope::Base,
        filter: filter(|out| f::write_equality(out, b"objectClass", b"subschema")),
        attributes: &["*", "+"],
        ..Search::default()
    };
    let (entries, _) = client.search(&search);
    assert!(entries[0].values("attributeTypes").iter().any(|definition| definition.contains("'cn'")));
    assert!(entries[0].values("objectClasses").iter().any(|definition| definition.contains("'RTPerson'")));
    assert!(!entries[0].values("ldapSyntaxes").is_empty());
    assert!(!entries[0].values("matchingRules").is_empty());
}

#[test]
fn a_malformed_page_control_is_a_protocol_error() {
    let (_directory, mut client) = serve_people("{}", 1);
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
    let (_directory, mut client) = serve_people("{}", 5);
    let mut ask = |cookie: &[u8], filter| {
        client.search(&Search { size_limit: 3, filter, controls: paged(2, cookie), ..Search::default() })
    };
    let persons = || filter(|out| f::write_equality(out, b"objectClass", b"RTPerson"));
    let (entries, done) = ask(b"", persons());
    assert_eq!((entries.len(), done.code), (2, ResultCode::SUCCESS));
    let (entries, last) = ask(&done.cookie().unwrap(), persons());
    assert_eq!((entries.len(), last.code), (1, ResultCode::SIZE_LIMIT_EXCEEDED));
    let (_, done) = ask(b"", persons());
    let another = filter(|out| f::write_equality(out, b"cn", b"nobody"));
    let (_, done) = ask(&done.cookie().unwrap(), another);
    assert_eq!(done.code, ResultCode::UNWILLING_TO_PERFORM, "another filter with the same cookie");
}

#[test]
fn the_subschema_is_found_by_any_spelling_and_never_by_an_unknown_type() {
    let (_directory, mut client) = serve_people("{}", 0);
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
        let attributes = &["createTimestamp", "modifyTimestamp"];
        let search = Search { base, scope: Scope::Base, filter, attributes, ..Search::default() };
        let (entries, _) = client.search(&search);
        assert_eq!(entries.len(), count, "{base:?}");
        assert!(entries.iter().all(|entry| entry.names() == attributes), "{base:?}");
    }
}
