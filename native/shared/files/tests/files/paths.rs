//! Numbers, paths and sizes of files.

use proptest::prelude::*;

use crate::common::{in_turn, made, sets, small, spec};

proptest! {
    #[test]
    fn every_path_maps_back_to_its_file(set in sets(), i: prop::sample::Index) {
        let i = i.index(set.count() as usize) as u64;
        let file = set.file(i).unwrap();
        let mut request = b"GET ".to_vec();
        file.write_path(&mut request);
        prop_assert_eq!(String::from_utf8(request).unwrap(), format!("GET {}", file.path()));
        prop_assert_eq!(set.index_of(file.path().as_bytes()), Some(i));
    }

    #[test]
    fn the_totals_are_the_sums_over_all_files(set in sets()) {
        let sizes = (0..set.count()).map(|i| set.file(i).unwrap().size());
        prop_assert_eq!(sizes.sum::<u64>(), set.bytes());
        prop_assert!(set.file(set.count()).is_none());
    }

    #[test]
    fn the_file_numbers_of_consecutive_classes_have_no_gap(set in sets()) {
        let mut end = 0;
        for class in &set.spec().classes {
            let files = set.class(&class.name).unwrap();
            prop_assert_eq!(files.start, end);
            let path = set.file(files.start).unwrap().path();
            prop_assert_eq!(path, format!("/{}/{}/0/0.html", set.spec().name, class.name));
            end = files.end;
        }
        prop_assert_eq!(end, set.count());
    }

    #[test]
    fn only_the_exact_path_of_a_file_maps_to_it(set in sets(), i: prop::sample::Index, at: prop::sample::Index, byte: u8) {
        let file = set.file(i.index(set.count() as usize) as u64).unwrap();
        let mut path = file.path().into_bytes();
        let at = at.index(path.len());
        path[at] = byte;
        // Another digit may yield the path of another file, which must then map to that file.
        if let Some(found) = set.index_of(&path) {
            prop_assert_eq!(set.file(found).unwrap().path().into_bytes(), path);
        }
    }

    #[test]
    fn random_text_is_no_path_of_a_file(text in prop::collection::vec(any::<u8>(), 0..60)) {
        prop_assert_eq!(small().index_of(&text), None);
    }
}

#[test]
fn each_path_has_only_one_spelling() {
    let set = made(spec("set", 3_000, vec![in_turn("a", &[1])]));
    assert_eq!(set.file(2_999).unwrap().path(), "/set/a/2/2999.html");
    assert_eq!(set.index_of(b"/set/a/2/2999.html"), Some(2_999));
    for wrong in [
        "",
        "/",
        "/set",
        "/set/a",
        "/set/a/2",
        "/set/a/2/",
        "/set/a/2/3000.html",
        "/set/a/3/3000.html",
        "/set/a/1/2999.html",
        "/set/a/02/2999.html",
        "/set/a/2/02999.html",
        "/set/a/2/+2999.html",
        "/set/a/2/2999.htm",
        "/set/a/2/2999.html/",
        "/set/a/2/2999.html?",
        "/set/a//2999.html",
        "//set/a/2/2999.html",
        "/set//a/2/2999.html",
        "/set/b/2/2999.html",
        "/Set/a/2/2999.html",
        "set/a/2/2999.html",
        "/set/a/0/.html",
        "/set/a/0/18446744073709551616.html",
        "/set/a/18446744073709551/18446744073709551615.html",
    ] {
        assert_eq!(set.index_of(wrong.as_bytes()), None, "{wrong}");
    }
}

#[test]
fn a_set_of_any_size_is_created_instantly() {
    let set = made(spec("huge", 1 << 40, vec![in_turn("a", &[10, 20]), in_turn("b", &[1])]));
    assert_eq!((set.count(), set.bytes()), (3 << 40, 31 << 40));
    let file = set.file((3 << 40) - 1).unwrap();
    assert_eq!(file.path(), "/huge/b/1099511627/1099511627775.html");
    assert_eq!(set.index_of(file.path().as_bytes()), Some((3 << 40) - 1));
}
