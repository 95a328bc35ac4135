//! Specs as JSON, and invalid specs.

use files::{Class, Spec, SpecError};

use crate::common::{in_turn, made, refused, spec, spread};

#[test]
fn a_spec_reads_back_as_written() {
    let text = r#"{"name":"large-filemix","seed":1997,"classes":[{"name":"2k-3k","sizes":[2048,3072]},{"name":"own","sizes":[5],"files":7},{"name":"wide","spread":[223,541696],"files":50}]}"#;
    let read: Spec = serde_json::from_str(text).unwrap();
    assert_eq!(read.files_per_class, 1);
    let set = made(read.clone());
    assert_eq!(
        (set.class("2k-3k"), set.class("own"), set.class("wide")),
        (Some(0..2), Some(2..9), Some(9..59))
    );
    assert_eq!(set.class("other"), None);
    let written = serde_json::to_string(&read).unwrap();
    assert_eq!(written, text.replace("1997,", r#"1997,"files_per_class":1,"#));
    assert_eq!(serde_json::from_str::<Spec>(&written).unwrap(), read);
    assert!(serde_json::from_str::<Spec>(&text.replace("sizes", "size")).is_err());
}

#[test]
fn a_spread_is_increasing_and_begins_and_ends_with_its_bounds() {
    for files in [2, 3, 10, 1_000] {
        let set = made(spec("s", 1, vec![spread("wide", 223, 541_696, files)]));
        let sizes: Vec<_> = (0..files).map(|i| set.file(i).unwrap().size()).collect();
        assert_eq!((sizes[0], sizes.last()), (223, Some(&541_696)));
        assert!(sizes.is_sorted());
    }
    let one = made(spec("s", 1, vec![spread("wide", 223, 541_696, 1)]));
    assert_eq!((one.count(), one.bytes()), (1, 223));
    let set_s = Class { files: None, ..spread("wide", 1, 4, 1) };
    assert_eq!(made(spec("s", 3, vec![set_s])).bytes(), 1 + 2 + 4);
}

#[test]
fn the_refusal_of_an_invalid_spec_names_the_flaw() {
    let class = || in_turn("a", &[1]);
    for name in ["", ".", "..", ".hidden", "-a", "a/b", "a b", "a%41", "é", "a\0", &"a".repeat(65)] {
        assert_eq!(refused(spec(name, 1, vec![class()])), SpecError::Name(name.into()));
        assert_eq!(refused(spec("s", 1, vec![in_turn(name, &[1])])), SpecError::Name(name.into()));
    }
    assert_eq!(refused(spec("s.manifest", 1, vec![class()])), SpecError::ManifestName("s.manifest".into()));
    assert_eq!(refused(spec("s", 1, vec![])), SpecError::NoClass("s".into()));
    let twice = SpecError::TwoClasses { set: "s".into(), class: "a".into() };
    assert_eq!(refused(spec("s", 1, vec![class(), class()])), twice);
    let sizes = || SpecError::Sizes("a".into());
    assert_eq!(refused(spec("s", 1, vec![in_turn("a", &[])])), sizes());
    let both = Class { sizes: vec![1], ..spread("a", 1, 2, 3) };
    assert_eq!(refused(spec("s", 1, vec![both])), sizes());
    assert_eq!(refused(spec("s", 0, vec![class()])), SpecError::NoFiles("a".into()));
    let none = Class { files: Some(0), ..class() };
    assert_eq!(refused(spec("s", 1, vec![none])), SpecError::NoFiles("a".into()));
    for (smallest, largest) in [(0, 5), (5, 3)] {
        let wrong = SpecError::Spread { class: "a".into(), smallest, largest };
        assert_eq!(refused(spec("s", 1, vec![spread("a", smallest, largest, 3)])), wrong);
    }
    let many = SpecError::WideSpread { class: "a".into(), files: 1_000_001, most: 1_000_000 };
    assert_eq!(refused(spec("s", 1, vec![spread("a", 1, 2, 1_000_001)])), many);
}

#[test]
fn a_set_with_too_many_files_or_bytes_is_refused_as_too_large() {
    let too_large = SpecError::TooLarge("s".into());
    for (files, sizes) in [
        (u64::MAX, vec![0, 0]),
        (1, vec![u64::MAX, 1]),
        (1, vec![1 << 63]),
        (1 << 62, vec![4]),
        (3, vec![i64::MAX as u64 / 2]),
    ] {
        assert_eq!(refused(spec("s", files, vec![in_turn("a", &sizes)])), too_large, "{files} {sizes:?}");
    }
    let all = Class { files: Some(u64::MAX), ..in_turn("a", &[0]) };
    assert_eq!(refused(spec("s", 1, vec![all, in_turn("b", &[0])])), too_large);
    let largest = made(spec("s", 1, vec![in_turn("a", &[i64::MAX as u64])]));
    assert_eq!(largest.bytes(), i64::MAX as u64);
}
