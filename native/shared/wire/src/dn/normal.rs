//! Normal forms of names, which can be compared as bytes.
//!
//! [`Normalise`] maps attribute types and values, the pairs of one RDN are sorted, and special characters of
//! values are written as a backslash and two hexadecimal digits. So in a normal form **a comma always
//! separates RDNs**: parent and ancestors follow from the bytes.

use super::escape::{is_plain, write_escaped};
use super::parse::{Cursor, End};
use super::{Dn, Pair, Rdn};
use crate::text;

/// The equality of attribute types, and of values of one type.
pub trait Normalise {
    /// Appends the normal name of this attribute type.
    fn attribute(&self, attribute: &[u8], out: &mut Vec<u8>);

    /// Appends the normal form of `value`, unescaped. The normal form of a normal form must be the same.
    fn value(&self, attribute: &[u8], value: &[u8], out: &mut Vec<u8>);
}

/// Normalisation without a schema: types in lower case, values as caseIgnoreMatch compares them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plain;

impl Normalise for Plain {
    fn attribute(&self, attribute: &[u8], out: &mut Vec<u8>) {
        write_lower(attribute, out);
    }

    fn value(&self, _: &[u8], value: &[u8], out: &mut Vec<u8>) {
        text::prepare(value, text::Preparation::IGNORE_CASE, out);
    }
}

/// Appends `text` with ASCII letters in lower case, as attribute types are compared.
pub fn write_lower(text: &[u8], out: &mut Vec<u8>) {
    out.extend(text.iter().map(u8::to_ascii_lowercase));
}

impl Dn<'_> {
    pub fn write_normal(self, rules: &impl Normalise, out: &mut Vec<u8>) {
        if !self.is_root() {
            write_rdns(self.0, rules, out);
        }
    }
}

impl Rdn<'_> {
    pub fn write_normal(self, rules: &impl Normalise, out: &mut Vec<u8>) {
        write_rdns(self.0, rules, out);
    }
}

/// Appends the normal form in one pass: every add and search of a directory calls this function.
fn write_rdns(text: &[u8], rules: &impl Normalise, out: &mut Vec<u8>) {
    let mut cursor = Cursor::new(text, 0);
    let mut buffer = Vec::new();
    let mut start = out.len();
    let mut several = false;
    // The text has been validated, so no error is possible.
    while let Ok((pair, end)) = cursor.pair() {
        write_pair(pair, rules, &mut buffer, out);
        if end == End::Plus {
            several = true;
            out.push(b'+');
            continue;
        }
        if std::mem::take(&mut several) {
            sort_pairs(start, out);
        }
        if end == End::Input {
            return;
        }
        out.push(b',');
        start = out.len();
    }
}

/// Sorts the pairs of the RDN that begins at `start`. A plus within a pair is escaped.
fn sort_pairs(start: usize, out: &mut Vec<u8>) {
    let rdn = out.split_off(start);
    let mut pairs: Vec<&[u8]> = rdn.split(|&byte| byte == b'+').collect();
    pairs.sort_unstable();
    out.extend_from_slice(&pairs.join(&b'+'));
}

fn write_pair(pair: Pair<'_>, rules: &impl Normalise, buffer: &mut Vec<u8>, out: &mut Vec<u8>) {
    rules.attribute(pair.attribute, out);
    out.push(b'=');
    let start = out.len();
    rules.value(pair.attribute, pair.value.decode(buffer), out);
    if !is_plain(&out[start..]) {
        let value = out.split_off(start);
        let digit = |n: u8| b"0123456789abcdef"[usize::from(n & 15)];
        write_escaped(&value, out, |byte, out| {
            out.extend_from_slice(&[b'\\', digit(byte >> 4), digit(byte)])
        });
    }
}

/// The parent of a name in normal form; `None` for the root.
pub fn parent(normal: &[u8]) -> Option<&[u8]> {
    let comma = normal.iter().position(|&byte| byte == b',');
    (!normal.is_empty()).then(|| comma.map_or(&[][..], |at| &normal[at + 1..]))
}

/// Whether `normal` is `ancestor` or a name below it. Both must be in normal form.
#[inline]
pub fn is_at_or_below(normal: &[u8], ancestor: &[u8]) -> bool {
    match normal.strip_suffix(ancestor) {
        Some([]) => true,
        Some([.., b',']) => true,
        Some(_) => ancestor.is_empty(),
        None => false,
    }
}
