//! Results of searches for every kind of filter, in steps of any size, while indexes are built.

use std::collections::BTreeSet;

use crate::store_common::*;
use directory::search::{Budget, Progress};
use directory::store::{Scratch, Store, UnixSeconds};
use wire::ldap::Scope;

/// Four people of four countries.
fn people() -> Store {
    let mut store = store();
    let table: [(&str, &str, &str, &[&str]); 4] = [
        ("Anna Lee", "en", "1", &["+1 555-0100"]),
        ("Пётр Ёлкин", "ru", "12", &["+7 495 0100", "+7 495 0200"]),
        ("山田 太郎", "ja", "123", &[]),
        ("Ψυχή Straße", "el", "-5", &["+30-1"]),
    ];
    for (name, country, number, phones) in table {
        let mut attributes: Vec<(&str, &[&str])> = vec![("objectClass", &["inetOrgPerson"])];
        let (country, number) = ([country], [number]);
        attributes.extend([("c", country.as_slice()), ("uidNumber", number.as_slice())]);
        if !phones.is_empty() {
            attributes.push(("telephoneNumber", phones));
        }
        add(&mut store, &format!("cn={name},o=Intranet"), &attributes).unwrap();
    }
    store
}

#[test]
fn every_kind_of_filter_finds_the_matching_people() {
    let store = people();
    let [anna, petr, yamada, psyche] =
        ["Anna Lee", "Пётр Ёлкин", "山田 太郎", "Ψυχή Straße"].map(|name| format!("cn={name},o=Intranet"));
    let (anna, petr, yamada, psyche) = (anna.as_str(), petr.as_str(), yamada.as_str(), psyche.as_str());
    let all = [anna, petr, yamada, psyche];
    let table: [(&str, &[&str]); 43] = [
        ("(cn=ANNA  LEE)", &[anna]),
        ("(commonName=пётр ЁЛКИН)", &[petr]),
        ("(2.5.4.3=ψΥΧΉ STRASSE)", &[psyche]),
        ("(&(objectClass=RTPerson)(cn=Anna Lee))", &[]),
        ("(&(objectClass=inetOrgPerson)(cn=Anna Lee))", &[anna]),
        ("(&(objectClass=person)(cn=山田 太郎))", &[yamada]),
        ("(objectClass=2.5.6.6)", &all),
        ("(objectClass=organization)", &["o=Intranet"]),
        ("(cn=an*)", &[anna]),
        ("(cn=*Л*)", &[petr]),
        ("(cn=*strasse)", &[psyche]),
        ("(cn=山*)", &[yamada]),
        ("(cn=a*n*e)", &[anna]),
        ("(c=RU)", &[petr]),
        ("(|(c=ru)(c=ja))", &[petr, yamada]),
        ("(|(c=ru)(uidNumber>=100))", &[petr, yamada]),
        ("(uidNumber>=12)", &[petr, yamada]),
        ("(uidNumber<=1)", &[anna, psyche]),
        ("(uidNumber=0012)", &[petr]),
        ("(telephoneNumber=+74950200)", &[petr]),
        ("(telephoneNumber=*495*)", &[petr]),
        ("(telephoneNumber=*)", &[anna, petr, psyche]),
        ("(!(telephoneNumber=*))", &["o=Intranet", yamada]),
        ("(cn~=anna lee)", &[anna]),
        ("(name=anna lee)", &[anna]),
        ("(cn:=anna lee)", &[anna]),
        ("(cn:caseExactMatch:=anna lee)", &[]),
        ("(cn:2.5.13.5:=Anna Lee)", &[anna]),
        ("(:caseIgnoreMatch:=ru)", &[petr]),
        ("(o:dn:=intranet)", &["o=Intranet", anna, petr, yamada, psyche]),
        ("(uidNumber:integerOrderingMatch:=12)", &[anna, psyche]),
        ("(cn:caseIgnoreSubstringsMatch:=an\\2aee)", &[anna]),
        ("(:dn:caseIgnoreMatch:=anna lee)", &[anna]),
        ("(entryDN=CN=anna lee,O=Intranet)", &[anna]),
        ("(hasSubordinates=TRUE)", &["o=Intranet"]),
        ("(numSubordinates>=4)", &["o=Intranet"]),
        ("(createTimestamp>=20010101000000Z)", &["o=Intranet", anna, petr, yamada, psyche]),
        ("(structuralObjectClass=inetOrgPerson)", &all),
        ("(!(entryUUID=12345678-1234-1234-1234-1234567890AB))", &["o=Intranet", anna, petr, yamada, psyche]),
        ("(&)", &["o=Intranet", anna, petr, yamada, psyche]),
        ("(|)", &[]),
        ("(&(c=ru)(!(c=ja)))", &[petr]),
        ("(!(!(c=el)))", &[psyche]),
    ];
    for (filter, expected) in table {
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(search(&store, filter), expected, "{filter}");
    }
}

#[test]
fn a_filter_that_evaluates_to_undefined_is_neither_true_nor_false() {
    let store = people();
    for item in [
        "(unheardOf=x)",
        "(unheardOf=*)",
        "(uidNumber=many)",
        "(uidNumber>=many)",
        "(cn>=a)",
        "(uidNumber=1*)",
        "(jpegPhoto=x)",
        "(cn:noSuchRule:=x)",
        "(createTimestamp>=yesterday)",
        "(entryUUID=nonsense)",
        "(objectClass=inet*)",
    ] {
        assert_eq!(search(&store, item), [""; 0], "{item}");
        assert_eq!(search(&store, &format!("(!{item})")), [""; 0], "{item}");
        assert_eq!(search(&store, &format!("(&{item}(c=ru))")), [""; 0], "{item}");
        assert_eq!(search(&store, &format!("(|{item}(c=ru))")), ["cn=Пётр Ёлкин,o=Intranet"], "{item}");
        // A false term decides an And, whatever the values of its other terms are.
        assert_eq!(search(&store, &format!("(!(&{item}(|)))")).len(), 5, "{item}");
    }
}

/// Many people in two containers; every seventh person has the same name.
fn crowd(size: usize) -> Store {
    let mut store = store();
    for unit in ["ou=Even,o=Intranet", "ou=Odd,o=Intranet"] {
        add(&mut store, unit, &[("objectClass", &["organizationalUnit"])]).unwrap();
    }
    (0..size).for_each(|number| add_numbered(&mut store, number));
    store
}

fn dn(number: usize) -> String {
    format!("cn=Person {number},ou={},o=Intranet", if number.is_multiple_of(2) { "Even" } else { "Odd" })
}

fn add_numbered(store: &mut Store, number: usize) {
    let (surname, mail) = (format!("Family{}", number % 7), format!("p{number}@x"));
    let (town, long) = (format!("Town {}", number % 40), format!("Aaaaaaaaaaaaaaaaaa{number}"));
    let attributes: [(&str, &[&str]); 5] = [
        ("objectClass", &["inetOrgPerson"]),
        ("sn", &[&surname]),
        ("mail", &[&mail]),
        ("l", &[&town, "Everywhere"]),
        ("givenName", &[&long]),
    ];
    add(store, &dn(number), &attributes).unwrap();
}

/// A filter, and a function that decides by a person's number whether the filter matches the person.
type Meant = (&'static str, fn(usize) -> bool);

const MEANT: [Meant; 12] = [
    ("(cn=person 77)", |n| n == 77),
    ("(sn=family3)", |n| n % 7 == 3),
    ("(&(sn=family3)(l=town 5))", |n| n % 7 == 3 && n % 40 == 5),
    ("(|(sn=family3)(sn=family4)(cn=Person 0))", |n| n % 7 == 3 || n % 7 == 4 || n == 0),
    ("(&(l=everywhere)(!(sn=family1)))", |n| n % 7 != 1),
    ("(mail=P12@x)", |n| n == 12),
    ("(cn=person 11*)", |n| n.to_string().starts_with("11")),
    ("(l=Town 1*)", |n| (n % 40).to_string().starts_with('1')),
    ("(givenName=aaaaaaaaaaaaaaaaaa12*)", |n| n.to_string().starts_with("12")),
    ("(|(cn=person 2*)(sn=family2))", |n| n.to_string().starts_with('2') || n % 7 == 2),
    ("(&(objectClass=person)(l=town 39))", |n| n % 40 == 39),
    ("(|(mail=p3@x)(description=none))", |n| n == 3),
];

#[track_caller]
fn check(store: &Store, present: &BTreeSet<usize>, step: usize) {
    for (filter, is_meant) in MEANT {
        for (base, parity) in
            [("o=Intranet", None), ("ou=Even,o=Intranet", Some(0)), ("ou=Odd,o=Intranet", Some(1))]
        {
            let is_reached = |n: &&usize| parity.is_none_or(|parity| **n % 2 == parity);
            let expected: BTreeSet<String> =
                present.iter().filter(is_reached).filter(|n| is_meant(**n)).map(|n| dn(*n)).collect();
            let names = search_in_steps(store, Some(base), Scope::Subtree, filter, step);
            let different: BTreeSet<String> = names.iter().cloned().collect();
            assert_eq!(different.len(), names.len(), "{filter} finds an entry twice");
            assert_eq!(different, expected, "{filter} below {base} in steps of {step}");
        }
    }
}

#[test]
fn searches_return_equal_entries_before_during_and_after_index_builds() {
    let mut store = crowd(700);
    let mut present: BTreeSet<usize> = (0..700).collect();
    check(&store, &present, 10_000);
    assert!(store.wants_maintenance());
    let mut number = 700;
    let mut rounds = 0;
    while store.wants_maintenance() {
        store.maintain(97);
        rounds += 1;
        // People are removed and added while the index is built, in the indexed part and in the remaining
        // part.
        for gone in [rounds * 13 % 700, rounds * 29 % 700] {
            if present.remove(&gone) {
                store.remove(dn(gone).as_bytes(), NOW).unwrap();
            }
        }
        add_numbered(&mut store, number);
        present.insert(number);
        number += 1;
        check(&store, &present, 50);
    }
    assert!(rounds > 8, "{rounds}");
    for step in [1, 3, 17, 10_000] {
        check(&store, &present, step);
    }
}

#[test]
fn indexes_follow_every_change() {
    let mut store = crowd(300);
    let mut present: BTreeSet<usize> = (0..300).collect();
    check(&store, &present, 1000);
    while store.wants_maintenance() {
        store.maintain(1000);
    }
    for number in (0..300).step_by(3) {
        store.remove(dn(number).as_bytes(), NOW).unwrap();
        present.remove(&number);
    }
    for number in (300..500).chain((0..150).step_by(3)) {
        add_numbered(&mut store, number);
        present.insert(number);
    }
    // Values are changed and restored by modifies and renames.
    for number in [1, 77, 301, 402] {
        modify(&mut store, &dn(number), &[(2, "sn", &["Else"]), (0, "l", &["Town 999"]), (1, "mail", &[])])
            .unwrap();
        rename(&mut store, &dn(number), "cn=Else", true, None).unwrap();
        assert_eq!(search(&store, "(&(sn=else)(l=town 999)(cn=else))").len(), 1);
        let elsewhere = format!("cn=Else,{}", dn(number).split_once(',').unwrap().1);
        rename(&mut store, &elsewhere, &format!("cn=Person {number}"), true, None).unwrap();
        store.remove(dn(number).as_bytes(), NOW).unwrap();
        add_numbered(&mut store, number);
    }
    for step in [1, 29, 10_000] {
        check(&store, &present, step);
    }
}

#[test]
fn a_suspended_search_survives_changes_of_the_store() {
    let mut store = crowd(200);
    let mut scratch = Scratch::default();
    let filter = compiled(&store, "(sn=*)");
    let base = store.find(b"ou=Even,o=Intranet", &mut scratch).unwrap();
    let mut cursor = store.search(Some(base), Scope::Subtree, &filter, &mut scratch);
    let budget = Budget { candidates: 30, matches: 10, long: true };
    let mut ids = Vec::new();
    let mut next = 0;
    while store.advance(&mut cursor, &filter, NOW, budget, &mut scratch, &mut ids) == Progress::More {
        // Half of the people with odd numbers are removed, and other entries take their slots.
        store.remove(dn(2 * next + 1).as_bytes(), NOW).unwrap();
        add_numbered(&mut store, 1000 + 2 * next);
        next += 1;
    }
    let names: BTreeSet<String> =
        ids.iter().map(|id| String::from_utf8(store.entry(*id).unwrap().dn().to_vec()).unwrap()).collect();
    assert_eq!(names.len(), ids.len());
    assert!((0..200).step_by(2).all(|number| names.contains(&dn(number))));
}

#[test]
fn a_search_ends_when_its_base_is_deleted() {
    let mut store = store();
    let base = add_person(&mut store, "cn=Base,o=Intranet");
    let filter = compiled(&store, "(objectClass=*)");
    let mut scratch = Scratch::default();
    let mut cursor = store.search(Some(base), Scope::Subtree, &filter, &mut scratch);
    store.remove(b"cn=Base,o=Intranet", NOW).unwrap();
    // Another entry takes the slot.
    assert_eq!(add_person(&mut store, "cn=Other,o=Intranet"), base);
    let budget = Budget { candidates: 10, matches: 10, long: true };
    let mut ids = Vec::new();
    let progress = store.advance(&mut cursor, &filter, NOW, budget, &mut scratch, &mut ids);
    assert_eq!((progress, ids.len()), (Progress::Done, 0));
}

#[test]
fn an_expired_entry_is_not_found() {
    let mut store = store();
    add_dynamic(&mut store, "cn=A,o=Intranet", "10", UnixSeconds(NOW.0 - 100));
    assert_eq!(search(&store, "(cn=A)"), [""; 0]);
}
