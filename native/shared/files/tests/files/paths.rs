//! Numbers, paths and sizes of files.

use proptest::prelude::*;

use crate::common::{in_turn, made, sets, spec};

proptest! {
    #[test]
    fn a_path_is_written_behind_other_bytes(set in sets(), i: prop::sample::Index) {
        let i = i.index(set.count() as usize) as u64;
        let file = set.file(i).unwrap();
        let mut request = b"GET ".to_vec();
        file.write_path(&mut request);
        prop_assert_eq!(String::from_utf8(request).unwrap(), format!("GET {}", file.path()));
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
}

#[test]
fn a_set_of_any_size_is_created_instantly() {
    let set = made(spec("huge", 1 << 40, vec![in_turn("a", &[10, 20]), in_turn("b", &[1])]));
    assert_eq!((set.count(), set.bytes()), (3 << 40, 31 << 40));
    let file = set.file((3 << 40) - 1).unwrap();
    assert_eq!(file.path(), "/huge/b/1099511627/1099511627775.html");
}
