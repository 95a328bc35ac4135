//! Attributes stored as their bytes in an AttributeList (RFC 4511 section 4.1.7).

use wire::ber::{self, element_size, tag};

use crate::draw::{Chance, Draw};
use wire::decimal::Decimal;

/// A pool of values, each encoded as a whole attribute: `SEQUENCE { type, SET { value } }`.
#[derive(Debug)]
pub(crate) struct Pool {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

/// The position of an attribute in a pool's bytes. Its value begins at `value`.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    value: u32,
    end: u32,
}

/// An encoded attribute of a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Picked<'a> {
    pub(crate) attribute: &'a [u8],
    pub(crate) value: &'a [u8],
}

impl Pool {
    /// Encodes each value as an attribute called `name`.
    pub(crate) fn encode<S: AsRef<str>>(name: &str, values: &[S]) -> Self {
        Self::build(values, |value, bytes| write_attribute(name, value.as_bytes(), bytes))
    }

    /// Stores the values without encoding, for attributes whose values are composed of several parts.
    pub(crate) fn raw<S: AsRef<str>>(values: &[S]) -> Self {
        Self::build(values, |value, bytes| bytes.extend_from_slice(value.as_bytes()))
    }

    fn build<S: AsRef<str>>(values: &[S], write: impl Fn(&str, &mut Vec<u8>)) -> Self {
        let mut bytes = Vec::new();
        let spans = values.iter().map(AsRef::as_ref).map(|value| {
            let start = bytes.len();
            write(value, &mut bytes);
            // Pools come from a file of a few hundred kilobytes, so offsets fit in 32 bits.
            Span { start: start as u32, value: (bytes.len() - value.len()) as u32, end: bytes.len() as u32 }
        });
        let spans = spans.collect();
        Self { bytes, spans }
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Attribute `n`, which must be below [`Pool::len`].
    #[inline]
    pub(crate) fn get(&self, n: usize) -> Picked<'_> {
        let Span { start, value, end } = self.spans[n];
        let (start, value, end) = (start as usize, value as usize, end as usize);
        Picked { attribute: &self.bytes[start..end], value: &self.bytes[value..end] }
    }

    /// The attribute that a person draws.
    #[inline]
    pub(crate) fn pick(&self, chance: Chance, what: Draw) -> Picked<'_> {
        self.get(chance.below(what, self.len()))
    }

    pub(crate) fn longest_attribute(&self) -> usize {
        self.spans.iter().map(|span| (span.end - span.start) as usize).max().unwrap_or(0)
    }

    pub(crate) fn longest_value(&self) -> usize {
        self.spans.iter().map(|span| (span.end - span.value) as usize).max().unwrap_or(0)
    }
}

/// Appends an attribute with one value.
#[inline(always)]
pub(crate) fn write_attribute(name: &str, value: &[u8], out: &mut Vec<u8>) {
    write_attribute_header(name, value.len(), out);
    out.extend_from_slice(value);
}

/// Appends an attribute with one number. Inlined for the same reason as [`write_attribute_header`].
#[inline(always)]
pub(crate) fn write_number(name: &str, number: u64, out: &mut Vec<u8>) {
    write_attribute(name, Decimal::new(number).as_bytes(), out);
}

/// Appends an attribute with several values.
pub(crate) fn write_multi_attribute(name: &str, values: &[&str], out: &mut Vec<u8>) {
    wire::ldap::request::write_attribute(out, name.as_bytes(), values.iter().map(|value| value.as_bytes()));
}

/// Appends the beginning of an attribute with one value. The caller appends the value next.
///
/// Inlined, because for the constant names of the profiles the usual case is one copy of a known size.
#[inline(always)]
pub(crate) fn write_attribute_header(name: &str, value_length: usize, out: &mut Vec<u8>) {
    let name = name.as_bytes();
    let whole = SHORT_HEADER + name.len() + value_length;
    if whole < 2 + 0x80 && name.len() + SHORT_HEADER <= LONGEST_SHORT_HEADER {
        // All lengths are short (X.690 8.1.3.4): one byte each, at known positions.
        let mut header = [0; LONGEST_SHORT_HEADER];
        header[..4].copy_from_slice(&[tag::SEQUENCE, whole as u8 - 2, tag::OCTET_STRING, name.len() as u8]);
        header[4..4 + name.len()].copy_from_slice(name);
        let length = value_length as u8;
        header[4 + name.len()..8 + name.len()].copy_from_slice(&[
            tag::SET,
            length + 2,
            tag::OCTET_STRING,
            length,
        ]);
        out.extend_from_slice(&header[..8 + name.len()]);
    } else {
        write_long_header(name, value_length, out);
    }
}

/// The total length of the four headers of an attribute with one value, if all lengths are short.
const SHORT_HEADER: usize = 8;
const LONGEST_SHORT_HEADER: usize = 32;

#[inline(never)]
fn write_long_header(name: &[u8], value_length: usize, out: &mut Vec<u8>) {
    let set = element_size(value_length);
    ber::write_header(out, tag::SEQUENCE, element_size(name.len()) + element_size(set));
    ber::write_octets(out, name);
    ber::write_header(out, tag::SET, set);
    ber::write_header(out, tag::OCTET_STRING, value_length);
}

#[inline]
pub(crate) const fn attribute_size(name: &str, value_length: usize) -> usize {
    element_size(element_size(name.len()) + element_size(element_size(value_length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_encoded_attribute_equals_the_output_of_the_message_writer(name in "[a-z]{1,40}", value in ".{0,300}") {
            let mut expected = Vec::new();
            wire::ldap::request::write_attribute(&mut expected, name.as_bytes(), [value.as_bytes()]);
            let pool = Pool::encode(&name, &["other", &value]);
            prop_assert_eq!(pool.get(1).attribute, &expected[..]);
            prop_assert_eq!(pool.get(1).value, value.as_bytes());
            prop_assert_eq!(attribute_size(&name, value.len()), expected.len());
        }
    }
}
