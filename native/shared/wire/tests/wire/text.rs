//! Which strings match each other.

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
fn case_does_not_count_in_any_script() {
    same("Anna SCHMIDT", "anna schmidt");
    same("ÉMILE", "émile");
    same("ΟΔΥΣΣΕΥΣ", "οδυσσευς");
    same("ОЛЬГА Ёлкина", "ольга ёлкина");
    same("STRASSE", "straße");
    same("ẞ", "ß");
}

#[test]
fn case_counts_where_it_is_asked_to() {
    assert_eq!(prepared("  ÄB  Cd ", Preparation::EXACT), "ÄB Cd".as_bytes());
    assert_ne!(prepared("ß", Preparation::EXACT), prepared("ss", Preparation::EXACT));
}

#[test]
fn two_encodings_of_a_character_are_equal() {
    same("e\u{301}", "é");
    same("ﬁne", "fine");
    same("ｱｲｳ", "アイウ");
    same("が", "か\u{3099}");
    same("각", "\u{1100}\u{1161}\u{11a8}");
    same("\u{2126}", "ω");
}

#[test]
fn dotless_i_is_its_own_letter() {
    assert_ne!(ignoring_case("ı"), ignoring_case("i"));
}

#[test]
fn spaces_count_once_inside_and_never_outside() {
    same("  Anna   Schmidt ", "anna schmidt");
    same("山田\u{3000}太郎", "山田 太郎");
    same("a\tb\u{a0}c", "a b c");
    assert_eq!(ignoring_case("   "), b"");
    assert_eq!(ignoring_case(" é "), "é".as_bytes());
}

#[test]
fn invisible_characters_do_not_count() {
    same("a\u{ad}b\u{200b}c\0", "abc");
    same("\u{feff}é", "é");
}

#[test]
fn bytes_that_are_no_utf8_match_themselves() {
    assert_eq!(ignoring_case(b"J\xfcRGEN  X "), b"j\xfcrgen x");
    assert_ne!(ignoring_case(b"J\xfcrgen"), ignoring_case("Jürgen"));
}

#[test]
fn pieces_of_a_substring_keep_the_space_where_the_value_goes_on() {
    let how = Preparation::IGNORE_CASE;
    assert_eq!(prepared(" Anna  ", how.piece(true, false)), b"anna ");
    assert_eq!(prepared("  na  S ", how.piece(false, false)), b" na s ");
    assert_eq!(prepared("  Schmidt ", how.piece(false, true)), b" schmidt");
    assert_eq!(prepared("  ", how.piece(false, false)), b" ");
}

#[test]
fn numbers_match_without_their_spaces_and_telephones_without_hyphens() {
    let mut out = Vec::new();
    prepare_numeric(b" 12 34 ", &mut out);
    prepare_telephone(b" +49 30-123 X", &mut out);
    assert_eq!(out, b"1234+4930123x");
}

#[test]
fn preparing_twice_is_preparing_once_for_every_character() {
    // Planes 4 to 13, 15 and 16 have no characters that anything maps.
    for c in ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{e0fff}') {
        for text in [c.to_string(), format!("a{c}\u{301}"), format!("\u{345}{c}")] {
            let once = ignoring_case(&text);
            assert_eq!(ignoring_case(&once), once, "{text:?}");
        }
    }
}

proptest! {
    #[test]
    fn preparing_twice_is_preparing_once(text in "\\PC{0,12}", bytes: Vec<u8>) {
        for value in [text.as_bytes(), &bytes] {
            for how in [Preparation::IGNORE_CASE, Preparation::EXACT] {
                let once = prepared(value, how);
                prop_assert_eq!(prepared(&once, how), once.clone(), "{:?}", String::from_utf8_lossy(value));
            }
        }
    }

    #[test]
    fn the_prepared_form_is_appended(text in ".{0,12}") {
        let mut out = b"before ".to_vec();
        prepare(text.as_bytes(), Preparation::IGNORE_CASE, &mut out);
        prop_assert_eq!(&out[7..], ignoring_case(&text));
    }
}

/// U+FDFA is eighteen letters in NFKC: a message of 4 MiB would become 48 MB, within seconds.
#[test]
fn a_huge_text_is_not_decomposed() {
    let growth = |letters: usize| ignoring_case("\u{fdfa}".repeat(letters)).len() / (3 * letters);
    assert_eq!((growth(NORMALISED_BYTES / 3), growth(NORMALISED_BYTES / 3 + 1)), (11, 1));
    let huge = "\u{1fd3}".repeat(NORMALISED_BYTES);
    assert_eq!(ignoring_case(ignoring_case(&huge)), ignoring_case(&huge));
}

#[test]
fn only_text_of_ordinary_preparation_cost_counts_as_normalised() {
    for normal in
        ["", "Anna", "Zo\u{e9} \u{41c}\u{438}\u{440} \u{65e5}\u{672c}", "\u{df}", &"\u{fdfa}".repeat(30_000)]
    {
        assert!(is_normalised(normal.as_bytes()), "{normal:.20}");
    }
    // Eighteen characters; half-width; decomposed; and what only its folding makes longer.
    for odd in ["\u{fdfa}", "\u{ff71}", "e\u{301}", "\u{390}"] {
        assert!(!is_normalised(odd.as_bytes()), "{odd}");
    }
    assert!(is_normalised(b"\xff\xfe"), "what is no UTF-8 is compared as it is");
}
