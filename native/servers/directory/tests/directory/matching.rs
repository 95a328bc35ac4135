//! Equality and order of values (RFC 4517 section 4.2).

use directory::matching::compare;
use directory::schema::{MATCHING_RULES, Matching, Schema, rule};
use proptest::prelude::*;

fn normal(matching: Matching, value: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    matching.normalise(&Schema::standard(), value, &mut out).then_some(out)
}

#[test]
fn values_match_in_every_spelling() {
    for (matching, left, right) in [
        (Matching::CaseIgnore, "Anna Lee", "  anna   LEE "),
        (Matching::CaseIgnore, "Пётр Ёлкин", "пётр ёлкин"),
        (Matching::CaseIgnore, "Ψυχής", "ΨΥΧΉΣ"),
        (Matching::CaseIgnore, "Straße", "STRASSE"),
        (Matching::CaseIgnore, "山田 太郎", "山田  太郎"),
        (Matching::CaseIgnore, "ﾔﾏﾀﾞ", "ヤマダ"),
        (Matching::CaseIgnore, "Café", "Cafe\u{301}"),
        (Matching::CaseIgnore, "İstanbul", "i\u{307}stanbul"),
        (Matching::CaseExact, " Anna  Lee", "Anna Lee"),
        (Matching::Integer, "7", "007"),
        (Matching::Integer, "-0", "0"),
        (Matching::Integer, "-012", "-12"),
        (Matching::TelephoneNumber, "+49 30-123 456", "+4930123456"),
        (Matching::TelephoneNumber, "1-800-FLOWERS", "1 800 flowers"),
        (Matching::NumericString, "12 34 5", "12345"),
        (Matching::DistinguishedName, "CN=Anna,O=Intranet", "commonName = anna ; 2.5.4.10=INTRANET"),
        (Matching::DistinguishedName, "cn=Anna+sn=Lee,o=x", "sn=lee+cn=ANNA,o=X"),
        (Matching::DistinguishedName, "cn=a\\2cb", "cn=A\\,B"),
        (Matching::DistinguishedName, "uidNumber=007", "uidNumber=7"),
        (Matching::DistinguishedName, "telephoneNumber=1 2", "telephoneNumber=1-2"),
        (Matching::ObjectIdentifier, "person", "2.5.6.6"),
        (Matching::ObjectIdentifier, "PERSON", "person"),
        (Matching::ObjectIdentifier, "commonName", "cn"),
        (Matching::ObjectIdentifier, "unheardOf", "UNHEARDOF"),
        (Matching::Boolean, "TRUE", "true"),
        (Matching::GeneralizedTime, "20240229120000Z", "202402291300+0100"),
    ] {
        let [left_form, right_form] = [left, right].map(|value| normal(matching, value.as_bytes()));
        assert!(left_form.is_some() && left_form == right_form, "{matching:?} {left:?} {right:?}");
    }
}

#[test]
fn values_that_differ_do_not_match() {
    for (matching, left, right) in [
        (Matching::CaseIgnore, "Анна", "Anna"),
        (Matching::CaseIgnore, "AnnaLee", "Anna Lee"),
        (Matching::CaseExact, "anna", "Anna"),
        (Matching::NumericString, "12345", "12346"),
        (Matching::TelephoneNumber, "+49 30", "+49 31"),
        (Matching::DistinguishedName, "cn=a,o=x", "cn=a+o=x"),
        (Matching::ObjectIdentifier, "person", "organizationalPerson"),
        (Matching::Boolean, "TRUE", "FALSE"),
    ] {
        let [left_form, right_form] = [left, right].map(|value| normal(matching, value.as_bytes()));
        assert_ne!(left_form, right_form, "{matching:?} {left:?} {right:?}");
    }
}

#[test]
fn a_value_that_is_invalid_in_its_syntax_has_no_normal_form() {
    for (matching, values) in [
        (Matching::Integer, &["", "-", "1.5", "0x10", "1 000", "+1"][..]),
        (Matching::DistinguishedName, &["nonsense"]),
        (Matching::Boolean, &["yes"]),
    ] {
        for value in values {
            assert_eq!(normal(matching, value.as_bytes()), None, "{matching:?} {value:?}");
        }
    }
}

#[test]
fn numbers_and_times_have_the_order_of_their_values() {
    let numbers =
        ["-100000000000000000000", "-20", "-3", "0", "9", "10", "3758139584", "100000000000000000000"];
    let times = ["20240229120000Z", "20240229120000.5Z"];
    for (matching, values) in [(Matching::Integer, &numbers[..]), (Matching::GeneralizedTime, &times)] {
        let forms: Vec<_> = values.iter().map(|value| normal(matching, value.as_bytes()).unwrap()).collect();
        for (left, form) in forms.iter().enumerate() {
            for (right, other) in forms.iter().enumerate() {
                assert_eq!(compare(matching, form, other), left.cmp(&right), "{matching:?} {left} {right}");
            }
        }
    }
}

#[test]
fn latin_1_values_of_old_clients_match_bytewise() {
    assert_eq!(normal(Matching::CaseIgnore, b"J\xfcRGEN").unwrap(), b"j\xfcrgen");
    assert_ne!(normal(Matching::CaseIgnore, b"J\xfcrgen"), normal(Matching::CaseIgnore, "Jürgen".as_bytes()));
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
