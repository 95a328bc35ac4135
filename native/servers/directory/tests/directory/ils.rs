//! The session of an Internet Locator Server's user, as NetMeeting sends it.

use std::time::Duration;

use crate::common::{Attributes, Client, Entry, Search, config, eventually, filter, serve_suffix};
use directory::{Ahead, Clock, Running};
use wire::ber::{self, Reader, tag};
use wire::ldap::filter as f;
use wire::ldap::request::{write_add, write_attribute, write_refresh_value};
use wire::ldap::{ResultCode, Scope, oid};

const ANN: &str = "c=-,o=Microsoft,cn=ann@example.com,objectClass=rtPerson";
const STORED: &str = "cn=ann@example.com,ou=Dynamic,o=Intranet";

fn serve(json: &str) -> (Running, Client, Ahead) {
    let (clock, ahead) = Clock::adjustable();
    let directory = directory::start_with(config(json), None, None, clock).unwrap();
    let client = Client::connect(directory.addr());
    (directory, client, ahead)
}

fn ils() -> (Running, Client, Ahead) {
    serve(r#"{"profile": "ils"}"#)
}

/// An ILS at which Ann is registered.
fn registered() -> (Running, Client, Ahead) {
    let (directory, mut client, ahead) = ils();
    assert_eq!(register(&mut client), ResultCode::SUCCESS);
    (directory, client, ahead)
}

fn register(client: &mut Client) -> ResultCode {
    client
        .add(
            ANN,
            &[
                ("cn", &["ann@example.com"]),
                ("givenname", &["Ann"]),
                ("surname", &["Example"]),
                ("rfc822mailbox", &["ann@example.com"]),
                ("location", &["Oslo"]),
                ("comment", &["back soon"]),
                ("c", &["NO"]),
                ("sipaddress", &["1613317642"]),
                ("sflags", &["1"]),
                ("ssecurity", &["3162"]),
                ("ilsA26214430", &["0"]),
                ("ilsA26279966", &["67371266"]),
                ("ilsA32833566", &["0"]),
                ("ilsA32964638", &["0"]),
                ("ilsA39321630", &["1"]),
            ],
        )
        .code
}

fn find(client: &mut Client, base: &str, name: &str, sttl: Option<&str>) -> Vec<Entry> {
    let filter = filter(|out| {
        f::write_and(out, |out| {
            f::write_equality(out, b"objectClass", b"rtPerson");
            f::write_equality(out, b"cn", name.as_bytes());
            if let Some(minutes) = sttl {
                f::write_equality(out, b"sttl", minutes.as_bytes());
            }
        });
    });
    let (entries, done) = client.search(&Search { base, scope: Scope::Base, filter, ..Search::default() });
    assert_eq!(done.code, ResultCode::SUCCESS);
    entries
}

fn find_ann(client: &mut Client, sttl: Option<&str>) -> Vec<Entry> {
    find(client, "objectClass=rtPerson", "ann@example.com", sttl)
}

#[test]
fn an_ils_user_registers_announces_an_application_and_unregisters() {
    let (_directory, mut client, _) = ils();
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
    assert_eq!(register(&mut client), ResultCode::SUCCESS);
    assert_eq!(register(&mut client), ResultCode::ENTRY_ALREADY_EXISTS);
    let announced: &[(u8, &str, &[&str])] = &[
        (0, "smodop", &["0"]),
        (0, "sappid", &["ms-netmeeting"]),
        (0, "smimetype", &["text/iuls"]),
        (0, "sprotid", &["T120", "H323"]),
        (0, "sport", &["1503", "1720"]),
    ];
    assert_eq!(client.modify(ANN, announced).code, ResultCode::SUCCESS);
    // A repeated announcement is no error; it updates the application.
    assert_eq!(client.modify(ANN, announced).code, ResultCode::SUCCESS);
    let entries = find_ann(&mut client, None);
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].dn, ANN);
    assert_eq!(entries[0].values("sPort"), ["1503", "1720"]);
    let removed: &[(u8, &str, &[&str])] =
        &[(0, "smodop", &["1"]), (0, "sappid", &["ms-netmeeting"]), (0, "sport", &["1503", "1720"])];
    assert_eq!(client.modify(ANN, removed).code, ResultCode::SUCCESS);
    let entries = find_ann(&mut client, None);
    assert!(entries[0].values("sPort").is_empty());
    assert_eq!(client.delete(ANN).code, ResultCode::SUCCESS);
    assert!(find_ann(&mut client, None).is_empty());
}

#[test]
fn a_user_has_two_names_and_is_returned_under_the_requested_name() {
    let (_directory, mut client, _) = registered();
    let mut dn = |base| client.read(base, &[]).unwrap().dn;
    assert_eq!(dn(ANN), ANN);
    assert_eq!(dn("cn=ann@example.com,objectClass=RTPerson"), ANN);
    assert_eq!(dn(STORED), STORED);
    assert_eq!(client.compare(ANN, "location", "oslo"), ResultCode::COMPARE_TRUE);
    assert_eq!(client.compare(STORED, "location", "oslo"), ResultCode::COMPARE_TRUE);
    assert_eq!(client.delete(STORED).code, ResultCode::SUCCESS);
    assert_eq!(client.delete(ANN).code, ResultCode::NO_SUCH_OBJECT);
}

#[test]
fn a_percent_sign_lists_all_users_in_any_scope() {
    let (_directory, mut client, _) = registered();
    client.add("cn=bob@example.com,objectClass=rtPerson", &[("cn", &["bob@example.com"])]);
    assert_eq!(find(&mut client, "objectClass=rtPerson", "%", None).len(), 2);
    assert_eq!(find(&mut client, "ou=Dynamic,o=Intranet", "%", None).len(), 2);
    assert_eq!(find(&mut client, "objectClass=rtPerson", "bob%", None).len(), 1);
    // A search for the container itself still works.
    let container = "ou=Dynamic,o=Intranet";
    assert_eq!(client.read(container, &[]).unwrap().dn, container);
}

#[test]
fn returned_attributes_have_the_requested_names_and_order() {
    let (_directory, mut client, _) = registered();
    let attributes = ["sFlags", "SIPADDRESS", "rfc822mailbox", "surname"];
    let entry = client.read(ANN, &attributes).unwrap();
    assert_eq!(entry.names(), attributes);
    assert_eq!(entry.values("SIPADDRESS"), ["1613317642"]);
}

#[test]
fn a_user_without_a_refresh_expires_after_ten_minutes_and_not_before() {
    let (_directory, mut client, ahead) = registered();
    ahead.advance(Duration::from_secs(598));
    assert_eq!(find_ann(&mut client, None).len(), 1);
    ahead.advance(Duration::from_secs(3));
    assert!(find_ann(&mut client, None).is_empty());
    assert_eq!(register(&mut client), ResultCode::SUCCESS, "a user that is gone can register again");
}

#[test]
fn a_search_with_sttl_refreshes_a_user() {
    let (_directory, mut client, ahead) = registered();
    for _ in 0..5 {
        ahead.advance(Duration::from_secs(500));
        let entries = find_ann(&mut client, Some("10"));
        assert_eq!((entries.len(), entries[0].dn.as_str()), (1, ANN));
    }
    // The user now expires after one minute, instead of after the remainder of the ten minutes.
    assert_eq!(find_ann(&mut client, Some("1")).len(), 1);
    ahead.advance(Duration::from_secs(58));
    assert_eq!(find_ann(&mut client, None).len(), 1);
    ahead.advance(Duration::from_secs(3));
    let entries = find_ann(&mut client, Some("10"));
    assert!(entries.is_empty(), "none found means: register again");
}

#[test]
fn a_search_with_a_wildcard_refreshes_no_user() {
    let (_directory, mut client, ahead) = registered();
    ahead.advance(Duration::from_secs(500));
    assert_eq!(find(&mut client, "objectClass=rtPerson", "%", Some("10")).len(), 1);
    ahead.advance(Duration::from_secs(200));
    assert!(find(&mut client, "objectClass=rtPerson", "%", None).is_empty());
}

fn entry_ttl(client: &mut Client) -> u32 {
    client.read(STORED, &["entryTtl"]).unwrap().values("entryTtl")[0].parse().unwrap()
}

#[test]
fn the_ttl_is_in_seconds_as_entry_ttl_and_in_minutes_as_sttl() {
    let (_directory, mut client, ahead) = registered();
    let minutes = |client: &mut Client| {
        let entry = client.read(ANN, &["cn", "sTTL"]).unwrap();
        assert_eq!(entry.names(), ["cn", "sTTL"]);
        entry.values("sTTL")[0].to_owned()
    };
    assert!((595..=600).contains(&entry_ttl(&mut client)));
    assert_eq!(minutes(&mut client), "10");
    ahead.advance(Duration::from_secs(90));
    assert!((505..=510).contains(&entry_ttl(&mut client)));
    assert_eq!(minutes(&mut client), "9");
    assert_eq!(client.modify(STORED, &[(2, "entryTTL", &["1000"])]).code, ResultCode::SUCCESS);
    assert!((995..=1000).contains(&entry_ttl(&mut client)));
    assert_eq!(client.modify(ANN, &[(2, "sttl", &["2"])]).code, ResultCode::SUCCESS);
    assert!((115..=120).contains(&entry_ttl(&mut client)));
}

#[test]
fn a_registration_may_set_its_ttl() {
    let (_directory, mut client, _) = ils();
    let added = client.add(ANN, &[("cn", &["ann@example.com"]), ("sttl", &["30"])]);
    assert_eq!(added.code, ResultCode::SUCCESS);
    assert!((1795..=1800).contains(&entry_ttl(&mut client)));
}

const DYNAMIC: Attributes<'_> =
    &[("objectClass", &["person", "dynamicObject"]), ("cn", &["Ann"]), ("sn", &["A"]), ("entryTtl", &["60"])];

#[test]
fn dynamic_entries_are_refreshed_in_every_profile() {
    let (_directory, mut client, ahead) = serve("{}");
    let ann = "cn=Ann,o=Intranet";
    assert_eq!(client.add(ann, DYNAMIC).code, ResultCode::SUCCESS);
    ahead.advance(Duration::from_secs(50));
    let value = filter(|out| write_refresh_value(out, ann.as_bytes(), 90));
    let answer = client.extended(oid::REFRESH, Some(&value));
    assert_eq!((answer.code, answer.name.as_deref()), (ResultCode::SUCCESS, Some(oid::REFRESH)));
    let response = answer.value.unwrap();
    let mut fields = Reader::new(&response).sequence().unwrap();
    assert_eq!(fields.integer(tag::context(1)), Ok(90));
    ahead.advance(Duration::from_secs(88));
    assert!(client.read(ann, &[]).is_some());
    ahead.advance(Duration::from_secs(3));
    assert!(client.read(ann, &[]).is_none());
    let late = client.extended(oid::REFRESH, Some(&value));
    assert_eq!(late.code, ResultCode::NO_SUCH_OBJECT);
}

#[test]
fn an_invalid_refresh_is_refused() {
    let (_directory, mut client, _) = serve("{}");
    let refresh = |ttl_s| filter(|out| write_refresh_value(out, b"o=Intranet", ttl_s));
    for (value, code) in [
        (Some(refresh(90)), ResultCode::OBJECT_CLASS_VIOLATION),
        (Some(refresh(0)), ResultCode::PROTOCOL_ERROR),
        (None, ResultCode::PROTOCOL_ERROR),
    ] {
        let answer = client.extended(oid::REFRESH, value.as_deref());
        assert_eq!(answer.code, code, "{value:?}: {answer:?}");
    }
}

#[test]
fn a_server_that_uses_the_system_clock_removes_an_expired_entry() {
    let (directory, mut client) = serve_suffix("{}");
    let attributes = [&DYNAMIC[..3], &[("entryTtl", &["2"])]].concat();
    assert_eq!(client.add("cn=Ann,o=Intranet", &attributes).code, ResultCode::SUCCESS);
    let entries = directory.stats().entries;
    std::thread::sleep(Duration::from_millis(900));
    assert_eq!(directory.stats().entries, entries);
    // The server removes the entry; it does not merely hide the entry.
    assert!(eventually(|| directory.stats().served.expired == 1));
    assert_eq!(directory.stats().entries, entries - 1);
}

#[test]
fn latin_1_text_of_old_clients_is_accepted() {
    let (_directory, mut client, _) = ils();
    let added = client.request(|out| {
        write_add(out, 30, b"cn=bj\xf6rn,objectClass=rtPerson", |out| {
            ber::write_nested(out, tag::SEQUENCE, |out| {
                write_attribute(out, b"cn", [&b"bj\xf6rn"[..]]);
                write_attribute(out, b"location", [&b"Malm\xf6"[..]]);
            });
        });
    });
    assert_eq!(added.code, ResultCode::SUCCESS);
    let filter = filter(|out| f::write_equality(out, b"cn", b"BJ\xf6rn"));
    client.send(&Search { base: "objectClass=rtPerson", filter, ..Search::default() }.message(31));
    let entry = client.raw().unwrap();
    for value in [&b"bj\xf6rn"[..], b"Malm\xf6"] {
        assert!(entry.windows(value.len()).any(|bytes| bytes == value));
    }
}

#[test]
fn empty_values_sent_by_a_1997_client_are_dropped() {
    for class in ["", "RTPerson"] {
        let (_directory, mut client, _) = ils();
        let attributes: Attributes<'_> = &[
            ("objectClass", &[class]),
            ("cn", &["ann@example.com"]),
            ("comment", &[""]),
            ("sn", &["", "A"]),
            ("entryTtl", &[""]),
            ("sttl", &[""]),
        ];
        let added = client.add(ANN, attributes);
        assert_eq!(added.code, ResultCode::SUCCESS, "{added:?}");
        let attributes = &["objectClass", "comment", "sn", "entryTtl"];
        let (entries, _) = client.search(&Search { base: ANN, attributes, ..Search::default() });
        assert_eq!((entries[0].values("comment").len(), entries[0].values("sn")), (0, vec!["A"]));
        // Without a class, the class and the time to live are the defaults of a user.
        let is_dynamic = entries[0].values("objectClass").contains(&"dynamicObject");
        let has_ttl = !entries[0].values("entryTtl").is_empty();
        assert_eq!([is_dynamic, has_ttl], [class.is_empty(); 2], "{entries:?}");
    }
}
