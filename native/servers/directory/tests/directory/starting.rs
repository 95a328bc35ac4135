//! Settings with which a directory starts, and errors that prevent its start.

use std::io::Write as _;
use std::sync::Arc;

use crate::common::{Client, Search, config, lookup, serve_suffix, start};
use people::{Pools, Population};
use tempfile::NamedTempFile;
use wire::ldap::ResultCode;

fn refusal(json: &str) -> String {
    match directory::start(config(json), None) {
        Ok(running) => panic!("it listens on {}", running.addr()),
        Err(error) => error.to_string(),
    }
}

fn ldif(text: &str) -> (NamedTempFile, String) {
    file_of("ldif", text)
}

fn file_of(setting: &str, text: &str) -> (NamedTempFile, String) {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let json = format!(r#"{{"suffix": "dc=example,dc=com", "{setting}": {:?}}}"#, file.path());
    (file, json)
}

#[test]
fn the_error_for_a_port_in_use_names_the_port_for_any_number_of_threads() {
    for threads in [1, 3] {
        let first = start(&format!(r#"{{"threads": {threads}}}"#));
        let port = first.addr().port();
        for more_threads in [1, 2] {
            let message = refusal(&format!(r#"{{"port": {port}, "threads": {more_threads}}}"#));
            assert!(message.contains(&format!("127.0.0.1:{port} is in use")), "{message}");
        }
        drop(first);
        let again = directory::start(config(&format!(r#"{{"port": {port}, "threads": {threads}}}"#)), None);
        assert_eq!(again.unwrap().addr().port(), port);
    }
}

#[test]
fn invalid_settings_are_refused_with_a_remedy() {
    for (json, part) in [
        (r#"{"suffix": "nonsense"}"#, "o=Intranet"),
        (r#"{"threads": 0}"#, "at least one thread"),
        (r#"{"host": "no.such.host.invalid"}"#, "127.0.0.1"),
        (r#"{"host": "192.0.2.1"}"#, "cannot listen on 192.0.2.1:0"),
        (r#"{"admin_dn": "admin", "admin_password": "x"}"#, "cn=admin,o=Intranet"),
        (r#"{"admin_dn": "cn=admin"}"#, "no password"),
        (r#"{"admin_dn": "cn=admin", "admin_password": ""}"#, "empty password"),
        (
            r#"{"limits": {"connection_bytes": 1000000}}"#,
            "connection_bytes is 1000000, which leaves no room for a search beside a message (message_bytes_after_bind is 4194304)",
        ),
        (r#"{"limits": {"entry_bytes": 16777216}}"#, "entry_bytes is 16777216"),
        (r#"{"limits": {"name_bytes": 10000}}"#, "name_bytes cannot be 10000; it takes 1 to 8192"),
        (r#"{"limits": {"filter_depth": 10000}}"#, "filter_depth cannot be 10000; it takes 1 to 64"),
        (r#"{"ldif": "/nowhere/at/all.ldif"}"#, "cannot read /nowhere/at/all.ldif"),
        (r#"{"schema": "/nowhere/at/all.schema"}"#, "cannot read /nowhere/at/all.schema"),
    ] {
        let message = refusal(json);
        assert!(message.contains(part), "{json}: {message}");
    }
}

#[test]
fn unknown_settings_are_refused() {
    assert!(serde_json::from_str::<directory::Config>(r#"{"treads": 2}"#).is_err());
}

const TREE: &str = "\
version: 1

dn: dc=example,dc=com
objectClass: domain
dc: example

dn: ou=people,dc=example,dc=com
objectClass: organizationalUnit
ou: people
entryUUID: 6b1ab1a6-0000-0000-0000-000000000000

dn: uid=ann,ou=people,dc=example,dc=com
objectClass: inetOrgPerson
uid: ann
cn: Ann
sn:: w4RubnZhbg==
userPassword: secret
";

#[test]
fn types_and_classes_of_a_schema_file_are_published() {
    let (file, json) = file_of(
        "schema",
        "# badges\nattributetype ( 1.3.6.1.4.1.99999.1 NAME 'badgeNumber' SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )\n\
         objectclass ( 1.3.6.1.4.1.99999.2 NAME 'badged' SUP top AUXILIARY MUST badgeNumber )\n",
    );
    let (_directory, mut client) = serve_suffix(&json);
    let subschema = client.read("cn=Subschema", &["attributeTypes"]).unwrap();
    assert!(subschema.values("attributeTypes").concat().contains("'badgeNumber'"));
    std::fs::write(file.path(), "objectclass ( 1.2.3 NAME").unwrap();
    let message = refusal(&json);
    assert!(message.starts_with(&format!("{}, schema line 1", file.path().display())), "{message}");
}

#[test]
fn an_ldif_file_is_served() {
    let (_file, json) = ldif(TREE);
    let (directory, mut client) = serve_suffix(&json);
    assert_eq!(directory.stats().entries, 3);
    let base = "uid=ann,ou=people,dc=example,dc=com";
    let entry = client.read(base, &[]).unwrap();
    assert_eq!(entry.values("sn"), ["\u{c4}nnvan"]);
    assert!(entry.values("userPassword").is_empty());
    assert_eq!(client.bind(base, "secret").code, ResultCode::SUCCESS);
}

#[test]
fn an_export_of_active_directory_is_served() {
    let text = "\
dn: DC=example,DC=com
objectClass: domainDNS
dc: example

dn: CN=Ann,DC=example,DC=com
objectClass: user
cn: Ann
sAMAccountName: ann
objectGUID:: AQIDBAUGBwgJCgsMDQ4PEA==
objectSid:: AQUAAAAAAAUVAAAAAQAAAAIAAAADAAAA6QMAAA==
memberOf: CN=elsewhere,DC=example,DC=com
entryid: 7
";
    let (_file, json) = ldif(text);
    let json = json.replace('{', r#"{"profile": "ad", "#);
    let (_directory, mut client) = serve_suffix(&json);
    let entry = client.read("cn=ann,dc=example,dc=com", &[]).unwrap();
    assert_eq!(entry.values("objectSid").len(), 1);
    assert!(entry.values("memberOf").is_empty() && entry.values("entryid").is_empty());
}

#[test]
fn an_ldif_file_with_another_suffix_adds_that_suffix() {
    let (file, _) = ldif(TREE);
    let json = format!(r#"{{"ldif": {:?}}}"#, file.path());
    let (_directory, mut client) = serve_suffix(&json);
    let (entries, _) = client.search(&Search { base: "dc=example,dc=com", ..Search::default() });
    assert_eq!(entries.len(), 3);
}

#[test]
fn an_error_in_an_ldif_file_is_reported_with_its_line() {
    let orphan = "dn: uid=x,ou=nowhere,dc=example,dc=com\nobjectClass: account\nuid: x\n";
    let change = "dn: dc=example,dc=com\nchangetype: delete\n";
    let next = TREE.lines().count() + 2;
    for (text, line, part) in [
        (format!("{TREE}\nnonsense\n"), next, "nonsense"),
        (format!("{TREE}\n{orphan}"), next, "uid=x,ou=nowhere"),
        (format!("{TREE}\n{change}"), next, "change"),
        (format!("{TREE}\n{}", TREE.replace("version: 1\n\n", "")), next, "dc=example"),
    ] {
        let (_file, json) = ldif(&text);
        let message = refusal(&json);
        assert!(message.contains(&format!("line {line}")) && message.contains(part), "{message}");
    }
}

fn pools() -> Pools {
    let mut text = "sitebench-pools 1\nfaker 0\n".to_owned();
    for field in ["given", "family", "user", "city", "company", "job", "phone", "country", "text"] {
        text.push_str(&format!("[en_US {field}]\n"));
        for value in ["Alpha", "Beta", "Gamma", "Delta"] {
            text.push_str(&match field {
                "country" => format!("{}\n", &value[..2].to_uppercase()),
                _ => format!("{value}{field}\n"),
            });
        }
    }
    Pools::parse(&text).unwrap()
}

fn population(profile: &str, base: &str) -> Arc<Population> {
    let spec = format!(
        r#"{{"seed": 1, "size": 3000, "profile": "{profile}", "locales": ["en_US"], "base": "{base}"}}"#
    );
    Arc::new(Population::new(&pools(), serde_json::from_str(&spec).unwrap()).unwrap())
}

#[test]
fn the_served_entries_of_a_population_equal_the_generated_entries() {
    let people = population("paper", "ou=Dynamic,o=Intranet");
    let directory = directory::start(config("{}"), Some(Arc::clone(&people))).unwrap();
    assert_eq!(directory.stats().entries, 3002);
    let mut client = Client::connect(directory.addr());
    for i in [0, 1, 1234, 2999] {
        let (mut name, mut attributes) = (Vec::new(), Vec::new());
        people.write_name(i, &mut name);
        people.write_attributes(i, &mut attributes);
        let name = String::from_utf8(name).unwrap();
        client.send(&Search { filter: lookup(&name), ..Search::default() }.message(1));
        let entry = client.raw().unwrap();
        assert!(entry.ends_with(&attributes), "person {i} is answered byte by byte as it is made");
        assert_eq!(client.done().code, ResultCode::SUCCESS);
    }
}

#[test]
fn people_of_the_ils_profile_are_online_from_the_start_under_both_names() {
    let people = population("ils", "ou=Dynamic,o=Intranet");
    let directory = directory::start(config(r#"{"profile": "ils"}"#), Some(Arc::clone(&people))).unwrap();
    let mut client = Client::connect(directory.addr());
    let mut name = Vec::new();
    people.write_name(42, &mut name);
    let name = String::from_utf8(name).unwrap();
    for base in ["objectClass=rtPerson", "ou=Dynamic,o=Intranet"] {
        let (entries, _) = client.search(&Search { base, filter: lookup(&name), ..Search::default() });
        assert_eq!(entries.len(), 1, "{base}");
        assert_eq!(entries[0].attributes.len(), people.attributes(42).len() + 1);
        assert_eq!(entries[0].values("objectClass"), ["top", "rtPerson"]);
    }
}

#[test]
fn people_outside_the_suffix_are_refused() {
    let error =
        directory::start(config("{}"), Some(population("paper", "ou=a,dc=example,dc=com"))).unwrap_err();
    assert!(error.to_string().contains("ou=a,dc=example,dc=com"), "{error}");
}
