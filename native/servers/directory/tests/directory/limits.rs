//! Requests just beyond each limit are refused with the protocol's own error, and the server continues.

use crate::common::{Client, Search, eventually, filter, lookup, person, serve, start};
use directory::Running;
use wire::ber::{self, tag};
use wire::ldap::filter::{
    Extensible, Piece, write_equality, write_extensible, write_not, write_or, write_present, write_substrings,
};
use wire::ldap::request::{write_bind, write_delete};
use wire::ldap::{ResultCode, oid, op};

const PERSON: &str = "cn=Ann 1,ou=Dynamic,o=Intranet";

/// A directory with these limits that contains the entry Ann 1.
fn limited(limits: &str) -> (Running, Client) {
    let (directory, mut client) = serve(&format!(r#"{{"limits": {{{limits}}}}}"#));
    assert_eq!(client.add_person("Ann 1").code, ResultCode::SUCCESS);
    (directory, client)
}

/// Asserts that the connection of the refused request and a new connection are served.
fn assert_alive(directory: &Running, client: &mut Client) {
    let search = Search { filter: lookup("Ann 1"), ..Search::default() };
    assert_eq!(client.search(&search).0.len(), 1);
    assert_eq!(Client::connect(directory.addr()).search(&search).0.len(), 1);
}

#[test]
fn the_length_of_a_name_is_limited() {
    let (directory, mut client) = limited(r#""name_bytes": 60"#);
    let long = |bytes: usize| format!("cn={},{}", "x".repeat(bytes - 3 - 22), "ou=Dynamic,o=Intranet");
    assert_eq!((long(60).len(), long(61).len()), (60, 61));
    assert_eq!(client.delete(&long(60)).code, ResultCode::NO_SUCH_OBJECT);
    let beyond = long(61);
    let beyond = beyond.as_str();
    let (_, searched) = client.search(&Search { base: beyond, ..Search::default() });
    for done in [
        client.bind(beyond, "secret"),
        client.add(beyond, &[("objectClass", &["RTPerson"])]),
        client.delete(beyond),
        client.modify(beyond, &[(2, "sn", &["x"])]),
        client.rename(PERSON, "cn=Bob", Some(beyond)),
        searched,
    ] {
        assert_eq!(done.code, ResultCode::ADMIN_LIMIT_EXCEEDED, "{}", done.diagnostic);
    }
    assert_eq!(client.compare(beyond, "cn", "x"), ResultCode::ADMIN_LIMIT_EXCEEDED);
    assert_alive(&directory, &mut client);
}

/// A filter of this depth.
fn nested(depth: usize) -> Vec<u8> {
    (1..depth).fold(filter(|out| write_present(out, b"cn")), |inner, _| {
        filter(|out| write_not(out, |out| out.extend_from_slice(&inner)))
    })
}

/// A filter of this many terms.
fn either(terms: usize) -> Vec<u8> {
    let write_term = |out: &mut Vec<u8>, i: usize| write_equality(out, b"cn", format!("{i}").as_bytes());
    filter(|out| write_or(out, |out| (1..terms).for_each(|i| write_term(out, i))))
}

fn pieces(count: usize) -> Vec<u8> {
    filter(|out| write_substrings(out, b"cn", std::iter::repeat_n(Piece::Any(b"a"), count)))
}

/// Pieces that are written as the value of an extensible match.
fn written_pieces(count: usize) -> Vec<u8> {
    let value = vec!["a"; count].join("*").into_bytes();
    let rule = Some(b"caseIgnoreSubstringsMatch".as_slice());
    let attribute = Some(b"cn".as_slice());
    filter(|out| write_extensible(out, &Extensible { rule, attribute, value: &value, dn_attributes: false }))
}

/// Pieces between the wildcards of an ILS client.
fn percent_pieces(count: usize) -> Vec<u8> {
    filter(|out| write_equality(out, b"cn", vec!["a"; count].join("%").as_bytes()))
}

/// A filter with a value of this many bytes.
fn long_value(bytes: usize) -> Vec<u8> {
    filter(|out| write_equality(out, b"cn", &vec![b'x'; bytes]))
}

#[test]
fn a_filter_beyond_a_limit_is_refused() {
    let default = directory::limits::Limits::default();
    type WriteFilter = fn(usize) -> Vec<u8>;
    let rows: [(&str, WriteFilter, usize, usize); 8] = [
        (r#"{"limits": {"filter_depth": 5}}"#, nested, 5, 6),
        ("{}", nested, 64, 65),
        ("{}", nested, 64, 10_000),
        (r#"{"limits": {"filter_terms": 500}}"#, either, 500, 501),
        ("{}", pieces, default.filter_terms - 1, default.filter_terms + 1),
        ("{}", written_pieces, default.filter_terms - 1, default.filter_terms + 1),
        (r#"{"profile": "ils"}"#, percent_pieces, default.filter_terms - 1, default.filter_terms + 1),
        ("{}", long_value, default.filter_bytes - 20, default.filter_bytes),
    ];
    for (json, write_filter, within, beyond) in rows {
        let (directory, mut client) = serve(json);
        client.add_person("Ann 1");
        for (size, code) in [(within, ResultCode::SUCCESS), (beyond, ResultCode::ADMIN_LIMIT_EXCEEDED)] {
            let (_, done) = client.search(&Search { filter: write_filter(size), ..Search::default() });
            assert_eq!(done.code, code, "{json}: {size}, {}", done.diagnostic);
        }
        assert_alive(&directory, &mut client);
    }
}

#[test]
fn an_entry_beyond_a_limit_is_refused() {
    let dn = person("Bob 2");
    let texts: Vec<String> = (0..49).map(|i| format!("{i}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let names: Vec<String> = (0..49).map(|i| format!("description;lang-x{i}")).collect();
    // The entry has two more attributes with a value each: objectClass and cn.
    let by_value = |count: usize| vec![("description", &texts[..count])];
    let by_attribute = |count: usize| names[..count].iter().map(|name| (name.as_str(), &["x"][..])).collect();
    type List<'l> = &'l dyn Fn(usize) -> Vec<(&'l str, &'l [&'l str])>;
    let rows: [(&str, List<'_>, &str); 2] = [
        (r#""values_per_entry": 50"#, &by_value, "description"),
        (r#""attributes_per_entry": 50"#, &by_attribute, "description;lang-x48"),
    ];
    for (limits, attributes, one_more) in rows {
        let (directory, mut client) = limited(limits);
        for (count, code) in [(49, ResultCode::ADMIN_LIMIT_EXCEEDED), (48, ResultCode::SUCCESS)] {
            assert_eq!(client.add_person_with("Bob 2", &attributes(count)).code, code, "{limits}: {count}");
        }
        let grown = client.modify(&dn, &[(0, one_more, &["one more"])]);
        assert_eq!(grown.code, ResultCode::ADMIN_LIMIT_EXCEEDED, "{limits}: {}", grown.diagnostic);
        assert_alive(&directory, &mut client);
    }
}

#[test]
fn a_modify_beyond_a_limit_is_refused() {
    let rows: [(&str, &[&str], usize); 2] =
        [(r#""changes_per_modify": 10"#, &["x"], 10), (r#""values_per_modify": 10"#, &["x", "y", "z"], 3)];
    for (limits, values, most) in rows {
        let (directory, mut client) = limited(limits);
        let changes = vec![(2, "description", values); most + 1];
        assert_eq!(client.modify(PERSON, &changes[..most]).code, ResultCode::SUCCESS, "{limits}");
        assert_eq!(client.modify(PERSON, &changes).code, ResultCode::ADMIN_LIMIT_EXCEEDED, "{limits}");
        assert_alive(&directory, &mut client);
    }
}

/// Whether a new connection's bind is answered.
fn admits(directory: &Running) -> bool {
    let mut client = Client::connect(directory.addr());
    let mut out = Vec::new();
    write_bind(&mut out, 1, 3, b"", b"");
    let _ = std::io::Write::write_all(&mut client.stream, &out);
    client.raw().is_some_and(|bytes| bytes[5] == op::BIND_RESPONSE)
}

#[test]
fn a_connection_beyond_a_limit_gets_a_notice() {
    for (limit, reason) in [("connections", ""), ("connections_per_address", "this address")] {
        let directory = start(&format!(r#"{{"limits": {{"{limit}": 2}}}}"#));
        let mut inside: Vec<_> = (0..2).map(|_| Client::connect(directory.addr())).collect();
        assert!(inside.iter_mut().all(|client| client.bind("", "").code == ResultCode::SUCCESS));
        let mut third = Client::connect(directory.addr());
        let notice = third.done();
        assert_eq!((notice.id, notice.code), (0, ResultCode::UNAVAILABLE), "{limit}");
        assert!(notice.diagnostic.contains(reason), "{limit}: {}", notice.diagnostic);
        assert!(third.is_closed());
        if limit == "connections_per_address" {
            let bound = Client::connect_from(2, &directory).bind("", "");
            assert_eq!(bound.code, ResultCode::SUCCESS);
        }
        drop(inside.pop());
        // The slot becomes free once the server has read the end of the connection.
        assert!(eventually(|| admits(&directory)), "{limit}: no client gets a free slot");
    }
}

#[test]
fn a_paged_search_beyond_the_limit_ends_the_oldest_paged_search() {
    let (directory, mut client) = limited(r#""paged_searches": 2"#);
    client.add_person("Bob 2");
    let cookies = [(); 3].map(|()| client.page(1, b"").1.cookie().unwrap());
    assert_eq!(client.page(1, &cookies[0]).1.code, ResultCode::UNWILLING_TO_PERFORM);
    assert_eq!(client.page(1, &cookies[1]).1.code, ResultCode::SUCCESS);
    assert_eq!(client.page(1, &cookies[2]).1.code, ResultCode::SUCCESS);
    assert_alive(&directory, &mut client);
}

#[test]
fn an_idle_connection_is_closed_after_the_configured_time() {
    let (directory, mut client) = limited(r#""idle_ms": 1500"#);
    assert!(client.is_closed());
    assert_eq!(Client::connect(directory.addr()).bind("", "").code, ResultCode::SUCCESS);
}

#[test]
fn message_limits_differ_before_and_after_a_bind_with_a_name() {
    let (directory, mut admin) = serve(
        r#"{"admin_dn": "cn=admin", "admin_password": "root",
            "limits": {"message_bytes_before_bind": 1000, "message_bytes_after_bind": 2000}}"#,
    );
    assert_eq!(admin.bind("cn=admin", "root").code, ResultCode::SUCCESS);
    admin.add_container();
    let added = admin.add_person_with("Ann 1", &[("userPassword", &["secret"])]);
    assert_eq!(added.code, ResultCode::SUCCESS);
    let message = |bytes: usize| {
        let mut out = Vec::new();
        // The message also contains three bytes for the ID, four bytes before the ID, and four bytes before
        // the name.
        write_delete(&mut out, 7, person(&"x".repeat(bytes - 11 - person("").len())).as_bytes());
        assert_eq!(out.len(), bytes);
        out
    };
    for (bind, most) in [
        (None, 1000),
        (Some(("", "")), 1000),
        (Some(("cn=admin", "root")), 2000),
        (Some((PERSON, "secret")), 2000),
    ] {
        let enter = || {
            let mut client = Client::connect(directory.addr());
            let bound = bind.map(|(name, password)| client.bind(name, password).code);
            assert!(bound.is_none_or(|code| code == ResultCode::SUCCESS), "{bind:?}");
            client
        };
        let mut within = enter();
        within.send(&message(most));
        assert_eq!(within.done().tag, op::DELETE_RESPONSE, "{bind:?}");
        assert_alive(&directory, &mut within);
        let mut beyond = enter();
        beyond.send(&message(most + 1));
        let notice = beyond.done();
        assert_eq!((notice.id, notice.name.as_deref()), (0, Some(oid::NOTICE_OF_DISCONNECTION)), "{bind:?}");
        let diagnostic = format!("a message of {} bytes, over the limit of {most}", most + 1);
        assert_eq!((notice.code, notice.diagnostic), (ResultCode::PROTOCOL_ERROR, diagnostic));
        assert!(beyond.is_closed());
        assert_alive(&directory, &mut admin);
    }
}

#[test]
fn an_announced_message_beyond_the_limit_is_refused_before_its_bytes_arrive() {
    let (directory, mut client) = limited(r#""message_bytes_before_bind": 1000"#);
    let mut stranger = Client::connect(directory.addr());
    let mut out = vec![0x30, 0x84, 0, 0, 0x03, 0xe9];
    ber::write_octets(&mut out, &[0; 10]);
    assert_eq!(out[6], tag::OCTET_STRING);
    stranger.send(&out);
    let notice = stranger.done();
    assert_eq!((notice.id, notice.code), (0, ResultCode::PROTOCOL_ERROR));
    assert!(stranger.is_closed());
    assert_alive(&directory, &mut client);
}
