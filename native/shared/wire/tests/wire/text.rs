//! Strings that match after preparation.

use proptest::prelude::*;
use wire::text::{NORMALISED_BYTES, Preparation, is_normalised, prepare, prepare_numeric, prepare_telephone};

fn prepared(value: impl AsRef<[u8]>, how: Preparation) -> Vec<u8> {
    let mut out = Vec::new();
    prepare(value.as_ref(), how, &mut out);
    out
}

fn ignoring_case(value: impl AsRef<[u8]>) -> Vec<u8> {
    prepared(value, Preparation::IGNORE_CASE)
}

#[track_caller]
fn same(a: &str, b: &str) {
    assert_eq!(ignoring_case(a), ignoring_case(b), "{a:?} and {b:?}");
}

#[test]
fn case_is_ignored_in_every_script() {
    same("Anna SCHMIDT", "anna schmidt");
    same("ÉMILE", "émile");
    same("ΟΔΥΣΣΕΥΣ", "οδυσσευς");
    same("ОЛЬГА Ёлкина", "ольга ёлкина");
    same("STRASSE", "straße");
    same("ẞ", "ß");
}

#[test]
fn case_is_significant_for_case_exact_matching() {
    assert_eq!(prepared("  ÄB  Cd ", Preparation::EXACT), "ÄB Cd".as_bytes());
    assert_ne!(prepared("ß", Preparation::EXACT), prepared("ss", Preparation::EXACT));
}

#[test]
fn two_encodings_of_a_character_match() {
    same("e\u{301}", "é");
    same("ﬁne", "fine");
    same("ｱｲｳ", "アイウ");
    same("が", "か\u{3099}");
    same("각", "\u{1100}\u{1161}\u{11a8}");
    same("\u{2126}", "ω");
}

#[test]
fn dotless_i_is_a_separate_letter() {
    assert_ne!(ignoring_case("ı"), ignoring_case("i"));
}

#[test]
fn inner_spaces_count_as_one_and_outer_spaces_are_ignored() {
    same("  Anna   Schmidt ", "anna schmidt");
    same("山田\u{3000}太郎", "山田 太郎");
    same("a\tb\u{a0}c", "a b c");
    assert_eq!(ignoring_case("   "), b"");
    assert_eq!(ignoring_case(" é "), "é".as_bytes());
}

#[test]
fn invisible_characters_are_ignored() {
    same("a\u{ad}b\u{200b}c\0", "abc");
    same("\u{feff}é", "é");
}

#[test]
fn invalid_utf_8_matches_only_the_same_bytes() {
    assert_eq!(ignoring_case(b"J\xfcRGEN  X "), b"j\xfcrgen x");
    assert_ne!(ignoring_case(b"J\xfcrgen"), ignoring_case("Jürgen"));
}

#[test]
fn a_substring_piece_keeps_an_outer_space_where_the_value_may_continue() {
    let how = Preparation::IGNORE_CASE;
    assert_eq!(prepared(" Anna  ", how.piece(true, false)), b"anna ");
    assert_eq!(prepared("  na  S ", how.piece(false, false)), b" na s ");
    assert_eq!(prepared("  Schmidt ", how.piece(false, true)), b" schmidt");
    assert_eq!(prepared("  ", how.piece(false, false)), b" ");
}

#[test]
fn preparation_removes_spaces_of_numbers_and_hyphens_of_telephone_numbers() {
    let mut out = Vec::new();
    prepare_numeric(b" 12 34 ", &mut out);
    prepare_telephone(b" +49 30-123 X", &mut out);
    assert_eq!(out, b"1234+4930123x");
}

#[test]
fn preparing_any_character_twice_equals_preparing_it_once() {
    // Planes 4 to 13, 15 and 16 have no characters with a mapping.
    for c in ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{e0fff}') {
        for text in [c.to_string(), format!("a{c}\u{301}"), format!("\u{345}{c}")] {
            let once = ignoring_case(&text);
            assert_eq!(ignoring_case(&once), once, "{text:?}");
        }
    }
}

proptest! {
    #[test]
    fn the_prepared_form_is_appended_to_the_buffer(text in ".{0,12}") {
        let mut out = b"before ".to_vec();
        prepare(text.as_bytes(), Preparation::IGNORE_CASE, &mut out);
        prop_assert_eq!(&out[7..], ignoring_case(&text));
    }
}

/// U+FDFA is eighteen letters in NFKC: a message of 4 MiB would expand to 48 MB, within seconds.
#[test]
fn a_huge_text_is_not_decomposed() {
    let growth = |letters: usize| ignoring_case("\u{fdfa}".repeat(letters)).len() / (3 * letters);
    assert_eq!((growth(NORMALISED_BYTES / 3), growth(NORMALISED_BYTES / 3 + 1)), (11, 1));
    let huge = "\u{1fd3}".repeat(NORMALISED_BYTES);
    assert_eq!(ignoring_case(ignoring_case(&huge)), ignoring_case(&huge));
}

#[test]
fn text_that_preparation_lengthens_or_changes_does_not_count_as_normalised() {
    for normal in
        ["", "Anna", "Zo\u{e9} \u{41c}\u{438}\u{440} \u{65e5}\u{672c}", "\u{df}", &"\u{fdfa}".repeat(30_000)]
    {
        assert!(is_normalised(normal.as_bytes()), "{normal:.20}");
    }
    // Eighteen characters, a half-width letter, a decomposed letter, and a letter that only folding
    // lengthens.
    for odd in ["\u{fdfa}", "\u{ff71}", "e\u{301}", "\u{390}"] {
        assert!(!is_normalised(odd.as_bytes()), "{odd}");
    }
    assert!(is_normalised(b"\xff\xfe"), "what is no UTF-8 is compared as it is");
}
