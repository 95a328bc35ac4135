use people::{DEFAULT_BASE, Pools, Population, Profile, Spec};
use proptest::prelude::*;
use wire::dn::Dn;

/// A population in which everybody has this given name.
fn people_called(given: &str) -> Population {
    let from = crate::common::POOLS.find("[en_US given]").unwrap();
    let to = crate::common::POOLS.find("[en_US family]").unwrap();
    let mut pools = crate::common::POOLS.to_owned();
    pools.replace_range(from..to, &format!("[en_US given]\n{given}\n"));
    let spec = Spec { size: 1, ..crate::common::with(Profile::Paper, 1, &["en_US"]).spec().clone() };
    Population::new(&Pools::parse(&pools).unwrap(), spec).unwrap()
}

fn name_and_dn(people: &Population, i: u64) -> (String, String) {
    let (mut name, mut dn) = (Vec::new(), Vec::new());
    people.write_name(i, &mut name);
    people.write_dn(i, &mut dn);
    (String::from_utf8(name).unwrap(), String::from_utf8(dn).unwrap())
}

proptest! {
    #[test]
    fn a_dn_maps_back_to_its_person(given in "[^\\p{C}\\s\\[][ -Z\\\\-~äЖ子]{0,18}[^\\p{C}\\s]", i: u64) {
        let people = people_called(&given);
        let (name, dn) = name_and_dn(&people, i);
        prop_assert!(name.starts_with(&given));
        let (rdn, parent) = Dn::parse(dn.as_bytes()).unwrap().split_first().unwrap();
        prop_assert_eq!(parent.as_bytes(), DEFAULT_BASE.as_bytes());
        let pairs: Vec<_> = rdn.pairs().collect();
        prop_assert_eq!((pairs.len(), pairs[0].attribute), (1, &b"cn"[..]));
        let mut value = Vec::new();
        pairs[0].value.write(&mut value);
        prop_assert_eq!(value, name.as_bytes());
    }
}

#[test]
fn special_characters_are_escaped_with_a_backslash() {
    let (name, dn) = name_and_dn(&people_called(r#"#1 "A+B", <C>;\"#), 7);
    assert!(name.starts_with(r#"#1 "A+B", <C>;\ "#), "{name}");
    assert!(dn.starts_with(r#"cn=\#1 \"A\+B\"\, \<C\>\;\\ "#), "{dn}");
}

#[test]
fn names_contain_native_scripts_unescaped() {
    let people = crate::common::with(Profile::Paper, 1, &["ja_JP"]);
    let (name, dn) = name_and_dn(&people, 12);
    assert!(!name.is_ascii());
    assert_eq!(dn, format!("cn={name},{DEFAULT_BASE}"));
}

#[test]
fn a_name_consists_of_given_name_family_name_and_number() {
    let people = crate::common::with(Profile::Paper, 1, &["en_US"]);
    let attributes = people.attributes(12);
    let value = |wanted: &str| {
        let (_, values) = attributes.iter().find(|(name, _)| name == wanted).unwrap();
        String::from_utf8(values[0].clone()).unwrap()
    };
    assert_eq!(name_and_dn(&people, 12).0, format!("{} {} 12", value("givenName"), value("sn")));
}

#[test]
fn an_ils_client_writes_the_most_significant_rdn_first() {
    let people = crate::common::population(Profile::Ils, 1);
    let (name, dn) = name_and_dn(&people, 3);
    let mut old = Vec::new();
    people.write_ils_dn(3, &mut old);
    assert_eq!(String::from_utf8(old).unwrap(), format!("c=-,o=Microsoft,cn={name},objectClass=rtPerson"));
    assert_eq!(dn, format!("cn={name},ou=Dynamic,o=Intranet"));
}
