//! Compiled templates.

use std::io::Write;

use fastrand::Rng;
use scenario::Clock;
use wire::decimal::Decimal;

use super::source::Source;
use super::{LaneData, clock};

/// A text whose fields have been resolved.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Text {
    pub(super) pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Text(Vec<u8>),
    Cell { source: usize, column: usize },
    Value(usize),
    User,
    Iteration,
    Now(Clock),
    Fresh(Generator),
}

/// A field whose value is generated.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Generator {
    Uuid,
    Characters { length: u32, of: Vec<char> },
    Number { first: u64, last: u64 },
    Choice(Vec<String>),
}

impl Text {
    /// A text without fields.
    pub(crate) fn fixed(bytes: Vec<u8>) -> Self {
        Self { pieces: vec![Piece::Text(bytes)] }
    }

    /// The text, if it has no fields.
    pub(crate) fn literal(&self) -> Option<&[u8]> {
        match &self.pieces[..] {
            [] => Some(b""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Appends the text with its fields filled in.
    #[inline]
    pub(super) fn write(&self, sources: &[Source], data: &LaneData, rng: &mut Rng, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Cell { source, column } => {
                    sources[*source].write_cell(data.rows[*source], *column, out);
                }
                Piece::Value(place) => out.extend_from_slice(&data.values[*place].bytes),
                Piece::User => write_number(data.user, out),
                Piece::Iteration => write_number(data.iteration, out),
                Piece::Now(clock) => clock::write_now(*clock, out),
                Piece::Fresh(generator) => generator.write(rng, out),
            }
        }
    }

    pub(crate) fn needs(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(place) => Some(*place),
            _ => None,
        })
    }

    pub(super) fn push(&mut self, piece: Piece) {
        match (self.pieces.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(text)) => last.extend_from_slice(&text),
            (_, piece) => self.pieces.push(piece),
        }
    }
}

impl Generator {
    fn write(&self, rng: &mut Rng, out: &mut Vec<u8>) {
        match self {
            // A UUID is not drawn from the seed: entries that a run leaves behind must not collide with
            // entries of the next run.
            Self::Uuid => write_uuid(fastrand::u128(..), out),
            Self::Characters { length, of } => {
                let mut bytes = [0; 4];
                for _ in 0..*length {
                    let drawn = of[rng.usize(..of.len())];
                    out.extend_from_slice(drawn.encode_utf8(&mut bytes).as_bytes());
                }
            }
            Self::Number { first, last } => write_number(rng.u64(*first..=*last), out),
            Self::Choice(texts) => out.extend_from_slice(texts[rng.usize(..texts.len())].as_bytes()),
        }
    }
}

/// Appends a UUID of version 4 (RFC 9562 section 5.4).
fn write_uuid(random: u128, out: &mut Vec<u8>) {
    let id = random & !(0xf << 76) & !(0b11 << 62) | 0x4 << 76 | 0b10 << 62;
    let (a, b, c) = (id >> 96, id >> 80 & 0xffff, id >> 64 & 0xffff);
    let (d, e) = (id >> 48 & 0xffff, id & 0xffff_ffff_ffff);
    // Writing to a vector cannot fail.
    let _ = write!(out, "{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}");
}

pub(crate) fn write_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(Decimal::new(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_uuid_has_the_version_and_the_variant_of_random_uuids() {
        for (random, expected) in [
            (0, "00000000-0000-4000-8000-000000000000"),
            (u128::MAX, "ffffffff-ffff-4fff-bfff-ffffffffffff"),
            (0x0123_4567_89ab_cdef_0123_4567_89ab_cdef, "01234567-89ab-4def-8123-456789abcdef"),
        ] {
            let mut out = Vec::new();
            write_uuid(random, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn generated_values_respect_length_and_range() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..100 {
            let mut out = Vec::new();
            Generator::Characters { length: 3, of: vec!['a', 'é'] }.write(&mut rng, &mut out);
            let text = String::from_utf8(out).unwrap();
            assert!(text.chars().count() == 3 && text.chars().all(|c| "aé".contains(c)), "{text}");
            let mut out = Vec::new();
            Generator::Number { first: 7, last: 9 }.write(&mut rng, &mut out);
            assert!([b"7", b"8", b"9"].iter().any(|number| out == **number), "{out:?}");
        }
    }

    #[test]
    fn numbers_are_written_in_decimal() {
        for number in [0, 9, 10, 4_711, u64::MAX] {
            let mut out = Vec::new();
            write_number(number, &mut out);
            assert_eq!(out, number.to_string().as_bytes());
        }
    }
}
