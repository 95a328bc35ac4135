//! Passwords of people, and their stored values in directories.

use std::collections::HashSet;
use std::num::NonZeroU64;
use std::ops::ControlFlow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hashes::{Hash, Slow};
use people::{Passwords, Population, PopulationError, Profile};
use sha1::Sha1;
use sha2::{Digest, Sha512};

use crate::common::{changed, population};

fn with(profile: Profile, hash: Hash, one: Option<&str>) -> Population {
    let passwords = Passwords { hash, one: one.map(str::to_owned), pool: None };
    changed(|spec| (spec.profile, spec.passwords) = (profile, passwords)).unwrap()
}

fn password(people: &Population, i: u64) -> Vec<u8> {
    let mut password = Vec::new();
    people.write_password(i, &mut password);
    password
}

fn stored(people: &Population, i: u64) -> Vec<u8> {
    let attributes = people.attributes(i);
    let (name, mut values) = attributes.into_iter().next_back().unwrap();
    assert!(["userPassword", "unicodePwd"].contains(&&*name), "the last attribute is {name}");
    values.remove(0)
}

/// Checks a stored value as a server does (RFC 2307 section 5.3); returns its salt.
fn checks<D: Digest>(scheme: &str, stored: &[u8], password: &[u8]) -> Vec<u8> {
    let both = STANDARD.decode(stored.strip_prefix(scheme.as_bytes()).unwrap()).unwrap();
    let (digest, salt) = both.split_at(<D as Digest>::output_size());
    assert_eq!(D::new().chain_update(password).chain_update(salt).finalize()[..], *digest);
    salt.to_vec()
}

#[test]
fn a_stored_hash_is_made_of_the_persons_password_and_a_unique_salt() {
    let (one, other) = (with(Profile::Person, Hash::Ssha, None), with(Profile::Posix, Hash::Ssha512, None));
    let mut salts = HashSet::new();
    let mut passwords = HashSet::new();
    for i in 0..1_000 {
        let password = password(&one, i);
        let salt = checks::<Sha1>("{SSHA}", &stored(&one, i), &password);
        assert_eq!(checks::<Sha512>("{SSHA512}", &stored(&other, i), &password), salt);
        assert_eq!(salt.len(), 8);
        salts.insert(salt);
        passwords.insert(password);
    }
    assert_eq!((salts.len(), passwords.len()), (1_000, 1_000));
}

#[test]
fn a_password_has_four_kinds_of_characters_and_no_vowel() {
    let people = population(Profile::Person, 1);
    for i in 0..1_000 {
        let password = String::from_utf8(password(&people, i)).unwrap();
        assert!(password.starts_with("Pw1-") && password.len() == 16, "{password}");
        assert!(!password.contains(['a', 'e', 'i', 'o', 'u', 'y']), "{password}");
    }
}

#[test]
fn one_password_can_be_set_for_everybody() {
    let people = with(Profile::Person, Hash::Ssha, Some("pässword"));
    assert_eq!(password(&people, 5), "pässword".as_bytes());
    let salts = [5, 6].map(|i| checks::<Sha1>("{SSHA}", &stored(&people, i), "pässword".as_bytes()));
    assert_ne!(salts[0], salts[1]);
    assert_eq!(stored(&with(Profile::Person, Hash::Clear, Some("x")), 5), b"x");
}

#[test]
fn a_cleartext_password_is_stored_unchanged_or_as_quoted_utf_16_in_profile_ad() {
    let people = with(Profile::Person, Hash::Clear, None);
    assert_eq!(stored(&people, 9), password(&people, 9));
    let people = with(Profile::Ad, Hash::Ssha, Some("Pü"));
    assert_eq!(stored(&people, 9), b"\"\0P\0\xfc\0\"\0");
}

#[test]
fn the_shown_attributes_are_those_of_the_person_without_the_password() {
    for profile in Profile::ALL {
        let people = population(profile, 1);
        let mut shown = Vec::new();
        people.write_shown(7, &mut shown);
        let list = wire::ber::Reader::new(&shown).expect(wire::ber::tag::SEQUENCE).unwrap();
        let shown = wire::ldap::Attributes(list).iter().map(|each| each.unwrap().name.to_vec());
        let mut expected: Vec<_> =
            people.attributes(7).into_iter().map(|(name, _)| name.into_bytes()).collect();
        expected.retain(|name| name != b"userPassword" && name != b"unicodePwd");
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{profile:?}");
    }
}

#[test]
fn hash_and_password_change_the_digest_only_in_profiles_with_passwords() {
    let digest = |profile, hash, one| with(profile, hash, one).digest();
    let person = digest(Profile::Person, Hash::Ssha, None);
    assert_ne!(digest(Profile::Person, Hash::Clear, None), person);
    assert_ne!(digest(Profile::Person, Hash::Ssha, Some("x")), person);
    assert_eq!(digest(Profile::Paper, Hash::Clear, Some("x")), population(Profile::Paper, 1).digest());
}

#[test]
fn an_empty_password_is_refused() {
    let refused = changed(|spec| (spec.profile, spec.passwords.one) = (Profile::Person, Some(String::new())));
    assert_eq!(refused.unwrap_err(), PopulationError::NoPassword);
}

fn pooled(hash: &str, pool: Option<u64>, size: u64) -> Population {
    let passwords =
        Passwords { hash: hash.parse().unwrap(), one: None, pool: pool.and_then(NonZeroU64::new) };
    changed(|spec| (spec.profile, spec.size, spec.passwords) = (Profile::Person, size, passwords)).unwrap()
}

#[test]
fn a_hash_pool_has_hashes_of_the_first_people_which_all_later_people_reuse() {
    let own = population(Profile::Person, 1);
    for hash in ["pbkdf2-sha256:2", "pbkdf2-sha512:2", "crypt:1000", "argon2:8k:1"] {
        let people = pooled(hash, Some(3), 100);
        assert_eq!(people.slow_hashes(), 3);
        let values: HashSet<_> = (0..100).map(|i| stored(&people, i)).collect();
        assert_eq!(values.len(), 3, "{hash}");
        for i in [0, 2, 3, 97, 1_000_000_001] {
            assert_eq!(stored(&people, i), stored(&people, i % 3));
            assert_eq!(password(&people, i), password(&own, i % 3));
            let slow = Slow::parse(&stored(&people, i)).unwrap();
            assert_eq!(slow.is_of(&password(&people, i)), Some(true), "{hash}");
            assert_eq!(slow.is_of(&password(&people, i + 1)), Some(false), "{hash}");
        }
    }
    // A fast hash can have a pool, too.
    let quick = pooled("ssha", Some(3), 100);
    assert_eq!((quick.slow_hashes(), stored(&quick, 5)), (0, stored(&own, 2)));
}

#[test]
fn a_smaller_population_has_the_hashes_of_a_larger_population_with_any_pool() {
    for pool in [Some(10), None] {
        let (few, many) = (pooled("pbkdf2-sha256:1", pool, 7), pooled("pbkdf2-sha256:1", pool, 50));
        assert_eq!(few.digest(), many.digest());
        assert_eq!(
            (0..7).map(|i| stored(&few, i)).collect::<Vec<_>>(),
            (0..7).map(|i| stored(&many, i)).collect::<Vec<_>>()
        );
        assert_eq!((few.slow_hashes(), many.slow_hashes()), (7, pool.unwrap_or(50)));
    }
    assert_ne!(pooled("crypt", Some(10), 1).digest(), pooled("crypt", Some(11), 1).digest());
}

#[test]
fn hashing_uses_many_threads_and_existing_hashes_and_can_be_cancelled() {
    let (people, other) = (pooled("pbkdf2-sha256:100", None, 200), pooled("pbkdf2-sha256:100", None, 300));
    people.make_hashes(3, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(people.hashes().count(), 200);
    assert!(people.hashes().zip(0..).all(|(value, i)| value == stored(&people, i)));
    other.take_hashes(people.hashes().take(150));
    assert_eq!(other.hashes().count(), 150);
    assert_eq!(stored(&other, 149), stored(&people, 149));
    // Neither an invalid hash nor the hashes after it are reused.
    let fresh = pooled("pbkdf2-sha256:100", None, 9);
    fresh.take_hashes([stored(&people, 0).as_slice(), b"{PBKDF2-SHA256}x", &stored(&people, 2)].into_iter());
    assert_eq!(fresh.hashes().count(), 1);
    let long = pooled("pbkdf2-sha256:100000", None, 100_000);
    long.make_hashes(2, |_| ControlFlow::Break(())).unwrap();
    assert!((0..50_000).contains(&long.hashes().count()));
}
