//! Rules for changes of entries (RFC 4511 sections 4.6 to 4.10, RFC 2589, RFC 4525).

use crate::store_common::*;
use directory::entry::Naming;
use directory::limits::Limits;
use directory::store::{Scratch, Store, UnixSeconds};
use rustix::time::{ClockId, clock_gettime};
use wire::ldap::{Attributes, CompareRequest, ModifyDnRequest, ResultCode};

#[test]
fn an_entry_is_stored_as_it_was_added() {
    let mut store = store();
    let list = encode(&[("objectClass", &["top", "RTPerson"]), ("cn", &["Anna"]), ("sIPAddress", &["7"])]);
    let dn = b"CN=Anna, o=Intranet";
    let id = store.add(dn, Attributes(&list), NOW).unwrap();
    let entry = store.entry(id).unwrap();
    assert_eq!(entry.dn(), dn);
    assert_eq!(entry.attributes().0, list);
    assert_eq!((entry.created, entry.modified, entry.expires), (NOW, NOW, None));
}

#[test]
fn attribute_names_get_the_schemas_spelling() {
    let mut store = store();
    let attributes: List<'_> = &[
        ("OBJECTCLASS", &["RTPerson"]),
        ("commonName", &["Anna"]),
        ("surname;LANG-de;lang-AT", &["Lee"]),
        ("0.9.2342.19200300.100.1.3", &["a@x"]),
        ("Shoe_Size", &["41"]),
    ];
    add(&mut store, "cn=Anna,o=Intranet", attributes).unwrap();
    assert_eq!(
        lines(&store, "cn=anna,o=intranet"),
        ["objectClass: RTPerson", "cn: Anna", "sn;lang-at;lang-de: Lee", "mail: a@x", "Shoe_Size: 41"]
    );
    assert_eq!(store.schema().undeclared().collect::<Vec<_>>(), ["Shoe_Size"]);
}

#[test]
fn longer_ber_encodings_than_necessary_are_shortened() {
    let mut store = store();
    // SEQUENCE { cn, SET { Anna } } with a length of three bytes for the set, then a class.
    let mut list = b"\x30\x0e\x04\x02cn\x31\x82\x00\x06\x04\x04Anna".to_vec();
    list.extend_from_slice(&encode(&[("objectClass", &["RTPerson"])]));
    let attributes = Attributes(&list);
    attributes.check().unwrap();
    let id = store.add(b"cn=Anna,o=Intranet", attributes, NOW).unwrap();
    let stored = store.entry(id).unwrap().attributes().0;
    assert_eq!(stored, encode(&[("cn", &["Anna"]), ("objectClass", &["RTPerson"])]));
}

#[test]
fn values_of_the_rdn_are_added_to_the_entry() {
    let mut store = store();
    add(&mut store, "cn=A\\2cB+sn=Lee,o=Intranet", &[("objectClass", &["person"]), ("sn", &["LEE"])])
        .unwrap();
    assert_eq!(lines(&store, "sn=lee+cn=a\\,b,o=Intranet"), ["objectClass: person", "sn: LEE", "cn: A,B"]);
}

#[test]
fn an_invalid_add_is_refused_with_the_matching_result_code() {
    let mut store = store();
    add_person(&mut store, "cn=Anna,o=Intranet");
    let class: (&str, &[&str]) = ("objectClass", &["RTPerson"]);
    let table: [(&str, List<'_>, ResultCode); 15] = [
        ("cn=ANNA,O=intranet", &[class], ResultCode::ENTRY_ALREADY_EXISTS),
        ("cn=x,cn=y,o=Intranet", &[class], ResultCode::NO_SUCH_OBJECT),
        ("cn=x,o=Elsewhere", &[class], ResultCode::NO_SUCH_OBJECT),
        ("x", &[class], ResultCode::INVALID_DN_SYNTAX),
        ("", &[class], ResultCode::NO_SUCH_OBJECT),
        ("cn=x,o=Intranet", &[("cn", &["x"])], ResultCode::OBJECT_CLASS_VIOLATION),
        ("cn=x,o=Intranet", &[class, ("cn", &[])], ResultCode::PROTOCOL_ERROR),
        ("cn=x,o=Intranet", &[class, ("sn", &["b", "B"])], ResultCode::ATTRIBUTE_OR_VALUE_EXISTS),
        ("cn=x,o=Intranet", &[class, ("sn", &["a", "c", "b", "B"])], ResultCode::ATTRIBUTE_OR_VALUE_EXISTS),
        ("cn=x,o=Intranet", &[class, ("sn", &[""])], ResultCode::INVALID_ATTRIBUTE_SYNTAX),
        ("cn=x,o=Intranet", &[class, ("sIPAddress", &["ten"])], ResultCode::INVALID_ATTRIBUTE_SYNTAX),
        ("cn=x,o=Intranet", &[class, ("c", &["DE", "FR"])], ResultCode::CONSTRAINT_VIOLATION),
        ("cn=x,o=Intranet", &[class, ("entryUUID", &["x"])], ResultCode::CONSTRAINT_VIOLATION),
        ("cn=x,o=Intranet", &[class, ("not a name", &["x"])], ResultCode::UNDEFINED_ATTRIBUTE_TYPE),
        ("cn=x,o=Intranet", &[class, ("sn", &["a"]), ("sn", &["b"])], ResultCode::ATTRIBUTE_OR_VALUE_EXISTS),
    ];
    for (dn, attributes, expected) in table {
        assert_eq!(code(add(&mut store, dn, attributes)), expected, "{dn} {attributes:?}");
    }
    assert_eq!(store.counts().entries, 2);
    assert_eq!(find(&store, "cn=x,o=Intranet"), None);
}

#[test]
fn a_missing_entry_is_reported_with_its_closest_existing_ancestor() {
    let mut store = store();
    add_person(&mut store, "cn=Top,o=Intranet");
    let mut scratch = Scratch::default();
    let mut matched = |dn: &str| {
        let refusal = store.find(dn.as_bytes(), &mut scratch).unwrap_err();
        assert_eq!(refusal.code, ResultCode::NO_SUCH_OBJECT);
        String::from_utf8(refusal.matched_dn).unwrap()
    };
    assert_eq!(matched("cn=a,cn=b,cn=top,O=intranet"), "cn=Top,o=Intranet");
    assert_eq!(matched("cn=a,o=Intranet"), "o=Intranet");
    assert_eq!(matched("o=Elsewhere"), "");
    // The comma belongs to the value, so o=Intranet is not the parent.
    assert_eq!(matched("cn=a\\,o=Intranet"), "");
}

#[test]
fn the_changes_of_a_modify_are_applied_all_or_none() {
    let mut store = store();
    let dn = "cn=Anna,o=Intranet";
    let attributes: List<'_> = &[
        ("objectClass", &["RTPerson"]),
        ("cn", &["Anna"]),
        ("sPort", &["1503"]),
        ("sFlags", &["3"]),
        ("employeeNumber", &["7"]),
    ];
    add(&mut store, dn, attributes).unwrap();
    let before = lines(&store, dn);
    let table: [(Changes<'_>, ResultCode); 15] = [
        (&[(2, "sn", &["x"]), (1, "mail", &[])], ResultCode::NO_SUCH_ATTRIBUTE),
        (&[(1, "sPort", &["7"])], ResultCode::NO_SUCH_ATTRIBUTE),
        (&[(0, "PORT", &["01503"])], ResultCode::ATTRIBUTE_OR_VALUE_EXISTS),
        (&[(2, "sn", &["x", "X"])], ResultCode::ATTRIBUTE_OR_VALUE_EXISTS),
        (&[(2, "sPort", &["x"])], ResultCode::INVALID_ATTRIBUTE_SYNTAX),
        (&[(1, "cn", &["anna"])], ResultCode::NOT_ALLOWED_ON_RDN),
        (&[(2, "cn", &["Bob"])], ResultCode::NOT_ALLOWED_ON_RDN),
        (&[(1, "objectClass", &[])], ResultCode::OBJECT_CLASS_VIOLATION),
        (&[(2, "objectClass", &["person"])], ResultCode::OBJECT_CLASS_MODS_PROHIBITED),
        (&[(2, "createTimestamp", &["20240101000000Z"])], ResultCode::CONSTRAINT_VIOLATION),
        (&[(0, "sn", &[])], ResultCode::PROTOCOL_ERROR),
        // RFC 4525 section 3: only attributes of an integer syntax can be incremented.
        (&[(3, "employeeNumber", &["1"])], ResultCode::CONSTRAINT_VIOLATION),
        (&[(3, "cn", &["1"])], ResultCode::CONSTRAINT_VIOLATION),
        (&[(3, "sFlags", &["x"])], ResultCode::PROTOCOL_ERROR),
        (&[(3, "mail", &["1"])], ResultCode::NO_SUCH_ATTRIBUTE),
    ];
    for (changes, expected) in table {
        assert_eq!(code(modify(&mut store, dn, changes)), expected, "{changes:?}");
        assert_eq!(lines(&store, dn), before, "{changes:?}");
    }
    assert_eq!(code(modify(&mut store, "cn=x,o=Intranet", &[])), ResultCode::NO_SUCH_OBJECT);
}

#[test]
fn the_changes_of_a_modify_are_applied_in_order() {
    let mut store = store();
    let dn = "cn=Anna,o=Intranet";
    add(&mut store, dn, &[("objectClass", &["RTPerson"]), ("cn", &["Anna"])]).unwrap();
    let changes: Changes<'_> = &[
        (0, "sPort", &["1", "2"]),
        (1, "port", &["1"]),
        (0, "sProtID", &["T120"]),
        (2, "sFlags", &["0"]),
        (3, "sFlags", &["5"]),
        (3, "sFlags", &["-2"]),
        (0, "cn", &["Second"]),
        (2, "mail", &[]),
        (0, "objectClass", &["extensibleObject"]),
    ];
    modify(&mut store, dn, changes).unwrap();
    let after = [
        "objectClass: RTPerson",
        "objectClass: extensibleObject",
        "cn: Anna",
        "cn: Second",
        "sPort: 2",
        "sProtID: T120",
        "sFlags: 3",
    ];
    assert_eq!(lines(&store, dn), after);
    assert_eq!(search(&store, "(cn=second)"), [dn]);
}

#[test]
fn a_renamed_entry_moves_with_its_subtree() {
    let mut store = store();
    for dn in ["ou=A,o=Intranet", "ou=B,o=Intranet"] {
        add(&mut store, dn, &[("objectClass", &["organizationalUnit"])]).unwrap();
    }
    add_person(&mut store, "cn=Anna,ou=A,o=Intranet");
    add_person(&mut store, "cn=Deep , CN=anna,OU=a,o=Intranet");
    rename(&mut store, "cn=Anna,ou=A,o=Intranet", "cn=Änne+sn=Lee", true, Some("OU=b,o=Intranet")).unwrap();
    assert_eq!(
        lines(&store, "sn=lee+cn=änne,ou=B,o=Intranet"),
        ["objectClass: RTPerson", "cn: Änne", "sn: Lee"]
    );
    let deep = find(&store, "cn=deep,cn=änne+sn=lee,ou=b,o=intranet").unwrap();
    assert_eq!(store.entry(deep).unwrap().dn(), "cn=Deep,cn=Änne+sn=Lee,ou=B,o=Intranet".as_bytes());
    assert_eq!(find(&store, "cn=Anna,ou=A,o=Intranet"), None);
    store.remove(b"ou=A,o=Intranet", NOW).unwrap();
    assert_eq!(code(store.remove(b"ou=B,o=Intranet", NOW)), ResultCode::NOT_ALLOWED_ON_NON_LEAF);
}

#[test]
fn an_invalid_rename_is_refused_with_the_matching_result_code() {
    let mut store = store();
    add_person(&mut store, "cn=A,o=Intranet");
    add_person(&mut store, "cn=B,o=Intranet");
    add_person(&mut store, "cn=C,cn=A,o=Intranet");
    for (dn, new_rdn, superior, expected) in [
        ("cn=A,o=Intranet", "cn=b", None, ResultCode::ENTRY_ALREADY_EXISTS),
        ("cn=x,o=Intranet", "cn=y", None, ResultCode::NO_SUCH_OBJECT),
        ("cn=A,o=Intranet", "cn=y", Some("cn=x,o=Intranet"), ResultCode::NO_SUCH_OBJECT),
        ("cn=A,o=Intranet", "cn=y,o=x", None, ResultCode::INVALID_DN_SYNTAX),
        ("cn=A,o=Intranet", "cn=y", Some("cn=C,cn=A,o=Intranet"), ResultCode::UNWILLING_TO_PERFORM),
        ("o=Intranet", "o=Other", None, ResultCode::UNWILLING_TO_PERFORM),
    ] {
        let renamed = rename(&mut store, dn, new_rdn, true, superior);
        assert_eq!(code(renamed), expected, "{dn} {new_rdn} {superior:?}");
    }
    // Only the spelling changes.
    rename(&mut store, "cn=A,o=Intranet", "CN=a", true, None).unwrap();
    assert_eq!(lines(&store, "cn=A,o=Intranet"), ["objectClass: RTPerson", "cn: a"]);
}

#[test]
fn suffixes_may_be_added_in_any_order() {
    let mut store = store();
    store.add_suffix(b"ou=Dynamic,dc=example,dc=com").unwrap();
    store.add_suffix(b"dc=example,dc=com").unwrap();
    let unit: List<'_> = &[("objectClass", &["organizationalUnit"])];
    add(&mut store, "ou=Dynamic,dc=example,dc=com", unit).unwrap();
    add_person(&mut store, "cn=A,ou=Dynamic,dc=example,dc=com");
    add(&mut store, "dc=Example,dc=com", &[("objectClass", &["domain"])]).unwrap();
    assert!(find(&store, "CN=a,OU=dynamic,DC=EXAMPLE,DC=COM").is_some());
    assert_eq!(code(store.remove(b"dc=example,dc=com", NOW)), ResultCode::NOT_ALLOWED_ON_NON_LEAF);
    assert_eq!(compare(&store, "dc=example,dc=com", "numSubordinates", "1"), Ok(true));
    assert_eq!(code(add(&mut store, "dc=com", &[("objectClass", &["domain"])])), ResultCode::NO_SUCH_OBJECT);
}

#[test]
fn a_comparison_returns_true_false_or_an_error() {
    let mut store = store();
    let attributes: List<'_> =
        &[("objectClass", &["RTPerson"]), ("cn", &["Anna"]), ("sn;lang-de", &["Lee"]), ("sPort", &["7"])];
    add(&mut store, "cn=Anna,o=Intranet", attributes).unwrap();
    let compare = |attribute, value| compare(&store, "cn=anna,o=Intranet", attribute, value);
    assert_eq!(compare("commonName", " ANNA "), Ok(true));
    assert_eq!(compare("cn", "Bob"), Ok(false));
    assert_eq!(compare("name", "lee"), Ok(true));
    assert_eq!(compare("sn;lang-de", "lee"), Ok(true));
    assert_eq!(code(compare("sn;lang-fr", "lee")), ResultCode::NO_SUCH_ATTRIBUTE);
    assert_eq!(compare("sPort", "07"), Ok(true));
    assert_eq!(compare("hasSubordinates", "false"), Ok(true));
    assert_eq!(code(compare("mail", "x")), ResultCode::NO_SUCH_ATTRIBUTE);
    assert_eq!(code(compare("unheardOf", "x")), ResultCode::UNDEFINED_ATTRIBUTE_TYPE);
    assert_eq!(code(compare("jpegPhoto", "x")), ResultCode::INAPPROPRIATE_MATCHING);
    assert_eq!(code(compare("sPort", "x")), ResultCode::INVALID_ATTRIBUTE_SYNTAX);
    assert_eq!(code(self::compare(&store, "cn=x,o=Intranet", "cn", "x")), ResultCode::NO_SUCH_OBJECT);
}

fn expired(store: &mut Store, at: u32) -> usize {
    store.expire(UnixSeconds(at), 100)
}

#[test]
fn a_dynamic_entry_expires_at_the_end_of_its_ttl_and_not_before() {
    let mut store = store();
    let dn = "cn=Anna,o=Intranet";
    let id = add_dynamic(&mut store, dn, "60", NOW);
    assert_eq!(lines(&store, dn), ["objectClass: RTPerson", "objectClass: dynamicObject", "cn: Anna"]);
    assert_eq!(store.counts().dynamic, 1);
    assert_eq!(compare(&store, dn, "entryTTL", "60"), Ok(true));
    assert_eq!(expired(&mut store, NOW.0 + 60), 0);
    // A refresh by a search extends the entry's life, as a change of entryTTL does.
    store.refresh(id, 60, UnixSeconds(NOW.0 + 60)).unwrap();
    assert_eq!(expired(&mut store, NOW.0 + 61), 0);
    assert_eq!(expired(&mut store, NOW.0 + 120), 0);
    assert_eq!(expired(&mut store, NOW.0 + 121), 1);
    assert_eq!((find(&store, dn), store.counts().dynamic), (None, 0));
}

#[test]
fn a_shortened_ttl_takes_effect() {
    let mut store = store();
    let dn = "cn=Anna,o=Intranet";
    let id = add(&mut store, dn, &[("objectClass", &["RTPerson", "dynamicObject"])]).unwrap();
    assert_eq!(compare(&store, dn, "entryTtl", "86400"), Ok(true));
    modify(&mut store, dn, &[(2, "entryTTL", &["5"])]).unwrap();
    assert_eq!(store.entry(id).unwrap().expires, Some(UnixSeconds(NOW.0 + 6)));
    assert_eq!(expired(&mut store, NOW.0 + 6), 1);
}

#[test]
fn refreshing_a_static_entry_fails_and_a_parent_never_expires_before_a_child() {
    let mut store = store();
    let plain = add_person(&mut store, "cn=Plain,o=Intranet");
    assert_eq!(code(store.refresh(plain, 60, NOW)), ResultCode::OBJECT_CLASS_VIOLATION);
    add_dynamic(&mut store, "cn=Top,o=Intranet", "5", NOW);
    add_person(&mut store, "cn=Below,cn=Top,o=Intranet");
    assert_eq!(expired(&mut store, NOW.0 + 100), 0);
    store.remove(b"cn=Below,cn=Top,o=Intranet", NOW).unwrap();
    assert_eq!(expired(&mut store, NOW.0 + 101), 1);
}

#[test]
fn attributes_are_selected_as_rfc_4511_requires() {
    let mut store = store();
    let attributes: List<'_> = &[
        ("objectClass", &["person", "inetOrgPerson"]),
        ("cn", &["Anna"]),
        ("cn;lang-de", &["Änne"]),
        ("sn", &["Lee"]),
        ("sPort", &["1", "2"]),
    ];
    let dn = "cn=Anna,o=Intranet";
    add(&mut store, dn, attributes).unwrap();
    let select = |names: &[&str]| projected(&store, dn, names, false, Naming::Canonical);
    assert_eq!(select(&["1.1"]), [""; 0]);
    assert_eq!(select(&["SURNAME", "port", "unheardOf"]), ["sn: Lee", "sPort: 1", "sPort: 2"]);
    assert_eq!(select(&["cn"]), ["cn: Anna", "cn;lang-de: Änne"]);
    assert_eq!(select(&["cn;LANG-DE"]), ["cn;lang-de: Änne"]);
    assert_eq!(select(&["name"]), ["cn: Anna", "cn;lang-de: Änne", "sn: Lee"]);
    assert_eq!(select(&["entryDN"]), ["entryDN: cn=Anna,o=Intranet"]);
    let operational = select(&["+"]);
    for line in [
        "structuralObjectClass: inetOrgPerson",
        "createTimestamp: 20010909014640Z",
        "modifyTimestamp: 20010909014640Z",
        "subschemaSubentry: cn=Subschema",
        "hasSubordinates: FALSE",
        "numSubordinates: 0",
    ] {
        assert!(operational.iter().any(|other| other == line), "{line} in {operational:?}");
    }
    assert!(!operational.iter().any(|line| line.starts_with("entryTtl") || line.starts_with("cn")));
    assert_eq!(select(&["*"]).len(), 7);
    assert_eq!(select(&["*", "createTimestamp"]).len(), 8);
    assert_eq!(select(&["*", "+"]).len(), 7 + operational.len());
    let requested = projected(&store, dn, &["PORT", "CommonName", "entrydn"], true, Naming::AsRequested);
    assert_eq!(requested, ["PORT", "CommonName", "cn;lang-de", "entrydn"]);
}

#[test]
fn every_entry_keeps_its_unique_uuid() {
    let mut store = store();
    let uuid =
        |store: &Store, dn: &str| projected(store, dn, &["entryUUID"], false, Naming::Canonical).remove(0);
    add_person(&mut store, "cn=A,o=Intranet");
    let first = uuid(&store, "cn=A,o=Intranet");
    rename(&mut store, "cn=A,o=Intranet", "cn=B", true, None).unwrap();
    assert_eq!(uuid(&store, "cn=B,o=Intranet"), first);
    store.remove(b"cn=B,o=Intranet", NOW).unwrap();
    add_person(&mut store, "cn=A,o=Intranet");
    assert_ne!(uuid(&store, "cn=A,o=Intranet"), first);
    assert_eq!(first.len(), "entryUUID: ".len() + 36);
}

#[test]
fn many_values_are_deleted_in_linear_time() {
    let mut store = store();
    let used = || {
        let used = clock_gettime(ClockId::ThreadCPUTime);
        used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
    };
    let mut least_ns = |count: usize| {
        let dn = format!("cn=Group {count},o=Intranet");
        add_person(&mut store, &dn);
        let members: Vec<String> = (0..count).map(|i| format!("cn=Member {i},o=Intranet")).collect();
        let members: Vec<&str> = members.iter().map(String::as_str).collect();
        let backwards: Vec<&str> = members.iter().rev().copied().collect();
        let mut take = || {
            let before = used();
            modify(&mut store, &dn, &[(2, "uniqueMember", &members), (1, "uniqueMember", &backwards)])
                .unwrap();
            used() - before
        };
        (0..3).map(|_| take()).min().unwrap()
    };
    let (few, many) = (least_ns(250), least_ns(4_000));
    assert!(many < 64 * few, "16 times the values took {many} ns after {few} ns");
}

#[test]
fn one_modify_adds_and_deletes_values_of_a_long_list() {
    let mut store = store();
    let dn = "cn=Group,o=Intranet";
    let texts: Vec<String> = (0..100).map(|i| format!("Text {i}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    add(&mut store, dn, &[("objectClass", &["RTPerson"]), ("description", &texts)]).unwrap();
    let refused: [(Changes<'_>, ResultCode); 3] = [
        (&[(0, "description", &["TEXT  7"])], ResultCode::ATTRIBUTE_OR_VALUE_EXISTS),
        (&[(1, "description", &["text 7", "text 7"])], ResultCode::NO_SUCH_ATTRIBUTE),
        (
            &[(0, "description", &["new"]), (0, "description", &["NEW"])],
            ResultCode::ATTRIBUTE_OR_VALUE_EXISTS,
        ),
    ];
    for (changes, expected) in refused {
        assert_eq!(code(modify(&mut store, dn, changes)), expected, "{changes:?}");
    }
    let changes: Changes<'_> = &[
        (1, "description", &["text 7"]),
        (0, "description", &["Text seven", "TEXT 7"]),
        (1, "description", &["text SEVEN", "text 8"]),
        (0, "description", &["last"]),
    ];
    modify(&mut store, dn, changes).unwrap();
    let lines = lines(&store, dn);
    assert_eq!(lines.iter().filter(|line| line.starts_with("description")).count(), 100);
    let has = |text: &str| lines.contains(&format!("description: {text}"));
    assert_eq!(
        ["TEXT 7", "last", "Text 7", "Text 8", "Text seven"].map(has),
        [true, true, false, false, false]
    );
}

#[test]
fn an_rdn_cannot_set_passwords_or_operational_attributes() {
    let mut store = store();
    add_person(&mut store, "cn=Ann,o=Intranet");
    let class: (&str, &[&str]) = ("objectClass", &["RTPerson"]);
    for rdn in [
        "userPassword=secret",
        "cn=Eve+2.5.4.35=secret",
        "createTimestamp=20000101000000Z",
        "entryUUID=12345678-1234-1234-1234-123456789012",
        "entryTtl=5",
        "cn=Eve+structuralObjectClass=person",
    ] {
        for attributes in [&[class][..], &[class, ("userPassword", &["secret"])]] {
            let added = add(&mut store, &format!("{rdn},o=Intranet"), attributes);
            assert_eq!(code(added), ResultCode::NAMING_VIOLATION, "{rdn} {attributes:?}");
        }
        let renamed = rename(&mut store, "cn=Ann,o=Intranet", rdn, false, None);
        assert_eq!(code(renamed), ResultCode::NAMING_VIOLATION, "{rdn}");
    }
    assert_eq!(lines(&store, "cn=Ann,o=Intranet"), ["objectClass: RTPerson", "cn: Ann"]);
}

#[test]
fn an_entry_without_a_class_is_refused_even_after_an_earlier_refusal() {
    let mut store = store();
    let rows: [(&[&str], ResultCode); 3] = [
        (&[], ResultCode::PROTOCOL_ERROR),
        (&["person", "person"], ResultCode::ATTRIBUTE_OR_VALUE_EXISTS),
        (&[], ResultCode::PROTOCOL_ERROR),
    ];
    for (classes, expected) in rows {
        let added = add(&mut store, "cn=Eve,o=Intranet", &[("objectClass", classes), ("cn", &["Eve"])]);
        assert_eq!(code(added), expected, "{classes:?}");
    }
}

#[test]
fn the_increments_of_a_modify_are_limited_like_the_values_of_an_entry() {
    let mut store = store();
    store.set_limits(Limits { values_per_entry: 100, ..Limits::default() });
    let values: Vec<String> = (0..30).map(|n| n.to_string()).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let ports: List<'_> = &[("objectClass", &["RTPerson"]), ("sport", &values)];
    add(&mut store, "cn=Ann,o=Intranet", ports).unwrap();
    let times = |store: &mut Store, count: usize| {
        modify(store, "cn=Ann,o=Intranet", &vec![(3, "sport", ["1"].as_slice()); count])
    };
    times(&mut store, 3).unwrap();
    assert_eq!(times(&mut store, 4).unwrap_err().code, ResultCode::ADMIN_LIMIT_EXCEEDED);
}

#[test]
fn an_expired_entry_is_absent() {
    let mut store = store();
    let dn = "cn=Ann,o=Intranet";
    let later = UnixSeconds(NOW.0 + 100);
    let id = add_dynamic(&mut store, dn, "10", NOW);
    assert_eq!(code(store.refresh(id, 60, later)), ResultCode::NO_SUCH_OBJECT);
    let request = CompareRequest { dn: dn.as_bytes(), attribute: b"cn", value: b"Ann" };
    let compared = store.compare(&request, later, &mut Scratch::default());
    assert_eq!(code(compared), ResultCode::NO_SUCH_OBJECT);
    assert_eq!(code(store.remove(dn.as_bytes(), later)), ResultCode::NO_SUCH_OBJECT);
    // No add and no move can place an entry below an expired entry.
    let person: List<'_> = &[("objectClass", &["RTPerson"])];
    let added = add_at(&mut store, "cn=Bob,cn=Ann,o=Intranet", person, later);
    assert_eq!(code(added), ResultCode::NO_SUCH_OBJECT);
    add_person(&mut store, "cn=Bob,o=Intranet");
    let request = ModifyDnRequest {
        dn: b"cn=Bob,o=Intranet",
        new_rdn: b"cn=Bob",
        delete_old_rdn: false,
        new_superior: Some(dn.as_bytes()),
    };
    assert_eq!(code(store.rename(&request, later)), ResultCode::NO_SUCH_OBJECT);
    add_at(&mut store, dn, person, later).unwrap();
    assert_eq!(expired(&mut store, later.0), 0);
}

#[test]
fn an_entry_that_has_become_static_does_not_expire() {
    let mut store = store();
    let dn = "cn=Ann,o=Intranet";
    add_dynamic(&mut store, dn, "10", NOW);
    modify(&mut store, dn, &[(1, "objectClass", &["dynamicObject"])]).unwrap();
    assert_eq!(expired(&mut store, NOW.0 + 100), 0);
    assert!(find(&store, dn).is_some());
}
