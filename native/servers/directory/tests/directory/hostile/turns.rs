//! Hundreds of small requests that each take long, sent in one write or on a connection each: other clients
//! are served between them.

use std::time::{Duration, Instant};

use directory::Running;
use wire::ldap::filter::{Extensible, write_and, write_equality, write_extensible, write_or, write_present};
use wire::ldap::request::{write_bind, write_change, write_compare, write_modify, write_modify_dn};
use wire::ldap::{ResultCode, Scope};

use super::{GROUP, add_group, members};
use crate::common::{Attributes, Client, Search, filter, lookup, person};

const ANN: &str = "cn=Ann 1,ou=Dynamic,o=Intranet";

/// The number of lookups of the waiting client.
const LOOKUPS: usize = 12;

/// A directory with a group of these values and a person to look up, and a client.
fn serve(json: &str, attribute: &str, values: &[String]) -> (Running, Client) {
    let (directory, mut client) = crate::common::serve(json);
    if !values.is_empty() {
        add_group(&mut client, attribute, values);
    }
    assert_eq!(client.add_person("Ann 1").code, ResultCode::SUCCESS);
    (directory, client)
}

fn passwords(count: usize) -> Vec<String> {
    let hash = "A".repeat(84);
    (0..count).map(|i| format!("{{SHA512}}{i:04}{hash}")).collect()
}

/// A request for a search of the group alone.
fn search_group(filter: Vec<u8>, id: i32) -> Vec<u8> {
    Search { base: GROUP, scope: Scope::Base, filter, ..Search::default() }.message(id)
}

/// A filter of this many terms that match no member.
fn none_of(terms: usize) -> Vec<u8> {
    filter(|out| {
        write_or(out, |out| {
            (0..terms).for_each(|_| write_equality(out, b"uniqueMember", b"cn=nobody"));
        });
    })
}

/// Sends `count` requests in one write, numbered from `first`; returns how many were answered before another
/// client's lookups.
fn answered_first(
    directory: &Running,
    (first, count): (i32, i32),
    write: &dyn Fn(&mut Vec<u8>, i32),
) -> usize {
    let mut other = Client::connect(directory.addr());
    let mut hostile = Client::connect(directory.addr());
    let search = Search { filter: lookup("Ann 1"), ..Search::default() };
    assert_eq!(other.search(&search).0.len(), 1);
    let mut out = Vec::new();
    (first..first + count).for_each(|id| write(&mut out, id));
    assert!(out.len() < 64 << 10, "{} bytes are more than one read", out.len());
    hostile.send(&out);
    for _ in 0..LOOKUPS {
        assert_eq!(other.search(&search).0.len(), 1);
    }
    hostile.stream.set_nonblocking(true).unwrap();
    let mut room = vec![0; 1 << 20];
    let bytes = hostile.stream.peek(&mut room).unwrap_or(0);
    // An answer without text has 14 bytes, or a byte or two more with a longer message ID.
    bytes / 14
}

fn assert_served_between(kind: &str, directory: &Running, count: i32, write: &dyn Fn(&mut Vec<u8>, i32)) {
    // This thread may be scheduled late, but not in all five tries.
    let mut tries = (0..5).map(|at| answered_first(directory, (1 + at * count, count), write));
    let half = usize::try_from(count / 2).unwrap();
    assert!(
        tries.any(|answered| answered < half),
        "{kind} were answered before {LOOKUPS} lookups, each time"
    );
}

#[test]
fn other_clients_are_served_between_requests_on_a_large_group() {
    type WriteRequest = fn(&mut Vec<u8>, i32);
    let rows: [(&str, &str, Vec<String>, WriteRequest); 4] = [
        ("modifies", "uniqueMember", members(1_500), |out, id| {
            write_modify(out, id, GROUP.as_bytes(), |out| {
                write_change(out, 0, b"uniqueMember", [format!("cn=New {id}").as_bytes()]);
            });
        }),
        ("comparisons", "uniqueMember", members(5_000), |out, id| {
            write_compare(out, id, GROUP.as_bytes(), b"uniqueMember", b"cn=nobody");
        }),
        ("searches", "uniqueMember", members(5_000), |out, id| {
            let filter = filter(|out| write_equality(out, b"uniqueMember", b"cn=nobody"));
            out.extend(search_group(filter, id));
        }),
        ("binds", "userPassword", passwords(2_000), |out, id| {
            write_bind(out, id, 3, GROUP.as_bytes(), b"x");
        }),
    ];
    for (kind, attribute, values, write) in rows {
        let (directory, _) = serve("{}", attribute, &values);
        assert_served_between(kind, &directory, 300, &write);
    }
}

#[test]
fn other_clients_are_served_between_renames_of_a_container() {
    let (directory, mut client) = serve("{}", "", &[]);
    client.add("ou=Many,o=Intranet", &[("objectClass", &["organizationalUnit"]), ("ou", &["Many"])]);
    for i in 0..2_000 {
        let name = format!("P {i}");
        let person: Attributes<'_> = &[("objectClass", &["RTPerson"]), ("cn", &[&name])];
        client.add(&format!("cn={name},ou=Many,o=Intranet"), person);
    }
    assert_served_between("renames", &directory, 100, &|out, id| {
        let (from, to) = if id % 2 == 1 { ("Many", "Lots") } else { ("Lots", "Many") };
        let (from, to) = (format!("ou={from},o=Intranet"), format!("ou={to}"));
        write_modify_dn(out, id, from.as_bytes(), to.as_bytes(), true, None);
    });
}

/// Connections that send one request each.
const CROWD: usize = 200;

/// The number of lookups among the crowd's requests. The crowd gets half of the time, and each of its
/// requests takes as long as dozens of lookups.
const LOOKUPS_AMONG: usize = 400;

/// Returns how many of a crowd's requests were answered before another client's lookups.
fn crowd_answered_first(crowd: &mut [Client], request: &[u8], other: &mut Client) -> usize {
    let search = Search { filter: lookup("Ann 1"), ..Search::default() };
    crowd.iter_mut().for_each(|client| client.send(request));
    let begun = Instant::now();
    for _ in 0..LOOKUPS_AMONG {
        assert_eq!(other.search(&search).0.len(), 1);
    }
    let took = begun.elapsed();
    let answered = crowd.iter().filter(|client| client.has_answer()).count();
    println!("{answered} of {CROWD} answered before {LOOKUPS_AMONG} lookups, which took {took:?}");
    crowd.iter_mut().for_each(|client| drop(client.done()));
    answered
}

/// Asserts that another client gets turns between the requests of a crowd, first on new connections, then on
/// connections whose requests have taken long. On average, more than four lookups must be answered for each
/// request of the crowd. If each thread answered one such request in every turn, lookups and requests would
/// be equally many.
fn assert_served_between_a_crowd(kind: &str, directory: &Running, request: &[u8]) {
    let mut other = Client::connect(directory.addr());
    // This thread may be scheduled late, but not in all tries.
    let mut least = [CROWD; 2];
    for _ in 0..3 {
        let mut crowd: Vec<Client> = (0..CROWD).map(|_| Client::connect(directory.addr())).collect();
        for least in &mut least {
            *least = (*least).min(crowd_answered_first(&mut crowd, request, &mut other));
        }
        if least.iter().all(|least| *least < LOOKUPS_AMONG / 4) {
            return;
        }
    }
    panic!("{least:?} {kind} were answered before {LOOKUPS_AMONG} lookups, each time");
}

#[test]
fn other_clients_are_served_between_requests_of_many_clients() {
    type WriteRequest = fn(&mut Vec<u8>);
    let rows: [(&str, &str, Vec<String>, WriteRequest); 3] = [
        ("modifies", "uniqueMember", members(1_500), |out| {
            write_modify(out, 1, GROUP.as_bytes(), |out| {
                write_change(out, 2, b"description", [b"x".as_slice()]);
            });
        }),
        ("searches", "uniqueMember", members(2_000), |out| out.extend(search_group(none_of(10), 1))),
        ("binds", "userPassword", passwords(2_000), |out| write_bind(out, 1, 3, GROUP.as_bytes(), b"x")),
    ];
    for (kind, attribute, values, write) in rows {
        let (directory, _) = serve("{}", attribute, &values);
        assert_served_between_a_crowd(kind, &directory, &filter(write));
    }
}

/// Returns the longest lookup among a crowd's requests, in multiples of the duration of one of these requests
/// alone.
fn longest_among_a_crowd(directory: &Running, request: &[u8]) -> f64 {
    let mut alone = Client::connect(directory.addr());
    let takes = |client: &mut Client| {
        let begun = Instant::now();
        client.send(request);
        client.done();
        begun.elapsed()
    };
    let one = (0..5).map(|_| takes(&mut alone)).min().unwrap_or(Duration::MAX);
    let mut other = Client::connect(directory.addr());
    let mut crowd: Vec<Client> = (0..CROWD / 2).map(|_| Client::connect(directory.addr())).collect();
    crowd.iter_mut().for_each(|client| client.send(request));
    let search = Search { filter: lookup("Ann 1"), ..Search::default() };
    let mut look = || {
        let begun = Instant::now();
        assert_eq!(other.search(&search).0.len(), 1);
        begun.elapsed()
    };
    let longest = (0..LOOKUPS_AMONG).map(|_| look()).max().unwrap_or_default();
    crowd.iter_mut().for_each(|client| drop(client.done()));
    println!("{longest:?} at the longest, among requests of {one:?}");
    longest.as_secs_f64() / one.as_secs_f64()
}

/// An ILS refresh search for a user writes, so it holds the store lock. The server finds out that a request
/// takes long only during the request, so all requests of a crowd may begin at once; they finish one at a
/// time.
#[test]
fn other_clients_are_served_between_ils_refresh_searches() {
    let (directory, _) = serve(r#"{"profile": "ils"}"#, "uniqueMember", &members(5_000));
    let refreshing = filter(|out| {
        write_and(out, |out| {
            write_equality(out, b"cn", b"Group");
            write_equality(out, b"sttl", b"10");
            out.extend_from_slice(&none_of(20));
        });
    });
    let request = search_group(refreshing, 1);
    // This thread may be scheduled late, but not in all three tries.
    let mut tries = (0..3).map(|_| longest_among_a_crowd(&directory, &request));
    assert!(tries.any(|longest| longest < 12.0), "a lookup waits for many of them, each time");
}

const AD: &str = r#"{"profile": "ad"}"#;
const IN_CHAIN: &[u8] = b"1.2.840.113556.1.4.1941";

#[test]
fn other_clients_are_served_between_searches_for_members_of_nested_groups() {
    let (directory, mut client) = serve(AD, "", &[]);
    for i in 0..400 {
        let label = format!("group {i}");
        let attributes: Attributes<'_> = &[
            ("objectClass", &["group"]),
            ("cn", &[&label]),
            ("member", &[&person(&format!("group {}", i + 1))]),
        ];
        assert_eq!(client.add(&person(&label), attributes).code, ResultCode::SUCCESS);
    }
    let innermost = person("group 400");
    let rule = Extensible {
        rule: Some(IN_CHAIN),
        attribute: Some(b"member"),
        value: innermost.as_bytes(),
        dn_attributes: false,
    };
    let in_chain = filter(|out| write_extensible(out, &rule));
    let (groups, done) = client.search(&Search { filter: in_chain.clone(), ..Search::default() });
    assert_eq!((groups.len(), done.code), (400, ResultCode::SUCCESS));
    let none = filter(|out| {
        write_and(out, |out| {
            out.extend_from_slice(&in_chain);
            write_equality(out, b"cn", b"nobody");
            write_equality(out, b"displayName", b"nobody");
        })
    });
    let any = filter(|out| write_or(out, |out| (0..8).for_each(|_| out.extend_from_slice(&in_chain))));
    for filter in [none, any] {
        assert_served_between("searches", &directory, 90, &|out, id| {
            let filter = filter.clone();
            let search = Search { filter, size_limit: 1, attributes: &["1.1"], ..Search::default() };
            out.extend(search.message(id));
        });
    }
}

#[test]
fn other_clients_are_served_between_requests_for_the_groups_of_a_person() {
    // The group lists the person last, with a name in another spelling.
    let values = [members(5_000), vec!["CN = Ann 1 , OU=Dynamic , O=Intranet".to_owned()]].concat();
    let (directory, _) = serve(AD, "member", &values);
    assert_served_between("searches", &directory, 300, &|out, id| {
        let search = Search { filter: lookup("Ann 1"), attributes: &["memberOf"], ..Search::default() };
        out.extend(search.message(id));
    });
    assert_served_between("comparisons", &directory, 300, &|out, id| {
        write_compare(out, id, ANN.as_bytes(), b"memberOf", GROUP.as_bytes());
    });
}

#[test]
fn a_search_for_groups_that_takes_too_long_is_refused() {
    // Fifty groups of a thousand names each, which have to be normalised before a comparison.
    let (_directory, mut client) = serve(AD, "", &[]);
    let wide: Vec<String> = (0..1_000).map(|i| format!("cn={}{i}", "\u{fdfa}".repeat(8))).collect();
    let mut values: Vec<&str> = wide.iter().map(String::as_str).collect();
    values.push("CN = Ann 1 , OU=Dynamic , O=Intranet");
    for i in 0..50 {
        let name = format!("group {i}");
        let attributes: Attributes<'_> =
            &[("objectClass", &["group"]), ("cn", &[&name]), ("member", &values)];
        assert_eq!(client.add(&person(&name), attributes).code, ResultCode::SUCCESS);
    }
    for attributes in [&["memberOf"][..], &["*"]] {
        let (entries, done) =
            client.search(&Search { filter: lookup("Ann 1"), attributes, ..Search::default() });
        assert_eq!((entries.len(), done.code), (0, ResultCode::ADMIN_LIMIT_EXCEEDED));
    }
    let compared = client.compare(ANN, "memberOf", &person("group 1"));
    assert_eq!(compared, ResultCode::ADMIN_LIMIT_EXCEEDED);
    let is_member = filter(|out| write_present(out, b"memberOf"));
    let (_, done) = client.search(&Search { base: ANN, filter: is_member, ..Search::default() });
    assert_eq!(done.code, ResultCode::ADMIN_LIMIT_EXCEEDED);
    let (entries, _) = client.search(&Search { base: ANN, attributes: &["cn"], ..Search::default() });
    assert_eq!(entries.len(), 1);
}
