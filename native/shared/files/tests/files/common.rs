//! File sets for tests.

use files::{Class, FileSet, Spec, SpecError};
use proptest::prelude::*;

pub fn in_turn(name: &str, sizes: &[u64]) -> Class {
    Class { name: name.into(), sizes: sizes.into(), spread: None, files: None }
}

pub fn spread(name: &str, smallest: u64, largest: u64, files: u64) -> Class {
    Class { name: name.into(), sizes: Vec::new(), spread: Some([smallest, largest]), files: Some(files) }
}

pub fn spec(name: &str, files_per_class: u64, classes: Vec<Class>) -> Spec {
    Spec { name: name.into(), seed: 1997, files_per_class, classes }
}

pub fn made(spec: Spec) -> FileSet {
    FileSet::new(spec).unwrap()
}

pub fn refused(spec: Spec) -> SpecError {
    FileSet::new(spec).unwrap_err()
}

/// Three classes, one of each kind, with 2 * 3, 7 and 5 files.
pub fn small() -> FileSet {
    let odd = Class { files: Some(7), ..in_turn("odd", &[0, 1, 17]) };
    made(spec("small", 3, vec![in_turn("2k-3k", &[2_048, 3_072]), odd, spread("wide", 10, 100_000, 5)]))
}

/// Sets of every kind of class, with up to some thousand files.
pub fn sets() -> impl Strategy<Value = FileSet> {
    let sizes = prop::collection::vec(0..5_000u64, 1..5);
    let kinds = prop_oneof![
        (sizes, prop::option::of(1..3_000u64)).prop_map(|(sizes, files)| (sizes, None, files)),
        (1..500u64, 500..9_000u64, 1..1_500u64).prop_map(|(least, most, files)| (
            Vec::new(),
            Some([least, most]),
            Some(files)
        )),
    ];
    let classes = prop::collection::vec(kinds, 1..6);
    ("[a-z][a-z0-9._-]{0,20}", any::<u64>(), 1..700u64, classes)
        .prop_filter("the name of a manifest", |(name, ..)| !name.ends_with(".manifest"))
        .prop_map(|(name, seed, files_per_class, kinds)| {
            let named = |(c, (sizes, spread, files))| Class { name: format!("c{c}"), sizes, spread, files };
            let classes = kinds.into_iter().enumerate().map(named).collect();
            made(Spec { name, seed, files_per_class, classes })
        })
}

/// The whole content of a file.
pub fn content(key: u64, size: u64) -> Vec<u8> {
    let mut whole = vec![0; usize::try_from(size).unwrap()];
    files::fill(key, 0, &mut whole);
    whole
}

pub fn content_of(set: &FileSet, i: u64) -> Vec<u8> {
    let file = set.file(i).unwrap();
    content(file.key(), file.size())
}

pub fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
