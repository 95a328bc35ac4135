//! String preparation for comparison (RFC 4518).
//!
//! Two values match under caseIgnoreMatch if [`prepare`] returns the same bytes for both. ASCII and the
//! letters of most living scripts need no buffer; other text is normalised with full Unicode tables. Three
//! steps differ from RFC 4518; only the last changes which values are equal:
//!
//! - Insignificant spaces (section 2.6.1): between words there is one space, where the RFC puts two, and at
//!   the edges of a value there is none, where the RFC puts one.
//! - Nothing is prohibited (section 2.4): a server refuses what its syntaxes forbid, and old clients send
//!   ISO-8859-1. Bytes that are not UTF-8 are compared as they are, except for ASCII letters and spaces.
//! - Texts of more than [`NORMALISED_BYTES`] are not normalised (section 2.3).

mod fold;
mod short;

use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use fold::{Mapped, map, push_folded};

/// Normalisation takes up to a microsecond per byte and may return eleven bytes for one byte, so a message of
/// 4 MiB would take seconds. Filters are never longer than this limit.
pub const NORMALISED_BYTES: usize = 64 << 10;

/// The variant of string preparation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preparation {
    /// Whether upper and lower case are equal.
    pub fold_case: bool,
    /// Whether leading spaces are kept as one space, for a piece of a substring assertion (RFC 4518 section
    /// 2.6.1).
    pub keep_leading_space: bool,
    /// Whether trailing spaces are kept as one space.
    pub keep_trailing_space: bool,
}

impl Preparation {
    /// For caseIgnoreMatch and similar rules.
    pub const IGNORE_CASE: Self =
        Self { fold_case: true, keep_leading_space: false, keep_trailing_space: false };

    /// For caseExactMatch and similar rules.
    pub const EXACT: Self = Self { fold_case: false, ..Self::IGNORE_CASE };

    /// For a piece of a substring assertion. Spaces at an edge inside the value are kept.
    #[must_use]
    pub const fn piece(self, starts_value: bool, ends_value: bool) -> Self {
        Self { keep_leading_space: !starts_value, keep_trailing_space: !ends_value, ..self }
    }
}

/// Appends the prepared form of `value`.
#[inline]
pub fn prepare(value: &[u8], how: Preparation, out: &mut Vec<u8>) {
    if !short::prepare(value, how, out) {
        prepare_slowly(value, how, out);
    }
}

fn prepare_slowly(value: &[u8], how: Preparation, out: &mut Vec<u8>) {
    let mut spaces = Spaces::new(how, out);
    match std::str::from_utf8(value) {
        Ok(text) => prepare_text(text, how, &mut spaces),
        Err(_) => value.iter().for_each(|&byte| match byte {
            b' ' => spaces.space(),
            _ => spaces.bytes(&[lower(byte, how)]),
        }),
    }
    spaces.finish();
}

/// Appends `value` without its spaces: numericStringMatch (RFC 4518 section 2.6.2).
pub fn prepare_numeric(value: &[u8], out: &mut Vec<u8>) {
    out.extend(value.iter().filter(|&&byte| byte != b' '));
}

/// Appends `value` without spaces and hyphens, in lower case: telephoneNumberMatch (RFC 4518
/// section 2.6.3). Returns false if `value` has spaces and hyphens only: OpenLDAP refuses such a
/// value as invalid.
pub fn prepare_telephone(value: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let significant = value.iter().filter(|&&byte| byte != b' ' && byte != b'-');
    out.extend(significant.map(u8::to_ascii_lowercase));
    out.len() > start
}

#[inline]
const fn lower(byte: u8, how: Preparation) -> u8 {
    if how.fold_case { byte.to_ascii_lowercase() } else { byte }
}

/// RFC 4518 sections 2.2 and 2.3.
fn prepare_text(text: &str, how: Preparation, spaces: &mut Spaces<'_>) {
    let mapped: String = text
        .chars()
        .filter_map(|c| match map(c) {
            Mapped::Nothing => None,
            Mapped::Space => Some(' '),
            Mapped::Itself => Some(c),
        })
        .collect();
    let long = mapped.len() > NORMALISED_BYTES;
    let mut prepared = if long { Cow::Borrowed(mapped.as_str()) } else { nfkc(&mapped) };
    if how.fold_case {
        // The folded text may need normalisation, and the normalised text may need another folding, as with
        // U+0345.
        for _ in 0..2 {
            let mut folded = String::with_capacity(prepared.len());
            prepared.chars().for_each(|c| push_folded(c, &mut folded));
            let normal = long || is_nfkc_quick(folded.chars()) == IsNormalized::Yes;
            prepared = Cow::Owned(if normal { folded } else { folded.nfkc().collect() });
            if normal {
                break;
            }
        }
    }
    prepared.chars().for_each(|c| if c == ' ' { spaces.space() } else { spaces.char(c) });
}

/// Whether [`prepare`] does not normalise a text, because the text is already normal and folded, or too long.
/// Normalisation takes up to a hundred times as long per byte.
#[must_use]
pub fn is_normalised(value: &[u8]) -> bool {
    if value.is_ascii() || value.len() > NORMALISED_BYTES {
        return true;
    }
    let Ok(text) = std::str::from_utf8(value) else { return true };
    let mut folded = String::with_capacity(text.len());
    text.chars().for_each(|c| push_folded(c, &mut folded));
    [text, &folded].into_iter().all(|one| is_nfkc_quick(one.chars()) == IsNormalized::Yes)
}

fn nfkc(text: &str) -> Cow<'_, str> {
    match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfkc().collect()),
    }
}

/// Appends characters, with runs of spaces reduced according to [`Preparation`].
struct Spaces<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    pending: bool,
    how: Preparation,
}

impl<'o> Spaces<'o> {
    fn new(how: Preparation, out: &'o mut Vec<u8>) -> Self {
        Self { start: out.len(), out, pending: false, how }
    }

    #[inline]
    fn space(&mut self) {
        self.pending = true;
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        if self.pending {
            self.pending = false;
            if self.out.len() > self.start || self.how.keep_leading_space {
                self.out.push(b' ');
            }
        }
        self.out.extend_from_slice(bytes);
    }

    #[inline]
    fn char(&mut self, c: char) {
        self.bytes(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn finish(self) {
        let somewhere = self.out.len() > self.start;
        let keep = self.how.keep_trailing_space && (somewhere || self.how.keep_leading_space);
        if self.pending && keep {
            self.out.push(b' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_fast_path_prepares_the_same_text_as_the_slow_path(
            text in "[ -~ \t\u{7f}\u{1}À-ÿΑ-ωА-яЁёぁ-んァ-ヺ一-龥가-힣ßſİ\u{301}\u{2003}]{0,12}",
            cut in 0usize..4,
            fold_case: bool,
            keep_leading_space: bool,
            keep_trailing_space: bool,
        ) {
            let how = Preparation { fold_case, keep_leading_space, keep_trailing_space };
            // Truncated within a character, the text is not UTF-8.
            let value = &text.as_bytes()[..text.len().saturating_sub(cut)];
            let (mut short, mut long) = (b"x".to_vec(), b"x".to_vec());
            prepare(value, how, &mut short);
            prepare_slowly(value, how, &mut long);
            prop_assert_eq!(String::from_utf8_lossy(&short), String::from_utf8_lossy(&long));
        }
    }
}
