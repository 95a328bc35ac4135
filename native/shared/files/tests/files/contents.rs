//! Contents, and the checker that compares bodies with them.

use std::collections::HashSet;

use files::{Checker, Spec, fill};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use crate::common::{content, content_of, hex, in_turn, made, sets, small, spec, spread};

/// Feeds a body to a checker without a copy and to a checker with a copy, in pieces that end at `cuts`. The
/// cuts may be unsorted and beyond the body's end.
fn fed(key: u64, size: u64, body: &[u8], cuts: &[usize]) -> Checker {
    let copy = content(key, size);
    let (mut checker, mut beside) = (Checker::new(key, size), Checker::new(key, size));
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (body.len() + 1)).chain([body.len()]).collect();
    cuts.sort_unstable();
    let mut from = 0;
    for to in cuts {
        let right = checker.feed(&body[from..to]);
        let wrong_so_far = checker.finish().is_some_and(|at| at < checker.fed());
        assert_eq!(right, !wrong_so_far, "after {to} bytes");
        assert_eq!(beside.feed_beside(&body[from..to], Some(&copy)), right, "after {to} bytes, by the copy");
        from = to;
    }
    assert_eq!((beside.finish(), beside.fed()), (checker.finish(), checker.fed()));
    checker
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(any::<usize>(), 0..12)
}

proptest! {
    #[test]
    fn a_piece_at_any_offset_is_a_slice_of_the_whole_content(
        key: u64, size in 0..3_000u64, from in 0..3_000usize, length in 0..3_000usize,
    ) {
        let whole = content(key, size);
        let from = from.min(whole.len());
        let to = (from + length).min(whole.len());
        let mut piece = vec![0; to - from];
        fill(key, from as u64, &mut piece);
        prop_assert_eq!(&piece, &whole[from..to]);
    }

    #[test]
    fn a_correct_body_passes_the_check_however_it_is_split(key: u64, size in 0..3_000u64, cuts in cuts()) {
        let checker = fed(key, size, &content(key, size), &cuts);
        prop_assert_eq!((checker.finish(), checker.fed()), (None, size));
    }

    #[test]
    fn a_flipped_bit_is_reported_at_its_position(
        key: u64, size in 1..3_000u64, at: prop::sample::Index, bit in 0..8u32, cuts in cuts(),
    ) {
        let mut body = content(key, size);
        let at = at.index(body.len());
        body[at] ^= 1 << bit;
        prop_assert_eq!(fed(key, size, &body, &cuts).finish(), Some(at as u64));
    }

    #[test]
    fn the_first_of_several_differences_is_reported(
        key: u64, size in 1..3_000u64, ats in prop::collection::vec(any::<prop::sample::Index>(), 1..5), cuts in cuts(),
    ) {
        let mut body = content(key, size);
        let ats: HashSet<_> = ats.iter().map(|at| at.index(body.len())).collect();
        ats.iter().for_each(|&at| body[at] ^= 1);
        let first = ats.iter().min().map(|&at| at as u64);
        prop_assert_eq!(fed(key, size, &body, &cuts).finish(), first);
    }

    #[test]
    fn a_truncated_body_differs_at_its_end(
        key: u64, size in 1..3_000u64, end: prop::sample::Index, cuts in cuts(),
    ) {
        let end = end.index(size as usize);
        let checker = fed(key, size, &content(key, size)[..end], &cuts);
        prop_assert_eq!((checker.finish(), checker.fed()), (Some(end as u64), end as u64));
    }

    #[test]
    fn a_body_longer_than_its_file_differs_at_the_end_of_the_file(
        key: u64, size in 0..3_000u64, more in 1..500u64, cuts in cuts(),
    ) {
        let checker = fed(key, size, &content(key, size + more), &cuts);
        prop_assert_eq!((checker.finish(), checker.fed()), (Some(size), size + more));
    }

    #[test]
    fn a_digest_is_sha_256_of_the_content(set in sets(), i: prop::sample::Index) {
        let i = i.index(set.count() as usize) as u64;
        let digest: [u8; 32] = Sha256::digest(content_of(&set, i)).into();
        prop_assert_eq!(set.file(i).unwrap().digest(), digest);
    }
}

#[test]
fn a_flipped_bit_at_every_position_of_a_file_is_reported() {
    let right = content(5, 1_000);
    for at in 0..right.len() {
        for bit in 0..8 {
            let mut body = right.clone();
            body[at] ^= 1 << bit;
            let mut checker = Checker::new(5, 1_000);
            assert!(!checker.feed(&body));
            assert_eq!(checker.finish(), Some(at as u64));
        }
    }
}

#[test]
fn a_difference_before_the_end_is_reported_before_surplus_bytes() {
    let mut body = content(5, 1_100);
    body[700] ^= 1;
    let mut checker = Checker::new(5, 1_000);
    assert!(!checker.feed(&body));
    assert_eq!(checker.finish(), Some(700));
}

#[test]
fn the_start_and_the_end_of_a_file_of_many_gigabytes_are_checked_alike() {
    let size = 1 << 40;
    let mut whole = vec![0; 64];
    fill(9, size - 64, &mut whole);
    let mut half = vec![0; 32];
    fill(9, size - 32, &mut half);
    assert_eq!(whole[32..], half);
}

#[test]
fn no_two_files_have_the_same_content() {
    let long = |name: &str, seed| {
        let classes = vec![in_turn("a", &[64]), in_turn("b", &[64]), spread("c", 64, 65, 100)];
        made(Spec { seed, ..spec(name, 100, classes) })
    };
    // The sets differ in their seeds or names. Some names have a common prefix, and padding could make names
    // equal.
    let sets = [long("one", 1), long("one", 2), long("one1", 1), long("one-one-", 1), long("one-one-1", 1)];
    let seen: HashSet<_> =
        sets.iter().flat_map(|set| (0..set.count()).map(|i| content_of(set, i)[..64].to_vec())).collect();
    assert_eq!(seen.len(), 5 * 300);
}

/// A set written by another version must verify. These figures come from a program in another language, which
/// was written from the documentation of the crate. They only change if the manifest's format changes.
#[test]
fn contents_never_change_between_versions() {
    let set = small();
    assert_eq!(
        String::from_utf8(content_of(&set, 0)[..64].to_vec()).unwrap(),
        r"I\MR\IK\[ACNXXSGUDBPFYIHEWLK^J]_PC_FSSISXJV_HJ@X^OC[DLCTL[N^^MK]"
    );
    let digests: Vec<_> =
        [0, 1, 5, 6, 8, 12, 13, 17].map(|i| hex(&set.file(i).unwrap().digest()[..8])).into();
    assert_eq!(
        digests,
        [
            "bb644e581458eb65",
            "6ff092fdd08a7d34",
            "23b5298786411bbf",
            "e3b0c44298fc1c14",
            "689c930b56d5a40f",
            "e3b0c44298fc1c14",
            "742e867a01ddee4c",
            "0c9a4e03ae8741af"
        ]
    );
    let sizes: Vec<_> = (0..set.count()).map(|i| set.file(i).unwrap().size()).collect();
    assert_eq!(
        sizes,
        [2_048, 3_072, 2_048, 3_072, 2_048, 3_072, 0, 1, 17, 0, 1, 17, 0, 10, 100, 1_000, 10_000, 100_000]
    );
}

#[test]
fn all_contents_of_a_large_set_never_change_between_versions() {
    let classes =
        vec![in_turn("256b", &[256]), in_turn("4k-6k", &[4_096, 6_144]), spread("wide", 223, 20_000, 150)];
    let set = made(spec("large-filemix", 60, classes));
    let mut all = Sha256::new();
    (0..set.count()).for_each(|i| {
        let file = set.file(i).unwrap();
        all.update(format!("{} {} {}\n", file.path(), file.size(), hex(&file.digest())));
    });
    assert_eq!((set.count(), set.bytes()), (330, 1_295_294));
    assert_eq!(hex(&all.finalize()), "d9ebeeaf79c7119b3152623c6af841a36955288a1a224450f4670bb945a242dd");
}
