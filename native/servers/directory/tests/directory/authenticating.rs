//! Binds, passwords, and the identity of a client after a bind.

use crate::common::{Client, Search, filter, serve_alone};
use directory::Running;
use wire::ber::{self, Reader, tag};
use wire::ldap::control::{Control, PagedResults, write_control};
use wire::ldap::{ResultCode, oid, op};

const ANN: &str = "cn=Ann,ou=Dynamic,o=Intranet";

fn with_ann() -> (Running, Client) {
    let directory = serve_alone(r#"{}"#);
    let mut client = Client::connect(directory.addr());
    let attributes: &[(&str, &[&str])] =
        &[("objectClass", &["person"]), ("cn", &["Ann"]), ("sn", &["A"]), ("userPassword", &["secret"])];
    assert_eq!(client.add(ANN, attributes).code, ResultCode::SUCCESS);
    (directory, client)
}

fn who_am_i(client: &mut Client) -> String {
    let answer = client.extended(oid::WHO_AM_I, None);
    assert_eq!((answer.tag, answer.code), (op::EXTENDED_RESPONSE, ResultCode::SUCCESS));
    String::from_utf8(answer.value.unwrap()).unwrap()
}

#[test]
fn an_entry_binds_with_its_password() {
    let (_directory, mut client) = with_ann();
    assert_eq!(who_am_i(&mut client), "");
    assert_eq!(client.bind("CN=ann,OU=Dynamic,O=Intranet", "secret").code, ResultCode::SUCCESS);
    assert_eq!(who_am_i(&mut client), format!("dn:{ANN}"));
    assert_eq!(client.bind(ANN, "Secret").code, ResultCode::INVALID_CREDENTIALS);
    assert_eq!(who_am_i(&mut client), "", "a failed bind leaves the client anonymous");
    assert_eq!(client.bind("cn=nobody,o=Intranet", "secret").code, ResultCode::INVALID_CREDENTIALS);
}

#[test]
fn a_bind_with_a_name_and_no_password_is_refused() {
    let (_directory, mut client) = with_ann();
    assert_eq!(client.bind(ANN, "").code, ResultCode::UNWILLING_TO_PERFORM);
    assert_eq!(who_am_i(&mut client), "");
}

#[test]
fn unsupported_ldap_versions_and_bind_methods_get_different_result_codes() {
    let (_directory, mut client) = with_ann();
    let version = client.request(|out| wire::ldap::request::write_bind(out, 60, 4, b"", b""));
    assert_eq!((version.tag, version.code), (op::BIND_RESPONSE, ResultCode::PROTOCOL_ERROR));
    let sasl = b"\x30\x13\x02\x01\x3d\x60\x0e\x02\x01\x03\x04\x00\xa3\x07\x04\x05OTHER";
    let answer = client.request(|out| out.extend_from_slice(sasl));
    assert_eq!((answer.id, answer.code), (61, ResultCode::AUTH_METHOD_NOT_SUPPORTED));
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
}

#[test]
fn searches_never_return_passwords() {
    let (_directory, mut client) = with_ann();
    client.add_person("Bob");
    let mut seen = |attributes: &[&str]| {
        let (found, done) = client.search(&Search { attributes, ..Search::default() });
        assert_eq!((found.len(), done.code), (3, ResultCode::SUCCESS));
        found.iter().any(|entry| !entry.values("userPassword").is_empty())
    };
    assert!(!seen(&[]));
    assert!(!seen(&["*", "+"]));
    assert!(!seen(&["userPassword"]));
    assert!(!seen(&["2.5.4.35"]));
    let probe = filter(|out| {
        let piece = wire::ldap::filter::Piece::Initial(b"s");
        wire::ldap::filter::write_substrings(out, b"userPassword", [piece]);
    });
    let (found, done) = client.search(&Search { filter: probe, ..Search::default() });
    assert_eq!((found.len(), done.code), (0, ResultCode::INSUFFICIENT_ACCESS_RIGHTS));
    assert_eq!(client.compare(ANN, "userPassword", "secret"), ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
}

fn password_modify(user: Option<&str>, old: Option<&str>, new: Option<&str>) -> Vec<u8> {
    let mut value = Vec::new();
    ber::write_nested(&mut value, tag::SEQUENCE, |out| {
        for (number, field) in [user, old, new].into_iter().enumerate() {
            if let Some(field) = field {
                ber::write_element(out, tag::context(number as u8), field.as_bytes());
            }
        }
    });
    value
}

#[test]
fn a_user_replaces_the_old_password_by_a_chosen_or_a_generated_password() {
    let (_directory, mut client) = with_ann();
    let change = |client: &mut Client, user, old, new| {
        client.extended(oid::PASSWORD_MODIFY, Some(&password_modify(user, old, new)))
    };
    client.bind(ANN, "secret");
    let refused = change(&mut client, Some(ANN), Some("wrong"), Some("new"));
    assert_eq!(refused.code, ResultCode::UNWILLING_TO_PERFORM);
    let changed = change(&mut client, None, Some("secret"), Some("new"));
    assert_eq!((changed.code, changed.value), (ResultCode::SUCCESS, None));
    assert_eq!(client.bind(ANN, "secret").code, ResultCode::INVALID_CREDENTIALS);
    assert_eq!(client.bind(ANN, "new").code, ResultCode::SUCCESS);
    let made_up = change(&mut client, Some(&format!("dn:{ANN}")), Some("new"), None).value.unwrap();
    let password = Reader::new(&made_up).sequence().unwrap().expect(0x80).unwrap();
    let password = std::str::from_utf8(password).unwrap().to_owned();
    assert_eq!(client.bind(ANN, &password).code, ResultCode::SUCCESS);
}

#[test]
fn the_administrator_can_set_and_read_passwords_of_users() {
    let json = r#"{"admin_dn": "cn=admin,o=Intranet", "admin_password": "root"}"#;
    let directory = directory::start(crate::common::config(json), None).unwrap();
    let mut client = Client::connect(directory.addr());
    client.bind("cn=admin,o=Intranet", "root");
    assert_eq!(who_am_i(&mut client), "dn:cn=admin,o=Intranet");
    let ann = "cn=Ann,o=Intranet";
    client.add(ann, &[("objectClass", &["person"]), ("cn", &["Ann"]), ("sn", &["A"])]);
    let set = |client: &mut Client, old, new| {
        client.extended(oid::PASSWORD_MODIFY, Some(&password_modify(Some(ann), old, Some(new)))).code
    };
    assert_eq!(set(&mut client, None, "one"), ResultCode::SUCCESS);
    let (found, _) = client.search(&Search { base: ann, ..Search::default() });
    let stored = found[0].values("userPassword")[0];
    assert!(stored.starts_with("{SSHA256}"), "the administrator sees the hash");
    client.bind("", "");
    assert_eq!(set(&mut client, Some("one"), "two"), ResultCode::STRONGER_AUTH_REQUIRED);
    client.bind(ann, "one");
    assert_eq!(set(&mut client, Some("one"), "two"), ResultCode::SUCCESS);
    assert_eq!(client.bind(ann, "two").code, ResultCode::SUCCESS);
    assert_eq!(set(&mut client, Some("one"), "three"), ResultCode::UNWILLING_TO_PERFORM);
    assert_eq!(set(&mut client, None, "three"), ResultCode::SUCCESS, "bound, so the password is known");
    assert_eq!(client.bind(ann, "three").code, ResultCode::SUCCESS);
    assert_eq!(client.bind("cn=admin,o=Intranet", "two").code, ResultCode::INVALID_CREDENTIALS);
}

#[test]
fn unknown_extended_operations_are_protocol_errors() {
    let (_directory, mut client) = with_ann();
    for name in [oid::START_TLS, b"1.2.3"] {
        let answer = client.extended(name, None);
        assert_eq!((answer.tag, answer.code), (op::EXTENDED_RESPONSE, ResultCode::PROTOCOL_ERROR));
    }
}

#[test]
fn the_debug_output_of_a_configuration_omits_its_password() {
    let config = crate::common::config(r#"{"admin_dn": "cn=a", "admin_password": "hush"}"#);
    assert!(!format!("{config:?}").contains("hush"));
}

/// Returns a page of one entry and the cookie for the next page.
fn page(client: &mut Client, cookie: &[u8]) -> (crate::common::Found, Vec<u8>) {
    let mut value = Vec::new();
    PagedResults { size: 1, cookie }.encode(&mut value);
    let mut controls = Vec::new();
    write_control(&mut controls, &Control { oid: oid::PAGED_RESULTS, critical: false, value: Some(&value) });
    let (mut found, done) = client.search(&Search { controls, ..Search::default() });
    assert_eq!(done.code, ResultCode::SUCCESS);
    let value = &done.controls[0].1;
    (found.remove(0), PagedResults::decode(value).unwrap().cookie.to_vec())
}

#[test]
fn a_search_that_began_before_the_first_password_was_set_returns_no_password() {
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    client.add_person("Bob");
    let (_, cookie) = page(&mut client, b"");
    let mut other = Client::connect(directory.addr());
    let attributes: &[(&str, &[&str])] =
        &[("objectClass", &["person"]), ("cn", &["Ann"]), ("sn", &["A"]), ("userPassword", &["secret"])];
    assert_eq!(other.add(ANN, attributes).code, ResultCode::SUCCESS);
    let (_, cookie) = page(&mut client, &cookie);
    let (ann, _) = page(&mut client, &cookie);
    assert_eq!((ann.dn.as_str(), ann.values("userPassword").len()), (ANN, 0));
}

#[test]
fn a_password_as_part_of_a_name_is_refused() {
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    let eve: &[(&str, &[&str])] = &[("objectClass", &["person"]), ("cn", &["Eve"]), ("sn", &["E"])];
    let (dn, rdn) = ("cn=Eve,ou=Dynamic,o=Intranet", "userPassword=secret");
    assert_eq!(client.add(dn, eve).code, ResultCode::SUCCESS);
    for rdn in [rdn, "cn=Eve+2.5.4.35=secret"] {
        let named = format!("{rdn},ou=Dynamic,o=Intranet");
        assert_eq!(client.add(&named, eve).code, ResultCode::NAMING_VIOLATION, "{rdn}");
        let listed = [eve, &[("userPassword", &["secret"])]].concat();
        assert_eq!(client.add(&named, &listed).code, ResultCode::NAMING_VIOLATION, "{rdn}");
        let renamed = client.request(|out| {
            wire::ldap::request::write_modify_dn(out, 9, dn.as_bytes(), rdn.as_bytes(), false, None);
        });
        assert_eq!(renamed.code, ResultCode::NAMING_VIOLATION, "{rdn}");
    }
    let (found, _) = client.search(&Search { base: dn, ..Search::default() });
    assert_eq!(found.len(), 1);
}

#[test]
fn an_anonymous_client_cannot_change_a_password() {
    for json in ["{}", r#"{"require_bind": true}"#, r#"{"admin_dn": "cn=admin", "admin_password": "root"}"#] {
        let directory = directory::start(crate::common::config(json), None).unwrap();
        let mut client = Client::connect(directory.addr());
        let set = |client: &mut Client, old| {
            let value = password_modify(Some("o=Intranet"), old, Some("new"));
            client.extended(oid::PASSWORD_MODIFY, Some(&value)).code
        };
        // RFC 3062 section 2: anonymous clients cannot use the operation.
        assert_eq!(set(&mut client, None), ResultCode::STRONGER_AUTH_REQUIRED, "{json}");
        assert_eq!(set(&mut client, Some("x")), ResultCode::STRONGER_AUTH_REQUIRED, "{json}");
        assert_eq!(client.bind("o=Intranet", "new").code, ResultCode::INVALID_CREDENTIALS);
    }
}

#[test]
fn a_wrong_old_password_is_refused_even_for_the_administrator() {
    let json = r#"{"admin_dn": "cn=admin", "admin_password": "root"}"#;
    let directory = directory::start(crate::common::config(json), None).unwrap();
    let mut client = Client::connect(directory.addr());
    client.bind("cn=admin", "root");
    let mut set = |old, new| {
        let value = password_modify(Some("o=Intranet"), old, Some(new));
        client.extended(oid::PASSWORD_MODIFY, Some(&value)).code
    };
    assert_eq!(set(None, "one"), ResultCode::SUCCESS);
    assert_eq!(set(Some("bogus"), "two"), ResultCode::UNWILLING_TO_PERFORM);
    assert_eq!(set(Some("one"), "two"), ResultCode::SUCCESS);
}

#[test]
fn a_password_change_uses_the_password_attribute_of_the_profile() {
    let json = r#"{"profile": "ils", "admin_dn": "cn=admin", "admin_password": "root"}"#;
    let directory = directory::start(crate::common::config(json), None).unwrap();
    let mut client = Client::connect(directory.addr());
    client.bind("cn=admin", "root");
    let ann = "c=-,o=Microsoft,cn=ann@example.com,objectClass=RTPerson";
    let added = client.add(ann, &[("objectClass", &["RTPerson"]), ("cn", &["ann@example.com"])]);
    assert_eq!(added.code, ResultCode::SUCCESS, "{added:?}");
    let value = password_modify(Some(ann), None, Some("new"));
    assert_eq!(client.extended(oid::PASSWORD_MODIFY, Some(&value)).code, ResultCode::SUCCESS);
    let stored = "cn=ann@example.com,ou=Dynamic,o=Intranet";
    assert_eq!(client.bind(stored, "new").code, ResultCode::SUCCESS);
}
