//! The characters that are dropped or become spaces, and the case folding of characters.

/// The mapping of a character by RFC 4518 section 2.2, before case folding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mapped {
    Nothing,
    Space,
    Itself,
}

/// RFC 4518 section 2.2.
pub(super) const fn map(c: char) -> Mapped {
    match c {
        '\t'..='\r' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' => Mapped::Space,
        '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | ' ' => Mapped::Space,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{6dd}' | '\u{70f}' => {
            Mapped::Nothing
        }
        '\u{1806}' | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}' => Mapped::Nothing,
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2063}' | '\u{206a}'..='\u{206f}' => Mapped::Nothing,
        '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffc}' => Mapped::Nothing,
        '\u{1d173}'..='\u{1d17a}' | '\u{e0001}' | '\u{e0020}'..='\u{e007f}' => Mapped::Nothing,
        _ => Mapped::Itself,
    }
}

/// Appends the case folding of `c`.
pub(super) fn push_folded(c: char, out: &mut String) {
    // Most letters that reach this branch belong to scripts without case.
    if c == 'ı' || (c.to_lowercase().eq([c]) && c.to_uppercase().eq([c])) {
        // Only dotless i has an upper case that folds to another letter; table B.2 does not map it.
        out.push(c);
    } else {
        out.extend(fold_by_tables(c));
    }
}

/// Converts to lower case, then to upper case, then to lower case. This maps final sigma to sigma and sharp s
/// to ss, as RFC 3454 table B.2 does.
fn fold_by_tables(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// The case folding of a character that neither the mapping nor any normalisation changes, alone or beside
/// such characters; `None` if the tables are needed.
#[inline]
pub(super) const fn simple(c: char) -> Option<char> {
    let shift = match c {
        // Latin-1: ß becomes two letters; × and ÷ are between the letters but are no letters.
        '\u{c0}'..='\u{de}' if c != '×' => 0x20,
        '\u{df}' => return None,
        '\u{d7}' | '\u{e0}'..='\u{ff}' => 0,
        // Latin Extended-A, in which small letters follow their capitals. Ligatures, dotted and dotless i,
        // and long s are excluded.
        '\u{100}'..='\u{12f}' | '\u{14a}'..='\u{177}' => 1 - (c as u32 & 1),
        '\u{139}'..='\u{13e}' | '\u{141}'..='\u{148}' | '\u{179}'..='\u{17e}' => c as u32 & 1,
        // Greek: capitals with tonos, capitals, final sigma, small letters.
        '\u{386}' => 0x26,
        '\u{388}'..='\u{38a}' => 0x25,
        '\u{38c}' => 0x40,
        '\u{38e}' | '\u{38f}' => 0x3f,
        '\u{391}'..='\u{3a1}' | '\u{3a3}'..='\u{3ab}' => 0x20,
        '\u{3c2}' => 1,
        '\u{3ac}'..='\u{3af}' | '\u{3b1}'..='\u{3ce}' => 0,
        // Cyrillic.
        '\u{400}'..='\u{40f}' => 0x50,
        '\u{410}'..='\u{42f}' => 0x20,
        '\u{430}'..='\u{45f}' => 0,
        // Hiragana, Katakana, CJK and Hangul have no case. Combining marks are excluded.
        '\u{3001}'..='\u{3011}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fc}' => 0,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => 0,
        // Dashes and quotation marks of names and addresses.
        '\u{2012}'..='\u{2015}' | '\u{2018}'..='\u{201f}' => 0,
        _ => return None,
    };
    char::from_u32(c as u32 + shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::{
        IsNormalized, UnicodeNormalization, char::canonical_combining_class, is_nfkc_quick,
    };

    fn fold(c: char) -> String {
        let mut folded = String::new();
        push_folded(c, &mut folded);
        folded
    }

    #[test]
    fn the_fast_path_folds_every_character_like_the_unicode_tables() {
        let mut simple_ones = 0;
        for c in ('\0'..=char::MAX).filter(|&c| simple(c).is_some()) {
            let folded = simple(c).unwrap();
            assert_eq!(map(c), Mapped::Itself, "{c:?}");
            assert_eq!(fold(c), folded.to_string(), "{c:?}");
            for one in [c, folded] {
                assert_eq!(is_nfkc_quick([one].into_iter()), IsNormalized::Yes, "{one:?}");
                assert_eq!(canonical_combining_class(one), 0, "{one:?}");
                assert_eq!([one].into_iter().nfkc().collect::<Vec<_>>(), [one], "{one:?}");
            }
            simple_ones += 1;
        }
        assert!(simple_ones > 30_000, "{simple_ones}");
    }

    #[test]
    fn folding_any_character_twice_equals_folding_it_once() {
        for c in '\0'..=char::MAX {
            let once = fold(c);
            let twice: String = once.chars().map(fold).collect();
            assert_eq!(once, twice, "{c:?}");
        }
    }

    #[test]
    fn letters_have_no_case_if_and_only_if_the_unicode_tables_do_not_change_them() {
        for c in ('\0'..=char::MAX).filter(|&c| c != 'ı') {
            assert!(fold_by_tables(c).eq(fold(c).chars()), "{c:?}");
        }
    }
}
