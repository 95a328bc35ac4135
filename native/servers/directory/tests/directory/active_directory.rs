//! The limits of an Active Directory domain controller, which the profile `ad` enforces.

use crate::common::{Client, Search, serve, serve_people, trusting};
use directory::Running;
use wire::ldap::{ResultCode, Scope};

const AD: &str = r#"{"profile": "ad"}"#;
const GROUP: &str = "cn=everyone,ou=Dynamic,o=Intranet";

fn with_group(json: &str, count: usize) -> (Running, Client) {
    let (directory, mut client) = serve(json);
    let members: Vec<String> = (0..count).map(|i| format!("cn=Person {i},ou=Dynamic,o=Intranet")).collect();
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    let attributes =
        [("objectClass", &["group"][..]), ("cn", &["everyone"][..]), ("member", members.as_slice())];
    assert_eq!(client.add(GROUP, &attributes).code, ResultCode::SUCCESS);
    (directory, client)
}

#[test]
fn a_search_without_paging_ends_after_a_thousand_entries() {
    let search = |client: &mut Client, size_limit| {
        let search = Search { scope: Scope::One, size_limit, ..Search::default() };
        let (entries, done) = client.search(&search);
        (entries.len(), done.code)
    };
    let (_directory, mut client) = serve_people(AD, 1_001);
    assert_eq!(search(&mut client, 0), (1_000, ResultCode::SIZE_LIMIT_EXCEEDED));
    // A larger size limit of the client has no effect; a smaller one has.
    assert_eq!(search(&mut client, 5_000).0, 1_000);
    assert_eq!(search(&mut client, 7).0, 7);
    client.delete("cn=Person 0,ou=Dynamic,o=Intranet");
    assert_eq!(search(&mut client, 0), (1_000, ResultCode::SUCCESS));
    let (_directory, mut client) = serve_people("{}", 1_001);
    assert_eq!(search(&mut client, 0), (1_001, ResultCode::SUCCESS));
}

#[test]
fn a_page_has_at_most_a_thousand_entries_whatever_size_is_requested() {
    let (_directory, mut client) = serve_people(AD, 2_099);
    for size in [5_000, 0] {
        let pages = client.pages(size, 5_000);
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [1_000, 1_000, 100]);
    }
}

#[test]
fn more_than_1500_values_are_returned_in_ranges() {
    let (_directory, mut client) = with_group(AD, 3_200);
    let mut ask = |attributes: &[&str]| client.read(GROUP, attributes).unwrap();
    // The search requests all attributes, or only the attribute with ranges.
    for attributes in [&[][..], &["member"], &["*"]] {
        let entry = ask(attributes);
        let first = entry.values("member;range=0-1499");
        assert_eq!((first.len(), first[1_499]), (1_500, "cn=Person 1499,ou=Dynamic,o=Intranet"));
        assert!(entry.values("member").is_empty());
    }
    let entry = ask(&["member;range=1500-*"]);
    assert_eq!(entry.names(), ["member;range=1500-2999"]);
    assert_eq!(entry.values("member;range=1500-2999")[0], "cn=Person 1500,ou=Dynamic,o=Intranet");
    assert_eq!(ask(&["cn", "member;range=3000-4499"]).values("member;range=3000-*").len(), 200);
    assert_eq!(ask(&["member;range=10-19"]).values("member;range=10-19").len(), 10);
    assert!(ask(&["member;range=3200-*"]).names().is_empty());
}

#[test]
fn values_are_returned_in_ranges_only_by_profile_ad_and_only_beyond_1500() {
    let (_directory, mut client) = with_group(AD, 1_500);
    assert_eq!(client.read(GROUP, &[]).unwrap().values("member").len(), 1_500);
    let (_directory, mut client) = with_group("{}", 1_501);
    assert_eq!(client.read(GROUP, &[]).unwrap().values("member").len(), 1_501);
}

#[test]
fn a_password_can_only_be_set_over_tls() {
    let (directory, mut clear) = serve(r#"{"profile": "ad", "tls": {"start": true}}"#);
    let name = "cn=A,ou=Dynamic,o=Intranet";
    let user = [("objectClass", &["user"][..]), ("cn", &["A"][..])];
    let with_password = [user[0], user[1], ("UnicodePwd", &["\"\0p\0\"\0"][..])];
    let refused = clear.add(name, &with_password);
    assert_eq!(refused.code, ResultCode::UNWILLING_TO_PERFORM);
    assert_eq!(refused.diagnostic, "unicodePwd is set over TLS alone; use ldaps, or StartTLS");
    // The refused add wrote nothing; the same add without a password succeeds.
    assert_eq!(clear.add(name, &user).code, ResultCode::SUCCESS);
    let change = [(2, "unicodePwd", &["\"\0q\0\"\0"][..])];
    assert_eq!(clear.modify(name, &change).code, ResultCode::UNWILLING_TO_PERFORM);
    let mut secured = clear.secured(&trusting(&directory));
    assert_eq!(secured.modify(name, &change).code, ResultCode::SUCCESS);
    assert_eq!(secured.add("cn=B,ou=Dynamic,o=Intranet", &with_password).code, ResultCode::SUCCESS);
}
