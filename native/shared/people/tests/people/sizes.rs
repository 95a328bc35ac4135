//! The message sizes that paper 002 specifies.

use crate::common::{entry, population, with};
use people::{Population, Profile};
use proptest::prelude::*;
use wire::ldap::{answer, op, request};

const LOCALES: [&str; 3] = ["en_US", "ru_RU", "ja_JP"];

fn within_ten_percent(bytes: usize, of: usize) -> bool {
    bytes.abs_diff(of) * 10 <= of
}

/// The bytes of a server's whole answer to a lookup.
fn answer_bytes(people: &Population, i: u64, message_id: i32) -> usize {
    let (dn, attributes) = entry(people, i);
    let mut body = Vec::new();
    wire::ber::write_octets(&mut body, &dn);
    body.extend_from_slice(&attributes);
    let mut out = Vec::new();
    answer::write_entry(&mut out, message_id, &body);
    answer::write_result(&mut out, message_id, op::SEARCH_DONE, &answer::Verdict::SUCCESS);
    out.len()
}

fn add_bytes(people: &Population, i: u64, message_id: i32) -> usize {
    let (dn, attributes) = entry(people, i);
    let mut out = Vec::new();
    request::write_add(&mut out, message_id, &dn, |out| out.extend_from_slice(&attributes));
    out.len()
}

proptest! {
    #[test]
    fn every_lookup_answer_of_the_paper_profile_has_1283_bytes_within_ten_percent(
        seed: u64, i: u64, locale in 0usize..3, message_id in 1i32..32_768,
    ) {
        let bytes = answer_bytes(&with(Profile::Paper, seed, &[LOCALES[locale]]), i, message_id);
        prop_assert!(within_ten_percent(bytes, 1_283), "{bytes} bytes in {}", LOCALES[locale]);
    }

    #[test]
    fn every_add_of_the_small_profile_has_126_bytes_within_ten_percent(
        seed: u64, i in 0u64..10_000_000_000, locale in 0usize..3, message_id in 1i32..128,
    ) {
        let bytes = add_bytes(&with(Profile::Small, seed, &[LOCALES[locale]]), i, message_id);
        prop_assert!(within_ten_percent(bytes, 126), "{bytes} bytes in {}", LOCALES[locale]);
    }
}

#[test]
fn answers_of_the_paper_profile_differ_in_length_by_at_most_a_character() {
    let people = population(Profile::Paper, 1);
    let sizes: Vec<_> = (0..10_000).map(|i| answer_bytes(&people, i, 1)).collect();
    let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
    assert!(*most <= 1_283 && *least >= 1_275, "{least} to {most} bytes");
}
