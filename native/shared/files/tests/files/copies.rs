//! Copies of small files, and their memory limits.

use files::{Copies, FileSet};

use crate::common::{content_of, in_turn, made, small, spec};

const LARGEST: u64 = 64 << 10;
const IN_ALL: u64 = 32 << 20;

fn kept(set: &FileSet) -> (Copies, Vec<u64>) {
    let copies = Copies::of(set);
    (0..set.count()).for_each(|number| copies.keep(number, &set.file(number).unwrap()));
    let numbers = (0..set.count()).filter(|&number| copies.get(number).is_some()).collect();
    (copies, numbers)
}

#[test]
fn a_copy_equals_the_content_of_its_file() {
    let set = small();
    let (copies, numbers) = kept(&set);
    assert!(!numbers.is_empty());
    for number in numbers {
        assert_eq!(copies.get(number).unwrap(), content_of(&set, number));
    }
}

#[test]
fn a_file_has_no_copy_before_its_first_use() {
    assert!((0..small().count()).all(|number| Copies::of(&small()).get(number).is_none()));
}

#[test]
fn a_file_larger_than_the_limit_has_no_copy() {
    let set = made(spec("sizes", 1, vec![in_turn("at", &[LARGEST]), in_turn("beyond", &[LARGEST + 1])]));
    assert_eq!(kept(&set).1, [0]);
}

#[test]
fn the_copies_of_a_set_stay_within_their_memory_limit() {
    let set = made(spec("many", IN_ALL / LARGEST + 9, vec![in_turn("large", &[LARGEST])]));
    let (copies, numbers) = kept(&set);
    let bytes: usize = numbers.iter().map(|&number| copies.get(number).unwrap().len()).sum();
    assert_eq!(bytes as u64, IN_ALL);
}
