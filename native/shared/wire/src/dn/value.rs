//! Values as written in names, and their decoding.

use crate::ber;

/// A value of a well-formed name, still encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Without escapes.
    Plain(&'a [u8]),
    /// With backslashes.
    Escaped(&'a [u8]),
    /// The hexadecimal digits of the value's BER encoding (RFC 4514 section 2.4).
    Hexadecimal(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The decoded value: borrowed from the name if it is written without escapes, otherwise written to
    /// `buffer`.
    #[inline]
    pub fn decode<'b>(&self, buffer: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        if let Value::Plain(value) = *self {
            return value;
        }
        buffer.clear();
        self.write(buffer);
        buffer
    }

    /// Appends the decoded value.
    pub fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Value::Plain(value) => out.extend_from_slice(value),
            Value::Escaped(text) => write_unescaped(text, out),
            Value::Hexadecimal(digits) => write_ber_content(digits, out),
        }
    }
}

fn write_unescaped(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match rest {
            [high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.push(hex_byte(*high, *low));
                rest = after;
            }
            [special, after @ ..] => {
                out.push(*special);
                rest = after;
            }
            [] => {}
        }
    }
}

/// The longest header of an element: tag, width, four bytes of length.
const MAX_HEADER: usize = 6;

/// Whether the digits encode exactly one primitive element.
pub(super) fn check_ber(digits: &[u8]) -> bool {
    digits.len().is_multiple_of(2)
        && element(digits)
            .is_some_and(|(tag, start, length)| tag & 0x20 == 0 && digits.len() / 2 == start + length)
}

fn write_ber_content(digits: &[u8], out: &mut Vec<u8>) {
    if let Some((_, start, _)) = element(digits) {
        out.extend(hex_bytes(digits).skip(start));
    }
}

/// The tag, the length of the header and the length of the content.
fn element(digits: &[u8]) -> Option<(u8, usize, usize)> {
    let mut head = [0; MAX_HEADER];
    let count = hex_bytes(digits).zip(&mut head).map(|(byte, place)| *place = byte).count();
    let (start, length) = ber::header(&head[..count]).ok()??;
    Some((head[0], start, length))
}

fn hex_bytes(digits: &[u8]) -> impl Iterator<Item = u8> {
    digits.chunks_exact(2).map(|pair| hex_byte(pair[0], pair[1]))
}

/// Decodes two digits, which must be hexadecimal.
fn hex_byte(high: u8, low: u8) -> u8 {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or_default() as u8;
    digit(high) << 4 | digit(low)
}
