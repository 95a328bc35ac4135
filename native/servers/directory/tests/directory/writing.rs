//! Add, delete, modify, rename and compare, and the access rights for these operations.

use crate::common::{Client, Search, eventually, lookup, serve, serve_suffix};
use wire::ldap::{ResultCode, op};

const ANN: &str = "cn=Ann 1,ou=Dynamic,o=Intranet";

fn with_ann() -> (directory::Running, Client) {
    let (directory, mut client) = serve("{}");
    assert_eq!(client.add_person("Ann 1").code, ResultCode::SUCCESS);
    (directory, client)
}

#[test]
fn an_entry_is_added_found_changed_and_deleted() {
    let (directory, mut client) = with_ann();
    assert_eq!(client.add_person("Ann 1").code, ResultCode::ENTRY_ALREADY_EXISTS);
    let changes: &[(u8, &str, &[&str])] =
        &[(0, "mail", &["ann@example.com", "a@example.com"]), (2, "sn", &["Other"])];
    let done = client.modify(ANN, changes);
    assert_eq!((done.tag, done.code), (op::MODIFY_RESPONSE, ResultCode::SUCCESS));
    let entry = client.read(ANN, &[]).unwrap();
    assert_eq!(entry.values("mail"), ["ann@example.com", "a@example.com"]);
    assert_eq!(entry.values("sn"), ["Other"]);
    assert_eq!(client.modify(ANN, &[(1, "mail", &[])]).code, ResultCode::SUCCESS);
    assert_eq!(client.modify(ANN, &[(1, "mail", &[])]).code, ResultCode::NO_SUCH_ATTRIBUTE);
    assert!(client.read(ANN, &[]).unwrap().values("mail").is_empty());
    assert_eq!(client.delete("ou=Dynamic,o=Intranet").code, ResultCode::NOT_ALLOWED_ON_NON_LEAF);
    assert_eq!(client.delete(ANN).code, ResultCode::SUCCESS);
    assert_eq!(client.delete(ANN).code, ResultCode::NO_SUCH_OBJECT);
    assert_eq!(client.search(&Search { filter: lookup("Ann 1"), ..Search::default() }).0.len(), 0);
    let counts = || {
        let stats = directory.stats();
        (stats.served.adds, stats.served.deletes, stats.served.modifies)
    };
    assert!(eventually(|| counts() == (3, 3, 3)), "{:?}", counts());
}

#[test]
fn an_entry_without_a_parent_is_refused() {
    let (_directory, mut client) = with_ann();
    let done = client.add("cn=x,ou=Nowhere,o=Intranet", &[("objectClass", &["RTPerson"]), ("cn", &["x"])]);
    assert_eq!((done.tag, done.code), (op::ADD_RESPONSE, ResultCode::NO_SUCH_OBJECT));
    assert_eq!(done.matched_dn, "o=Intranet");
}

#[test]
fn a_read_only_directory_answers_searches_and_refuses_changes() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "dn: o=Intranet\nobjectClass: organization\no: Intranet\n").unwrap();
    let json = format!(r#"{{"read_only": true, "ldif": {:?}}}"#, file.path());
    let (_directory, mut client) = serve_suffix(&json);
    let refused = client.add_person("Ann 1");
    assert_eq!(refused.code, ResultCode::UNWILLING_TO_PERFORM);
    assert!(refused.diagnostic.contains("read-only"));
    let changes: &[(u8, &str, &[&str])] = &[(2, "o", &["x"])];
    assert_eq!(client.modify("o=Intranet", changes).code, ResultCode::UNWILLING_TO_PERFORM);
    assert_eq!(client.delete("o=Intranet").code, ResultCode::UNWILLING_TO_PERFORM);
    assert!(client.read("o=Intranet", &[]).is_some());
}

#[test]
fn only_the_administrator_writes_if_an_administrator_is_configured() {
    let (_directory, mut client) =
        serve_suffix(r#"{"admin_dn": "cn=admin,o=Intranet", "admin_password": "secret"}"#);
    assert_eq!(client.add_container().code, ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    assert_eq!(client.bind("CN=Admin, O=Intranet", "secret").code, ResultCode::SUCCESS);
    assert_eq!(client.add_container().code, ResultCode::SUCCESS);
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
    assert_eq!(client.delete("ou=Dynamic,o=Intranet").code, ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
}

#[test]
fn where_a_bind_is_required_anonymous_clients_see_only_the_root_dse() {
    let (_directory, mut client) =
        serve_suffix(r#"{"require_bind": true, "admin_dn": "cn=admin", "admin_password": "secret"}"#);
    let suffix = Search { base: "o=Intranet", ..Search::default() };
    assert!(client.read("", &[]).is_some());
    let (_, refused) = client.search(&suffix);
    assert_eq!(refused.code, ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    assert!(refused.diagnostic.contains("bind"));
    assert_eq!(client.compare("o=Intranet", "o", "Intranet"), ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    client.bind("cn=admin", "secret");
    assert_eq!(client.search(&suffix).0.len(), 1);
}

#[test]
fn an_invalid_request_is_refused_as_invalid_whether_or_not_its_entry_exists() {
    let (_directory, mut client) = with_ann();
    assert_eq!(client.add(ANN, &[]).code, ResultCode::PROTOCOL_ERROR);
    assert_eq!(client.delete("").code, ResultCode::UNWILLING_TO_PERFORM);
}

#[test]
fn the_number_of_options_of_an_attribute_is_limited() {
    let (_directory, mut client) = with_ann();
    let with =
        |count: usize| format!("description{}", (0..count).map(|n| format!(";x-{n:02}")).collect::<String>());
    assert_eq!(client.modify(ANN, &[(0, &with(32), &["x"])]).code, ResultCode::SUCCESS);
    assert_eq!(client.modify(ANN, &[(0, &with(33), &["x"])]).code, ResultCode::UNDEFINED_ATTRIBUTE_TYPE);
}
