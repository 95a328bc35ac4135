//! Binds, passwords, and the identity of a client after a bind.

use crate::common::{Client, Search, config, filter, serve, serve_ann, serve_suffix};
use wire::ber::Reader;
use wire::ldap::{ResultCode, oid, op};

const ANN: &str = "cn=Ann,ou=Dynamic,o=Intranet";

fn who_am_i(client: &mut Client) -> String {
    let answer = client.extended(oid::WHO_AM_I, None);
    assert_eq!((answer.tag, answer.code), (op::EXTENDED_RESPONSE, ResultCode::SUCCESS));
    String::from_utf8(answer.value.unwrap()).unwrap()
}

#[test]
fn an_entry_binds_with_its_password() {
    let (_directory, mut client) = serve_ann("{}", &["secret"]);
    assert_eq!(who_am_i(&mut client), "");
    assert_eq!(client.bind("CN=ann,OU=Dynamic,O=Intranet", "secret").code, ResultCode::SUCCESS);
    assert_eq!(who_am_i(&mut client), format!("dn:{ANN}"));
    assert_eq!(client.bind(ANN, "Secret").code, ResultCode::INVALID_CREDENTIALS);
    assert_eq!(who_am_i(&mut client), "", "a failed bind leaves the client anonymous");
    assert_eq!(client.bind("cn=nobody,o=Intranet", "secret").code, ResultCode::INVALID_CREDENTIALS);
    client.bind(ANN, "secret");
    assert_eq!(client.bind(ANN, "").code, ResultCode::UNWILLING_TO_PERFORM);
    assert_eq!(who_am_i(&mut client), "", "a bind without a password leaves the client anonymous");
}

#[test]
fn unsupported_ldap_versions_and_bind_methods_get_different_result_codes() {
    let (_directory, mut client) = serve_ann("{}", &["secret"]);
    let version = client.request(|out| wire::ldap::request::write_bind(out, 60, 4, b"", b""));
    assert_eq!((version.tag, version.code), (op::BIND_RESPONSE, ResultCode::PROTOCOL_ERROR));
    let sasl = b"\x30\x13\x02\x01\x3d\x60\x0e\x02\x01\x03\x04\x00\xa3\x07\x04\x05OTHER";
    let answer = client.request(|out| out.extend_from_slice(sasl));
    assert_eq!((answer.id, answer.code), (61, ResultCode::AUTH_METHOD_NOT_SUPPORTED));
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
}

#[test]
fn searches_never_return_passwords() {
    let (_directory, mut client) = serve_ann("{}", &["secret"]);
    client.add_person("Bob");
    let mut seen = |attributes: &[&str]| {
        let (entries, done) = client.search(&Search { attributes, ..Search::default() });
        assert_eq!((entries.len(), done.code), (3, ResultCode::SUCCESS));
        entries.iter().any(|entry| !entry.values("userPassword").is_empty())
    };
    assert!(!seen(&[]));
    assert!(!seen(&["*", "+"]));
    assert!(!seen(&["userPassword"]));
    assert!(!seen(&["2.5.4.35"]));
    let probe = filter(|out| {
        let piece = wire::ldap::filter::Piece::Initial(b"s");
        wire::ldap::filter::write_substrings(out, b"userPassword", [piece]);
    });
    let (entries, done) = client.search(&Search { filter: probe, ..Search::default() });
    assert_eq!((entries.len(), done.code), (0, ResultCode::INSUFFICIENT_ACCESS_RIGHTS));
    assert_eq!(client.compare(ANN, "userPassword", "secret"), ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
}

#[test]
fn a_user_replaces_the_old_password_by_a_chosen_or_a_generated_password() {
    let (_directory, mut client) = serve_ann("{}", &["secret"]);
    client.bind(ANN, "secret");
    let refused = client.change_password(Some(ANN), Some("wrong"), Some("new"));
    assert_eq!(refused.code, ResultCode::UNWILLING_TO_PERFORM);
    let changed = client.change_password(None, Some("secret"), Some("new"));
    assert_eq!((changed.code, changed.value), (ResultCode::SUCCESS, None));
    assert_eq!(client.bind(ANN, "secret").code, ResultCode::INVALID_CREDENTIALS);
    assert_eq!(client.bind(ANN, "new").code, ResultCode::SUCCESS);
    let named = format!("dn:{ANN}");
    let made_up = client.change_password(Some(&named), Some("new"), None).value.unwrap();
    let password = Reader::new(&made_up).sequence().unwrap().expect(0x80).unwrap();
    let password = std::str::from_utf8(password).unwrap().to_owned();
    assert_eq!(client.bind(ANN, &password).code, ResultCode::SUCCESS);
}

#[test]
fn the_administrator_can_set_and_read_passwords_of_users() {
    let (_directory, mut client) =
        serve_suffix(r#"{"admin_dn": "cn=admin,o=Intranet", "admin_password": "root"}"#);
    client.bind("cn=admin,o=Intranet", "root");
    assert_eq!(who_am_i(&mut client), "dn:cn=admin,o=Intranet");
    let ann = "cn=Ann,o=Intranet";
    client.add(ann, &[("objectClass", &["person"]), ("cn", &["Ann"]), ("sn", &["A"])]);
    let set = |client: &mut Client, old, new| client.change_password(Some(ann), old, Some(new)).code;
    assert_eq!(set(&mut client, None, "bogus"), ResultCode::SUCCESS);
    assert_eq!(set(&mut client, Some("wrong"), "one"), ResultCode::UNWILLING_TO_PERFORM);
    assert_eq!(set(&mut client, Some("bogus"), "one"), ResultCode::SUCCESS);
    let entry = client.read(ann, &[]).unwrap();
    assert!(entry.values("userPassword")[0].starts_with("{SSHA256}"), "the administrator sees the hash");
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
fn unknown_extended_operations_are_protocol_errors_with_short_diagnostics() {
    let (_directory, mut client) = serve_ann("{}", &["secret"]);
    for name in [oid::START_TLS, b"1.2.3", &[b'x'; 10_000]] {
        let answer = client.extended(name, None);
        assert_eq!((answer.tag, answer.code), (op::EXTENDED_RESPONSE, ResultCode::PROTOCOL_ERROR));
        assert!(answer.diagnostic.len() < 300, "{} bytes", answer.diagnostic.len());
    }
}

#[test]
fn the_debug_output_of_a_configuration_omits_its_password() {
    let config = config(r#"{"admin_dn": "cn=a", "admin_password": "hush"}"#);
    assert!(!format!("{config:?}").contains("hush"));
}

#[test]
fn a_search_that_began_before_the_first_password_was_set_returns_no_password() {
    let (directory, mut client) = serve("{}");
    client.add_person("Bob");
    let mut cookie = client.page(1, b"").1.cookie().unwrap();
    let mut other = Client::connect(directory.addr());
    other.add_person_with("Ann", &[("userPassword", &["secret"])]);
    cookie = client.page(1, &cookie).1.cookie().unwrap();
    let (entries, _) = client.page(1, &cookie);
    assert_eq!((entries[0].dn.as_str(), entries[0].values("userPassword").len()), (ANN, 0));
}

#[test]
fn an_anonymous_client_cannot_change_a_password() {
    for json in ["{}", r#"{"require_bind": true}"#, r#"{"admin_dn": "cn=admin", "admin_password": "root"}"#] {
        let (_directory, mut client) = serve_suffix(json);
        let set =
            |client: &mut Client, old| client.change_password(Some("o=Intranet"), old, Some("new")).code;
        // RFC 3062 section 2: anonymous clients cannot use the operation.
        assert_eq!(set(&mut client, None), ResultCode::STRONGER_AUTH_REQUIRED, "{json}");
        assert_eq!(set(&mut client, Some("x")), ResultCode::STRONGER_AUTH_REQUIRED, "{json}");
        assert_eq!(client.bind("o=Intranet", "new").code, ResultCode::INVALID_CREDENTIALS);
    }
}

#[test]
fn a_password_change_uses_the_password_attribute_of_the_profile() {
    let (_directory, mut client) =
        serve_suffix(r#"{"profile": "ils", "admin_dn": "cn=admin", "admin_password": "root"}"#);
    client.bind("cn=admin", "root");
    let ann = "c=-,o=Microsoft,cn=ann@example.com,objectClass=RTPerson";
    let added = client.add(ann, &[("objectClass", &["RTPerson"]), ("cn", &["ann@example.com"])]);
    assert_eq!(added.code, ResultCode::SUCCESS, "{added:?}");
    assert_eq!(client.change_password(Some(ann), None, Some("new")).code, ResultCode::SUCCESS);
    let stored = "cn=ann@example.com,ou=Dynamic,o=Intranet";
    assert_eq!(client.bind(stored, "new").code, ResultCode::SUCCESS);
}
