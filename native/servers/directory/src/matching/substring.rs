//! Substring assertions (RFC 4517 sections 3.3.30 and 4.2).
//!
//! Insignificant spaces follow RFC 4518 section 2.6.1: a prepared value starts and ends with one space and
//! has two between words, so that `fred *` matches "Fred" and `fred * smith` matches "Fred Smith".

use wire::text::{Preparation, prepare, prepare_numeric, prepare_telephone};

use crate::schema::{Matching, Schema};

/// The position of a piece in the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// At the start of the value.
    Initial,
    /// Anywhere after the previous piece.
    Any,
    /// At the end of the value.
    Final,
}

impl Matching {
    /// Appends the form of a value in which pieces are searched.
    pub fn prepare_for_pieces(self, schema: &Schema, value: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(how) = self.preparation() else {
            return self.normalise(schema, value, out);
        };
        out.push(b' ');
        prepare_doubled(how, value, out);
        out.push(b' ');
        true
    }

    /// Appends the normal form of a piece; false if the piece is invalid, or the rule has no substrings.
    pub fn prepare_piece(self, kind: PieceKind, piece: &[u8], out: &mut Vec<u8>) -> bool {
        match self {
            Self::NumericString => prepare_numeric(piece, out),
            Self::TelephoneNumber => return prepare_telephone(piece, out),
            Self::OctetString => out.extend_from_slice(piece),
            _ => match self.preparation() {
                Some(how) => prepare_text_piece(how, kind, piece, out),
                None => return false,
            },
        }
        true
    }

    const fn preparation(self) -> Option<Preparation> {
        match self {
            Self::CaseIgnore => Some(Preparation::IGNORE_CASE),
            Self::CaseExact => Some(Preparation::EXACT),
            _ => None,
        }
    }
}

fn prepare_text_piece(how: Preparation, kind: PieceKind, piece: &[u8], out: &mut Vec<u8>) {
    let (first, last) = (kind == PieceKind::Initial, kind == PieceKind::Final);
    if first {
        out.push(b' ');
    }
    let start = out.len();
    prepare_doubled(how.piece(first, last), piece, out);
    // A piece that consists of spaces is prepared as one space. If it is the first or the last piece, this
    // space is the space at the edge.
    if last && (out.len() > start || piece.is_empty() || !out[..start].ends_with(b" ")) {
        out.push(b' ');
    }
}

/// Prepares a text, then doubles the spaces between words.
fn prepare_doubled(how: Preparation, text: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    prepare(text, how, out);
    let (mut from, inner) = (out.len(), start + 1..out.len().saturating_sub(1));
    let spaces = out.get(inner.clone()).unwrap_or_default().iter().filter(|byte| **byte == b' ').count();
    // The loop runs backwards, so that each byte moves once.
    out.resize(from + spaces, b' ');
    let mut to = out.len();
    while from < to {
        from -= 1;
        to -= 1;
        out[to] = out[from];
        if out[from] == b' ' && inner.contains(&from) {
            to -= 1;
            out[to] = b' ';
        }
    }
}

/// Whether the value contains the pieces in order and without overlap.
pub fn pieces_match<'p>(value: &[u8], pieces: impl Iterator<Item = (PieceKind, &'p [u8])>) -> bool {
    let mut rest = value;
    for (kind, piece) in pieces {
        let found = match kind {
            PieceKind::Initial => rest.strip_prefix(piece),
            // A piece longer than the rest is not searched for: the setup of a search takes time proportional
            // to the piece's length.
            PieceKind::Any if piece.len() > rest.len() => None,
            PieceKind::Any => memchr::memmem::find(rest, piece).map(|at| &rest[at + piece.len()..]),
            PieceKind::Final => rest.strip_suffix(piece).map(|_| [].as_slice()),
        };
        match found {
            Some(after) => rest = after,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "this is a test")]
mod tests {
    use std::hint::black_box;

    use rustix::time::{ClockId, clock_gettime};

    use super::*;

    /// The least CPU time of this thread, in nanoseconds, that a call takes.
    fn least_ns(mut call: impl FnMut()) -> u64 {
        let used_ns = || {
            let used = clock_gettime(ClockId::ThreadCPUTime);
            used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
        };
        let take = |_| {
            let before = used_ns();
            call();
            used_ns() - before
        };
        (0..5).map(take).min().unwrap()
    }

    fn matches(matching: Matching, value: &str, pattern: &str) -> bool {
        let schema = Schema::default();
        let mut prepared = Vec::new();
        matching.prepare_for_pieces(&schema, value.as_bytes(), &mut prepared);
        let parts: Vec<&str> = pattern.split('*').collect();
        let mut pieces = Vec::new();
        for (at, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let kind = match at {
                0 => PieceKind::Initial,
                at if at == parts.len() - 1 => PieceKind::Final,
                _ => PieceKind::Any,
            };
            let mut piece = Vec::new();
            assert!(matching.prepare_piece(kind, part.as_bytes(), &mut piece));
            pieces.push((kind, piece));
        }
        pieces_match(&prepared, pieces.iter().map(|(kind, piece)| (*kind, piece.as_slice())))
    }

    #[test]
    fn a_piece_longer_than_the_value_costs_no_more_than_a_short_piece() {
        let [short, long] = [8, 64 << 10].map(|bytes| {
            let piece = vec![b'x'; bytes];
            least_ns(|| {
                (0..1_000).for_each(|_| {
                    assert!(!pieces_match(black_box(b" ann "), [(PieceKind::Any, &*piece)].into_iter()));
                });
            })
        });
        assert!(long < 20 * short, "{long} ns after {short} ns");
    }

    #[test]
    fn a_text_of_many_words_is_prepared_in_linear_time() {
        let [short, long] = [4_000, 64_000].map(|words| {
            let text = "a ".repeat(words);
            least_ns(|| {
                let mut out = Vec::new();
                assert!(Matching::CaseIgnore.prepare_piece(PieceKind::Any, text.as_bytes(), &mut out));
                assert_eq!(out.len(), 3 * words - 1);
            })
        });
        assert!(long < 64 * short, "16 times the words took {long} ns after {short} ns");
    }

    #[test]
    fn substring_pieces_match_at_the_positions_that_rfc_4517_requires() {
        let table = [
            ("Fred Smith", "fred*", true),
            ("Fred Smith", "fred *", true),
            ("Fred", "fred *", true),
            ("Fred Smith", "*smith", true),
            ("Fred Smith", "* smith", true),
            ("Fred   Smith", "*red sm*", true),
            ("Fred Smith", "fred * smith", true),
            ("FredSmith", "fred * smith", false),
            ("Fred Smith", "*smith*fred*", false),
            ("aba", "ab*ba", false),
            ("abba", "ab*ba", true),
            ("Fred Smith", "* *", true),
            ("Ψυχής", "ψΥχ*Σ", true),
            ("Ёлкин Пётр", "ё*пётр", true),
            ("山田 太郎", "山*太*", true),
            ("Fred", "f*x*", false),
        ];
        for (value, pattern, expected) in table {
            assert_eq!(matches(Matching::CaseIgnore, value, pattern), expected, "{value:?} {pattern:?}");
        }
        assert!(!matches(Matching::CaseExact, "Fred", "fr*"));
        assert!(matches(Matching::TelephoneNumber, "+49 (0)30-123 456", "*30123*"));
        assert!(!Matching::TelephoneNumber.prepare_piece(PieceKind::Any, b" - ", &mut Vec::new()));
    }
}
