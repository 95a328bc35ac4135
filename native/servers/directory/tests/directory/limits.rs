//! Requests just beyond each limit are refused with the protocol's own error, and the server continues.

use crate::common::{Client, Search, filter, lookup, search_for_all, serve_alone, with_controls};
use directory::Running;
use wire::ber::{self, tag};
use wire::ldap::control::{Control, PagedResults, write_control};
use wire::ldap::filter::{write_equality, write_not, write_or, write_present};
use wire::ldap::request::{write_bind, write_delete, write_modify_dn};
use wire::ldap::{ResultCode, oid, op};

const PERSON: &str = "cn=Ann 1,ou=Dynamic,o=Intranet";

/// A directory with these limits that contains the entry Ann 1.
fn limited(limits: &str) -> (Running, Client) {
    let directory = serve_alone(&format!(r#"{{"limits": {{{limits}}}}}"#));
    let mut client = Client::connect(directory.addr());
    assert_eq!(client.add_person("Ann 1").code, ResultCode::SUCCESS);
    (directory, client)
}

/// Asserts that the connection of the refused request and a new connection are served.
fn assert_alive(directory: &Running, client: &mut Client) {
    let search = Search { filter: lookup("Ann 1"), ..Search::default() };
    assert_eq!(client.search(&search).0.len(), 1);
    assert_eq!(Client::connect(directory.addr()).search(&search).0.len(), 1);
}

fn search_code(client: &mut Client, filter: Vec<u8>) -> ResultCode {
    client.search(&Search { filter, ..Search::default() }).1.code
}

#[test]
fn the_length_of_a_name_is_limited() {
    let (directory, mut client) = limited(r#""name_bytes": 60"#);
    let long = |bytes: usize| format!("cn={},{}", "x".repeat(bytes - 3 - 22), "ou=Dynamic,o=Intranet");
    assert_eq!((long(60).len(), long(61).len()), (60, 61));
    assert_eq!(client.delete(&long(60)).code, ResultCode::NO_SUCH_OBJECT);
    let beyond = long(61);
    let beyond = beyond.as_str();
    let renamed = client.request(|out| {
        write_modify_dn(out, 7, PERSON.as_bytes(), b"cn=Bob", true, Some(beyond.as_bytes()));
    });
    let (_, searched) = client.search(&Search { base: beyond, ..Search::default() });
    for done in [
        client.bind(beyond, "secret"),
        client.add(beyond, &[("objectClass", &["RTPerson"])]),
        client.delete(beyond),
        client.modify(beyond, &[(2, "sn", &["x"])]),
        renamed,
        searched,
    ] {
        assert_eq!(done.code, ResultCode::ADMIN_LIMIT_EXCEEDED, "{}", done.diagnostic);
    }
    assert_eq!(client.compare(beyond, "cn", "x"), ResultCode::ADMIN_LIMIT_EXCEEDED);
    assert_alive(&directory, &mut client);
}

#[test]
fn the_depth_of_a_filter_is_limited() {
    fn nested(out: &mut Vec<u8>, depth: usize) {
        if depth == 1 {
            write_present(out, b"cn");
        } else {
            write_not(out, |out| nested(out, depth - 1));
        }
    }
    for (limits, most) in [(r#""filter_depth": 5"#, 5), ("", 64)] {
        let (directory, mut client) = limited(limits);
        assert_eq!(search_code(&mut client, filter(|out| nested(out, most))), ResultCode::SUCCESS);
        let beyond = search_code(&mut client, filter(|out| nested(out, most + 1)));
        assert_eq!(beyond, ResultCode::ADMIN_LIMIT_EXCEEDED);
        assert_alive(&directory, &mut client);
    }
}

#[test]
fn the_number_of_terms_of_a_filter_is_limited() {
    let (directory, mut client) = limited(r#""filter_terms": 500"#);
    let either = |terms: usize| {
        filter(|out| {
            write_or(out, |out| {
                (1..terms).for_each(|i| write_equality(out, b"cn", format!("{i}").as_bytes()))
            });
        })
    };
    assert_eq!(search_code(&mut client, either(500)), ResultCode::SUCCESS);
    assert_eq!(search_code(&mut client, either(501)), ResultCode::ADMIN_LIMIT_EXCEEDED);
    assert_alive(&directory, &mut client);
}

#[test]
fn the_number_of_attributes_of_an_entry_is_limited_in_every_write() {
    let (directory, mut client) = limited(r#""attributes_per_entry": 20"#);
    // The entry has two more attributes: objectClass and cn.
    let names: Vec<String> = (0..19).map(|i| format!("description;lang-x{i}")).collect();
    let entry = |more: usize| {
        let mut attributes: Vec<(&str, &[&str])> = vec![("objectClass", &["RTPerson"]), ("cn", &["Bob 2"])];
        attributes.extend(names[..more].iter().map(|name| (name.as_str(), &["x"] as &[&str])));
        attributes
    };
    let dn = "cn=Bob 2,ou=Dynamic,o=Intranet";
    assert_eq!(client.add(dn, &entry(19)).code, ResultCode::ADMIN_LIMIT_EXCEEDED);
    assert_eq!(client.add(dn, &entry(18)).code, ResultCode::SUCCESS);
    let grown = client.modify(dn, &[(0, "description;lang-x18", &["x"])]);
    assert_eq!(grown.code, ResultCode::ADMIN_LIMIT_EXCEEDED, "{}", grown.diagnostic);
    assert_alive(&directory, &mut client);
}

#[test]
fn the_number_of_values_of_an_entry_is_limited_in_every_write() {
    let (directory, mut client) = limited(r#""values_per_entry": 50"#);
    let texts: Vec<String> = (0..49).map(|i| format!("{i}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let add = |client: &mut Client, count: usize| {
        let attributes: &[(&str, &[&str])] =
            &[("objectClass", &["RTPerson"]), ("cn", &["Bob 2"]), ("description", &texts[..count])];
        client.add("cn=Bob 2,ou=Dynamic,o=Intranet", attributes).code
    };
    assert_eq!(add(&mut client, 49), ResultCode::ADMIN_LIMIT_EXCEEDED);
    assert_eq!(add(&mut client, 48), ResultCode::SUCCESS);
    let dn = "cn=Bob 2,ou=Dynamic,o=Intranet";
    assert_eq!(
        client.modify(dn, &[(0, "description", &["one more"])]).code,
        ResultCode::ADMIN_LIMIT_EXCEEDED
    );
    assert_alive(&directory, &mut client);
}

#[test]
fn the_number_of_changes_of_a_modify_is_limited() {
    let (directory, mut client) = limited(r#""changes_per_modify": 10"#);
    let changes: Vec<(u8, &str, &[&str])> = vec![(2, "sn", &["x"]); 11];
    assert_eq!(client.modify(PERSON, &changes[..10]).code, ResultCode::SUCCESS);
    assert_eq!(client.modify(PERSON, &changes).code, ResultCode::ADMIN_LIMIT_EXCEEDED);
    assert_alive(&directory, &mut client);
}

#[test]
fn the_number_of_values_of_a_modify_is_limited() {
    let (directory, mut client) = limited(r#""values_per_modify": 10"#);
    let changes: Vec<(u8, &str, &[&str])> = vec![(2, "description", &["x", "y", "z"]); 4];
    assert_eq!(client.modify(PERSON, &changes[..3]).code, ResultCode::SUCCESS);
    assert_eq!(client.modify(PERSON, &changes).code, ResultCode::ADMIN_LIMIT_EXCEEDED);
    assert_alive(&directory, &mut client);
}

#[test]
fn the_number_of_connections_from_one_address_is_limited() {
    let directory =
        directory::start(crate::common::config(r#"{"limits": {"connections_per_address": 2}}"#), None);
    let directory = directory.unwrap();
    let mut inside: Vec<_> = (0..2).map(|_| Client::connect(directory.addr())).collect();
    assert!(inside.iter_mut().all(|client| client.bind("", "").code == ResultCode::SUCCESS));
    let mut third = Client::connect(directory.addr());
    let notice = third.done();
    assert_eq!((notice.id, notice.code), (0, ResultCode::UNAVAILABLE));
    assert!(notice.diagnostic.contains("this address"), "{}", notice.diagnostic);
    assert!(third.is_closed());
    // All addresses of 127.0.0.0/8 belong to this machine.
    let other = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    other.bind(&std::net::SocketAddr::from(([127, 0, 0, 2], 0)).into()).unwrap();
    other.connect(&directory.addr().into()).unwrap();
    let mut out = Vec::new();
    write_bind(&mut out, 1, 3, b"", b"");
    let mut other: std::net::TcpStream = other.into();
    std::io::Write::write_all(&mut other, &out).unwrap();
    let mut answer = [0; 14];
    std::io::Read::read_exact(&mut other, &mut answer).unwrap();
    assert_eq!(answer[5], op::BIND_RESPONSE);
    drop(inside.pop());
    let admitted = crate::common::eventually(|| {
        let mut client = Client::connect(directory.addr());
        let mut out = Vec::new();
        write_bind(&mut out, 1, 3, b"", b"");
        let _ = std::io::Write::write_all(&mut client.stream, &out);
        client.raw().is_some_and(|bytes| bytes[5] == op::BIND_RESPONSE)
    });
    assert!(admitted, "a place that is free again is given away");
}

#[test]
fn a_paged_search_beyond_the_limit_ends_the_oldest_paged_search() {
    let (directory, mut client) = limited(r#""paged_searches": 2"#);
    for name in ["Bob 2", "Cid 3", "Dan 4"] {
        client.add_person(name);
    }
    let page = |client: &mut Client, cookie: &[u8]| {
        let mut value = Vec::new();
        PagedResults { size: 1, cookie }.encode(&mut value);
        let mut controls = Vec::new();
        write_control(
            &mut controls,
            &Control { oid: oid::PAGED_RESULTS, critical: true, value: Some(&value) },
        );
        let mut out = Vec::new();
        Search {
            filter: filter(|out| write_equality(out, b"objectClass", b"RTPerson")),
            ..Search::default()
        }
        .write(&mut out, 9);
        client.send(&with_controls(&out, &controls));
        client.collect().1
    };
    let cookies: Vec<Vec<u8>> = (0..3)
        .map(|_| PagedResults::decode(&page(&mut client, b"").controls[0].1).unwrap().cookie.to_vec())
        .collect();
    assert_eq!(page(&mut client, &cookies[0]).code, ResultCode::UNWILLING_TO_PERFORM);
    assert_eq!(page(&mut client, &cookies[1]).code, ResultCode::SUCCESS);
    assert_eq!(page(&mut client, &cookies[2]).code, ResultCode::SUCCESS);
    assert_alive(&directory, &mut client);
}

#[test]
fn the_number_of_entries_returned_by_a_search_is_limited() {
    let (directory, mut client) = limited(r#""search_entries": 1"#);
    client.add_person("Bob 2");
    client.send(&search_for_all(5));
    let (found, done) = client.collect();
    assert_eq!((found.len(), done.code), (1, ResultCode::SIZE_LIMIT_EXCEEDED));
    assert_alive(&directory, &mut client);
}

#[test]
fn the_duration_of_a_search_is_limited() {
    let (directory, mut client) = limited(r#""search_s": 1"#);
    client.bind("", "");
    // 10 MB exceed the socket buffers several times.
    let filler = "x".repeat(200_000);
    for i in 0..50 {
        let name = format!("Bob {i}");
        let attributes: &[(&str, &[&str])] =
            &[("objectClass", &["RTPerson"]), ("cn", &[&name]), ("description", &[&filler])];
        client.add(&format!("cn={name},ou=Dynamic,o=Intranet"), attributes);
    }
    client.send(&search_for_all(5));
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let (found, done) = client.collect();
    assert_eq!(done.code, ResultCode::TIME_LIMIT_EXCEEDED, "after {} entries", found.len());
    assert_alive(&directory, &mut client);
}

#[test]
fn an_idle_connection_is_closed_after_the_configured_time() {
    let (directory, mut client) = limited(r#""idle_ms": 1500"#);
    assert!(client.is_closed());
    assert_eq!(Client::connect(directory.addr()).bind("", "").code, ResultCode::SUCCESS);
}

#[test]
fn message_limits_differ_before_and_after_a_bind() {
    let (directory, mut client) =
        limited(r#""message_bytes_before_bind": 1000, "message_bytes_after_bind": 2000"#);
    let person: &[(u8, &str, &[&str])] = &[(2, "userPassword", &["secret"])];
    assert_eq!(client.modify(PERSON, person).code, ResultCode::SUCCESS);
    let message = |bytes: usize| {
        let mut out = Vec::new();
        // The message also contains three bytes for the ID, four bytes before the ID, and four bytes before
        // the name.
        let name = format!("cn={},ou=Dynamic,o=Intranet", "x".repeat(bytes - 11 - 3 - 22));
        write_delete(&mut out, 7, name.as_bytes());
        assert_eq!(out.len(), bytes);
        out
    };
    for (bound, most) in [(false, 1000), (true, 2000)] {
        let enter = || {
            let mut client = Client::connect(directory.addr());
            assert!(!bound || client.bind(PERSON, "secret").code == ResultCode::SUCCESS);
            client
        };
        let mut within = enter();
        within.send(&message(most));
        assert_eq!(within.done().code, ResultCode::NO_SUCH_OBJECT);
        assert_alive(&directory, &mut within);
        let mut beyond = enter();
        beyond.send(&message(most + 1));
        let notice = beyond.done();
        assert_eq!((notice.id, notice.name.as_deref()), (0, Some(oid::NOTICE_OF_DISCONNECTION)));
        let diagnostic = format!("a message of {} bytes, over the limit of {most}", most + 1);
        assert_eq!((notice.code, notice.diagnostic), (ResultCode::PROTOCOL_ERROR, diagnostic));
        assert!(beyond.is_closed());
        assert_alive(&directory, &mut client);
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

#[test]
fn a_limit_out_of_range_is_a_startup_error() {
    for (limit, range) in [("name_bytes", "1 to 8192"), ("filter_depth", "1 to 64")] {
        let config = crate::common::config(&format!(r#"{{"limits": {{"{limit}": 10000}}}}"#));
        let error = directory::start(config, None).unwrap_err().to_string();
        assert!(error.contains(limit) && error.contains(range), "{error}");
    }
}
