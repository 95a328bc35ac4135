//! Invariants of a population for any seed and person.

use crate::common::{changed, entry, population, with};
use people::{Passwords, Population, PopulationError, Profile, Spec};
use proptest::prelude::*;
use wire::ber::{Reader, tag};
use wire::dn::Dn;
use wire::ldap::Attributes;

fn any_profile() -> impl Strategy<Value = Profile> {
    prop::sample::select(&Profile::ALL[..])
}

fn name(population: &Population, i: u64) -> Vec<u8> {
    let mut name = Vec::new();
    population.write_name(i, &mut name);
    name
}

proptest! {
    #[test]
    fn a_smaller_population_is_a_prefix_of_a_larger_one(
        profile in any_profile(), seed: u64, i: u64, size: u64, larger: u64,
    ) {
        let of_size = |size| {
            changed(|spec| (spec.profile, spec.seed, spec.size) = (profile, seed, size)).unwrap()
        };
        let (small, large) = (of_size(size), of_size(larger));
        prop_assert_eq!(entry(&small, i), entry(&large, i));
        prop_assert_eq!(small.digest(), large.digest());
    }

    #[test]
    fn entries_do_not_depend_on_the_order_of_generation(
        profile in any_profile(), seed: u64, order in prop::collection::vec(0u64..200, 1..50),
    ) {
        let people = population(profile, seed);
        let forward: Vec<_> = (0..200).map(|i| entry(&people, i)).collect();
        for i in order {
            prop_assert_eq!(&entry(&people, i), &forward[i as usize]);
        }
    }

    #[test]
    fn the_index_of_a_persons_name_is_that_of_the_person(profile in any_profile(), seed: u64, i: u64) {
        let people = population(profile, seed);
        prop_assert_eq!(people.index_of(&name(&people, i)), Some(i));
    }

    #[test]
    fn a_name_of_nobody_has_no_index(
        profile in any_profile(), seed: u64, i: u64, other in any::<Vec<u8>>(), at in any::<prop::sample::Index>(),
    ) {
        let people = population(profile, seed);
        if let Some(found) = people.index_of(&other) {
            prop_assert_eq!(name(&people, found), other);
        }
        let mut changed = name(&people, i);
        let at = at.index(changed.len());
        changed[at] ^= 0x01;
        if let Some(found) = people.index_of(&changed) {
            prop_assert_eq!(name(&people, found), changed);
        }
    }

    #[test]
    fn attributes_are_one_well_formed_list_with_minimal_lengths(
        profile in any_profile(), seed: u64, i: u64,
    ) {
        let people = population(profile, seed);
        let mut encoded = Vec::new();
        people.write_attributes(i, &mut encoded);

        let mut outer = Reader::new(&encoded);
        let list = outer.expect(tag::SEQUENCE).unwrap();
        prop_assert!(outer.finish().is_ok(), "bytes after the list");
        Attributes(list).check().unwrap();

        let mut again = Vec::new();
        wire::ber::write_nested(&mut again, tag::SEQUENCE, |out| {
            for (name, values) in people.attributes(i) {
                let values = values.iter().map(Vec::as_slice);
                wire::ldap::request::write_attribute(out, name.as_bytes(), values);
            }
        });
        prop_assert_eq!(again, encoded);
    }

    #[test]
    fn values_are_never_empty_and_attributes_never_repeated(profile in any_profile(), seed: u64, i: u64) {
        let attributes = population(profile, seed).attributes(i);
        let mut names: Vec<_> = attributes.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), attributes.len());
        for (name, values) in &attributes {
            prop_assert!(!values.is_empty() && values.iter().all(|value| !value.is_empty()), "{name}");
            prop_assert!(values.iter().all(|value| str::from_utf8(value).is_ok()), "{name}");
        }
    }

    #[test]
    fn an_entry_has_the_name_in_the_rdn_and_as_an_attribute_value(profile in any_profile(), seed: u64, i: u64) {
        let people = population(profile, seed);
        let attributes = people.attributes(i);
        let (_, named) = attributes.iter().find(|(name, _)| name == profile.naming()).unwrap();
        prop_assert_eq!(named, &vec![name(&people, i)]);
        let (dn, _) = entry(&people, i);
        let dn = Dn::parse(&dn).unwrap();
        let pair = dn.split_first().unwrap().0.pairs().next().unwrap();
        prop_assert!(pair.is(profile.naming().as_bytes()));
        let mut scratch = Vec::new();
        prop_assert_eq!(pair.value.decode(&mut scratch), &named[0][..]);
    }

    #[test]
    fn another_seed_yields_other_people(profile in any_profile(), seed: u64) {
        let (one, other) = (population(profile, seed), population(profile, seed.wrapping_add(1)));
        prop_assert_ne!(one.digest(), other.digest());
        prop_assert!((0..20).any(|i| entry(&one, i) != entry(&other, i)));
    }
}

#[test]
fn no_two_people_share_a_name() {
    for profile in Profile::ALL {
        let people = population(profile, 3);
        let names: std::collections::HashSet<_> = (0..20_000).map(|i| name(&people, i)).collect();
        assert_eq!(names.len(), 20_000, "{profile:?}");
    }
}

#[test]
fn every_locale_provides_its_share_of_people() {
    let people = population(Profile::Paper, 3);
    let mut counts = [0; 3];
    for i in 0..9_000 {
        let first = name(&people, i)[0];
        // The first byte identifies the script: ASCII, Cyrillic, Han.
        counts[usize::from(first >= 0x80) + usize::from(first >= 0xe0)] += 1;
    }
    assert!(counts.iter().all(|n| (2_800..3_200).contains(n)), "{counts:?}");
}

#[test]
fn all_values_of_a_person_come_from_one_locale() {
    let people = with(Profile::Paper, 1, &["ja_JP"]);
    for i in 0..100 {
        let attributes = people.attributes(i);
        let country = attributes.iter().find(|(name, _)| name == "c").unwrap();
        assert_eq!(country.1, [b"JP"]);
    }
}

#[test]
fn the_digest_depends_on_the_people_and_not_on_size_or_base() {
    let base = population(Profile::Paper, 1);
    let digest = |change: fn(&mut Spec)| changed(change).unwrap().digest();
    assert_eq!(digest(|spec| spec.size = 7), base.digest());
    assert_eq!(digest(|spec| spec.base = "dc=example,dc=com".to_owned()), base.digest());
    assert_ne!(digest(|spec| spec.seed = 2), base.digest());
    assert_ne!(digest(|spec| spec.profile = Profile::Small), base.digest());
    assert_ne!(digest(|spec| spec.locales.reverse()), base.digest());
}

#[test]
fn people_around_number_4711_of_seed_1997_never_change() {
    // Across versions the seed alone identifies a population. A change of this result means that old run
    // files no longer name the people that they measured.
    let (dn, _) = entry(&population(Profile::Paper, 1997), 4_711);
    assert_eq!(String::from_utf8(dn).unwrap(), "cn=Jo Lee 4711,ou=Dynamic,o=Intranet");
    let digests = Profile::ALL.map(|profile| {
        let people = population(profile, 1997);
        crc(&(4_700..4_720).flat_map(|i| entry(&people, i).1).collect::<Vec<u8>>())
    });
    assert_eq!(
        digests,
        [1_688_608_737, 2_289_956_397, 2_124_454_171, 2_694_344_965, 165_713_765, 510_621_723]
    );
}

#[test]
fn distinguished_names_of_a_population_without_a_base_have_no_comma() {
    let (dn, _) = entry(&changed(|spec| spec.base.clear()).unwrap(), 5);
    assert!(!dn.contains(&b','), "{}", String::from_utf8_lossy(&dn));
}

#[test]
fn an_unknown_locale_and_an_empty_list_of_locales_are_refused() {
    let attempt = |locales: &[&str]| {
        changed(|spec| spec.locales = locales.iter().map(|&locale| locale.to_owned()).collect()).unwrap_err()
    };
    assert_eq!(attempt(&[]), PopulationError::NoLocales);
    let message = attempt(&["en_US", "tlh_AA"]).to_string();
    assert!(message.contains("\"tlh_AA\"") && message.contains("en_US, ru_RU, ja_JP"), "{message}");
}

#[test]
fn a_base_that_is_not_a_dn_is_refused() {
    let message = changed(|spec| spec.base = "Intranet".to_owned()).unwrap_err().to_string();
    assert!(message.contains("\"Intranet\"") && message.contains("ou=Dynamic,o=Intranet"), "{message}");
}

#[test]
fn a_population_spec_is_read_from_json_with_a_lower_case_profile() {
    let json = r#"{"seed":1,"size":10,"profile":"ils","locales":["ja_JP"],"base":"o=x"}"#;
    let spec: Spec = serde_json::from_str(json).unwrap();
    assert_eq!((spec.profile, spec.size), (Profile::Ils, 10));
    assert_eq!(serde_json::to_string(&spec).unwrap(), json);
    for profile in Profile::ALL {
        assert_eq!(serde_json::to_value(profile).unwrap(), profile.as_str());
    }
    let with = json.replace("}", r#","passwords":{"hash":"ssha512","one":"secret"}}"#);
    let spec: Spec = serde_json::from_str(&with).unwrap();
    assert_eq!(
        spec.passwords,
        Passwords { hash: hashes::Hash::Ssha512, one: Some("secret".to_owned()), pool: None }
    );
    assert_eq!(serde_json::to_string(&spec).unwrap(), with);
    let error = serde_json::from_str::<Spec>(&json.replace("seed", "sed")).unwrap_err().to_string();
    assert!(error.contains("sed"), "{error}");
}

#[test]
fn nothing_is_allocated_if_the_buffer_has_room() {
    for profile in Profile::ALL {
        let people = population(profile, 1);
        let mut out = Vec::with_capacity(4_096);
        let before = (out.as_ptr(), out.capacity());
        (0..100).for_each(|i| {
            out.clear();
            people.write_attributes(i, &mut out);
        });
        assert_eq!((out.as_ptr(), out.capacity()), before, "{profile:?}");
    }
}

/// CRC-32 (IEEE 802.3), written here so that the tests need no further dependency.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}
