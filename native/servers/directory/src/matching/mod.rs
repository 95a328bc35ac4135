//! Matching rules (RFC 4517 section 4): equality and order of values.
//!
//! Every rule maps a value to a normal form, and values match if their normal forms have the same bytes. So
//! an index stores hashes of normal forms, and an assertion is normalised once.

mod number;
mod substring;
mod syntax;
mod time;

pub use substring::{PieceKind, pieces_match};

pub(crate) use number::number;
pub(crate) use time::write_timestamp;

use std::cmp::Ordering;

use wire::dn::{Dn, Normalise, normal::write_lower};
use wire::text::{Preparation, prepare, prepare_numeric, prepare_telephone};

use crate::domain;
use crate::schema::{Matching, Schema};

impl Matching {
    /// Appends the normal form of `value`. Returns false, and appends nothing, if the value violates the
    /// syntax.
    #[inline]
    pub fn normalise(self, schema: &Schema, value: &[u8], out: &mut Vec<u8>) -> bool {
        match self {
            Self::CaseIgnore => prepare(value, Preparation::IGNORE_CASE, out),
            Self::CaseExact => prepare(value, Preparation::EXACT, out),
            Self::NumericString => prepare_numeric(value, out),
            Self::TelephoneNumber => return prepare_telephone(value, out),
            Self::OctetString => out.extend_from_slice(value),
            Self::Integer => return number::normalise(value, out),
            Self::Boolean => return normalise_boolean(value, out),
            Self::GeneralizedTime => return time::normalise(value, out),
            Self::ObjectIdentifier => return normalise_identifier(schema, value, out),
            Self::DistinguishedName => return normalise_name(schema, value, out),
            Self::Uuid => return normalise_uuid(value, out),
            Self::Category => normalise_category(value, out),
            Self::Sid => return domain::normalise_sid(value, out),
        }
        true
    }

    /// Whether the rule compares text, case-sensitively or not.
    pub(crate) const fn is_text(self) -> bool {
        matches!(self, Self::CaseIgnore | Self::CaseExact)
    }

    /// Whether `value` matches an assertion, given with its normal form. Equal bytes are equal under every
    /// rule, so most values need no normalisation.
    #[inline]
    pub fn matches(
        self,
        schema: &Schema,
        value: &[u8],
        asserted: &[u8],
        normal: &[u8],
        buffer: &mut Vec<u8>,
    ) -> bool {
        if value == asserted {
            return true;
        }
        buffer.clear();
        !self.differs_at_once(value, normal) && self.normalise(schema, value, buffer) && buffer == normal
    }

    /// Whether `value`, which is not normalised, obviously differs from `normal`. `false` decides
    /// nothing.
    #[inline]
    pub(crate) fn differs_at_once(self, value: &[u8], normal: &[u8]) -> bool {
        self == Self::CaseIgnore && starts_differently(value, normal)
    }
}

/// The order of two normal forms (RFC 4517 section 4.2). Strings are ordered by their bytes, which for UTF-8
/// is the order of code points.
pub fn compare(matching: Matching, left: &[u8], right: &[u8]) -> Ordering {
    match matching {
        Matching::Integer => number::compare(left, right),
        _ => left.cmp(right),
    }
}

/// Whether two values differ in their first letters, like most values in a scan. The second byte must be
/// ASCII, too, as a combining mark would change the first letter.
#[inline]
fn starts_differently(value: &[u8], normal: &[u8]) -> bool {
    match (value, normal) {
        ([first @ b'!'..=b'~', b'!'..=b'~', ..], [normal, ..]) => first.to_ascii_lowercase() != *normal,
        _ => false,
    }
}

/// RFC 4517 section 3.3.3 requires upper case, but clients also send lower case.
fn normalise_boolean(value: &[u8], out: &mut Vec<u8>) -> bool {
    let known = [b"TRUE".as_slice(), b"FALSE"].into_iter().find(|known| value.eq_ignore_ascii_case(known));
    out.extend_from_slice(known.unwrap_or_default());
    known.is_some()
}

/// RFC 4122 section 3: thirty-two hexadecimal digits in five groups, in either case.
fn normalise_uuid(value: &[u8], out: &mut Vec<u8>) -> bool {
    let is_uuid = value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    if is_uuid {
        write_lower(value, out);
    }
    is_uuid
}

/// Appends the name of a category in lower case. The name of a class stands for the class's category.
fn normalise_category(value: &[u8], out: &mut Vec<u8>) {
    let name = value.split(|byte| *byte == b',').next().unwrap_or_default();
    match name.iter().position(|byte| *byte == b'=') {
        Some(at) => write_lower(name.get(at + 1..).unwrap_or_default(), out),
        None => write_lower(domain::category(name).unwrap_or(name), out),
    }
}

/// RFC 4517 section 4.2.26: a descriptor equals its identifier.
fn normalise_identifier(schema: &Schema, value: &[u8], out: &mut Vec<u8>) -> bool {
    let value = value.trim_ascii();
    match schema.class(value) {
        Some(class) => write_lower(class.name().as_bytes(), out),
        None => match schema.resolve(value) {
            Some(id) => write_lower(schema.canonical_name(id).as_bytes(), out),
            None => write_lower(value, out),
        },
    }
    !value.is_empty()
}

fn normalise_name(schema: &Schema, value: &[u8], out: &mut Vec<u8>) -> bool {
    match Dn::parse(value) {
        Ok(dn) => {
            dn.write_normal(schema, out);
            true
        }
        Err(_) => false,
    }
}

/// The values in DNs are compared by the equality rules of their types.
impl Normalise for Schema {
    #[inline]
    fn attribute(&self, attribute: &[u8], out: &mut Vec<u8>) {
        match self.resolve(attribute) {
            Some(id) => write_lower(self.canonical_name(id).as_bytes(), out),
            None => write_lower(attribute, out),
        }
    }

    #[inline]
    fn value(&self, attribute: &[u8], value: &[u8], out: &mut Vec<u8>) {
        let matching = self.resolve(attribute).map_or(Matching::CaseIgnore, |id| self.naming_rule(id));
        if !matching.normalise(self, value, out) {
            out.extend_from_slice(value);
        }
    }
}
