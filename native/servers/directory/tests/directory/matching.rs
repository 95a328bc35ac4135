//! Equality and order of values (RFC 4517 section 4.2).

use std::cmp::Ordering;

use directory::matching::compare;
use directory::schema::{MATCHING_RULES, Matching, Schema, rule};
use proptest::prelude::*;

fn normal(matching: Matching, value: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    matching.normalise(&Schema::standard(), value, &mut out).then_some(out)
}

#[track_caller]
fn same(matching: Matching, left: &str, right: &str) {
    assert_eq!(normal(matching, left.as_bytes()), normal(matching, right.as_bytes()), "{left:?} {right:?}");
    assert!(normal(matching, left.as_bytes()).is_some(), "{left:?}");
}

#[track_caller]
fn different(matching: Matching, left: &str, right: &str) {
    assert_ne!(normal(matching, left.as_bytes()), normal(matching, right.as_bytes()), "{left:?} {right:?}");
}

#[test]
fn text_matches_ignoring_case_and_insignificant_spaces() {
    for (left, right) in [
        ("Anna Lee", "  anna   LEE "),
        ("Пётр Ёлкин", "пётр ёлкин"),
        ("Ψυχής", "ΨΥΧΉΣ"),
        ("Straße", "STRASSE"),
        ("山田 太郎", "山田  太郎"),
        ("ﾔﾏﾀﾞ", "ヤマダ"),
        ("Café", "Cafe\u{301}"),
        ("İstanbul", "i\u{307}stanbul"),
    ] {
        same(Matching::CaseIgnore, left, right);
    }
    different(Matching::CaseIgnore, "Анна", "Anna");
    different(Matching::CaseIgnore, "AnnaLee", "Anna Lee");
    different(Matching::CaseExact, "anna", "Anna");
    same(Matching::CaseExact, " Anna  Lee", "Anna Lee");
}

#[test]
fn latin_1_values_of_old_clients_match_bytewise() {
    assert_eq!(normal(Matching::CaseIgnore, b"J\xfcRGEN").unwrap(), b"j\xfcrgen");
    assert_ne!(normal(Matching::CaseIgnore, b"J\xfcrgen"), normal(Matching::CaseIgnore, "Jürgen".as_bytes()));
}

#[test]
fn numbers_match_by_numeric_value() {
    for (left, right) in [("7", "007"), ("-0", "0"), ("-012", "-12")] {
        same(Matching::Integer, left, right);
    }
    for value in ["", "-", "1.5", "0x10", "1 000", "+1"] {
        assert_eq!(normal(Matching::Integer, value.as_bytes()), None, "{value:?}");
    }
    let order =
        ["-100000000000000000000", "-20", "-3", "0", "9", "10", "3758139584", "100000000000000000000"];
    for (at, left) in order.iter().enumerate() {
        for (other, right) in order.iter().enumerate() {
            let [left, right] =
                [left, right].map(|value| normal(Matching::Integer, value.as_bytes()).unwrap());
            assert_eq!(compare(Matching::Integer, &left, &right), at.cmp(&other));
        }
    }
}

#[test]
fn telephone_numbers_and_numeric_strings_match_ignoring_separators() {
    same(Matching::TelephoneNumber, "+49 30-123 456", "+4930123456");
    same(Matching::TelephoneNumber, "1-800-FLOWERS", "1 800 flowers");
    same(Matching::NumericString, "12 34 5", "12345");
    different(Matching::NumericString, "12345", "12346");
}

#[test]
fn distinguished_names_match_by_the_rules_of_their_attribute_types() {
    for (left, right) in [
        ("CN=Anna,O=Intranet", "commonName = anna ; 2.5.4.10=INTRANET"),
        ("cn=Anna+sn=Lee,o=x", "sn=lee+cn=ANNA,o=X"),
        ("cn=a\\2cb", "cn=A\\,B"),
        ("uidNumber=007", "uidNumber=7"),
        ("telephoneNumber=1 2", "telephoneNumber=1-2"),
    ] {
        same(Matching::DistinguishedName, left, right);
    }
    different(Matching::DistinguishedName, "cn=a,o=x", "cn=a+o=x");
    assert_eq!(normal(Matching::DistinguishedName, b"nonsense"), None);
}

#[test]
fn object_identifiers_match_their_names() {
    same(Matching::ObjectIdentifier, "person", "2.5.6.6");
    same(Matching::ObjectIdentifier, "PERSON", "person");
    same(Matching::ObjectIdentifier, "commonName", "cn");
    different(Matching::ObjectIdentifier, "person", "organizationalPerson");
    same(Matching::ObjectIdentifier, "unheardOf", "UNHEARDOF");
}

#[test]
fn booleans_and_times_match_in_every_spelling() {
    same(Matching::Boolean, "TRUE", "true");
    different(Matching::Boolean, "TRUE", "FALSE");
    assert_eq!(normal(Matching::Boolean, b"yes"), None);
    same(Matching::GeneralizedTime, "20240229120000Z", "202402291300+0100");
    let [early, late] = ["20240229120000Z", "20240229120000.5Z"]
        .map(|time| normal(Matching::GeneralizedTime, time.as_bytes()).unwrap());
    assert_eq!(compare(Matching::GeneralizedTime, &early, &late), Ordering::Less);
}

#[test]
fn matching_rules_are_found_by_name_and_by_identifier() {
    assert_eq!(rule(b"CASEIGNOREMATCH").unwrap().oid, "2.5.13.2");
    assert_eq!(rule(b"2.5.13.15").unwrap().name, "integerOrderingMatch");
    assert!(rule(b"2.5.13.999").is_none());
    for one in MATCHING_RULES {
        assert_eq!(MATCHING_RULES.iter().filter(|other| other.oid == one.oid).count(), 1, "{}", one.name);
    }
}

fn any_matching() -> impl Strategy<Value = Matching> {
    prop::sample::select(vec![
        Matching::CaseIgnore,
        Matching::CaseExact,
        Matching::NumericString,
        Matching::TelephoneNumber,
        Matching::Integer,
        Matching::DistinguishedName,
        Matching::Boolean,
        Matching::GeneralizedTime,
        Matching::ObjectIdentifier,
    ])
}

proptest! {
    /// The store normalises only one of two compared values, so the result must not depend on which value it
    /// normalises.
    #[test]
    fn a_value_matches_an_assertion_if_their_normal_forms_are_equal(
        matching in any_matching(),
        left in "[aAbBßéЁё12 =,+\\\\-]{0,6}",
        right in "[aAbBßéЁё12 =,+\\\\-]{0,6}",
    ) {
        let schema = Schema::standard();
        let (one, two) = (normal(matching, left.as_bytes()), normal(matching, right.as_bytes()));
        if let Some(form) = &two {
            let matches = matching.matches(&schema, left.as_bytes(), right.as_bytes(), form, &mut Vec::new());
            prop_assert_eq!(matches, one == two);
        }
    }

    #[test]
    fn no_bytes_make_a_matching_rule_panic(matching in any_matching(), value in prop::collection::vec(any::<u8>(), 0..40)) {
        normal(matching, &value);
    }
}
