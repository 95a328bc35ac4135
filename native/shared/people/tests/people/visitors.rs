//! Visitors are the people of the paper profile with their own preferences.

use people::visitor::{Visitor, Visitors};
use people::{Pools, Population, Profile};
use proptest::prelude::*;

use crate::common::{POOLS, population};

fn visitors(seed: u64) -> Visitors {
    Visitors::new(&Pools::parse(POOLS).unwrap(), seed, &["en_US", "ru_RU", "ja_JP"].map(str::to_owned))
        .unwrap()
}

fn attribute(population: &Population, i: u64, name: &str) -> String {
    let attributes = population.attributes(i);
    let (_, values) = attributes.iter().find(|(known, _)| known == name).unwrap();
    String::from_utf8(values[0].clone()).unwrap()
}

proptest! {
    #[test]
    fn visitor_n_is_person_n_of_the_directory(seed: u64, i: u64) {
        let population = population(Profile::Paper, seed);
        let visitor = visitors(seed).visitor(i);
        prop_assert_eq!(visitor.id, i);
        for (value, name) in [
            (&visitor.name, "cn"), (&visitor.given, "givenName"), (&visitor.family, "sn"),
            (&visitor.mail, "mail"), (&visitor.city, "l"), (&visitor.country, "c"),
            (&visitor.company, "o"), (&visitor.occupation, "title"),
        ] {
            prop_assert_eq!(value, &attribute(&population, i, name));
        }
    }

    #[test]
    fn a_reused_buffer_contains_nothing_of_the_previous_visitor(seed: u64, before: u64, i: u64) {
        let visitors = visitors(seed);
        let mut used = Visitor::default();
        visitors.fill(before, &mut used);
        visitors.fill(i, &mut used);
        prop_assert_eq!(used, visitors.visitor(i));
    }

    #[test]
    fn properties_are_within_the_range_of_their_columns(i: u64) {
        let visitor = visitors(7).visitor(i);
        for colour in [&visitor.background, &visitor.accent] {
            prop_assert!(colour.len() == 7 && colour.starts_with('#'));
            prop_assert!(u32::from_str_radix(&colour[1..], 16).is_ok());
        }
        prop_assert!((1945..2005).contains(&visitor.birth_year));
        prop_assert!((0..2000).contains(&visitor.visits));
        prop_assert!((1_735_689_600..1_767_225_600).contains(&visitor.last_visit), "in 2025");
        prop_assert_eq!(visitor.language.len(), 2);
    }
}

#[test]
fn the_digest_of_visitors_depends_only_on_seed_and_locales() {
    let digest = visitors(1).digest();
    assert_eq!(digest, visitors(1).digest());
    assert_ne!(digest, visitors(2).digest());
    let one = Visitors::new(&Pools::parse(POOLS).unwrap(), 1, &["en_US".to_owned()]).unwrap();
    assert_ne!(digest, one.digest());
}

/// A change of this result changes every database: also raise the recipe number in visitor/identity.rs.
#[test]
fn the_first_visitor_never_changes() {
    let visitor = visitors(1997).visitor(0);
    let drawn =
        [&visitor.background, &visitor.accent, &visitor.sections, &visitor.interests, &visitor.stocks];
    let expected = [
        "#edf6f5",
        "#3f6b2a",
        r#"["sports","science","travel"]"#,
        r#"["cycling","jazz","chess","railways","painting"]"#,
        r#"["BAY"]"#,
    ];
    assert_eq!(drawn.map(String::as_str), expected);
}
