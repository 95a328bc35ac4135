//! Encoded attribute lists.

use crate::ber::{BerError, Reader, tag};

/// The content of an AttributeList or PartialAttributeList (RFC 4511 sections 4.7 and 4.5.2).
/// Both have the same encoding, in add requests and in search results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes<'a>(pub &'a [u8]);

/// An attribute: its description and its values, still encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// The attribute description, including options.
    pub name: &'a [u8],
    pub values: Values<'a>,
}

/// The content of a SET OF OCTET STRING.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Values<'a>(pub &'a [u8]);

impl<'a> Attributes<'a> {
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Result<Attribute<'a>, BerError>> + Clone + use<'a> {
        elements(self.0, read_attribute)
    }

    /// Whether there are more values than `most`. Reads at most `most` + 1 values.
    pub fn has_more_values(&self, most: usize) -> bool {
        self.iter().flatten().flat_map(|attribute| attribute.values.iter()).nth(most).is_some()
    }

    /// Validates every attribute and every value, so that later reads cannot fail; returns the number of
    /// values.
    pub fn check(&self) -> Result<usize, BerError> {
        let mut values = 0;
        for attribute in self.iter() {
            for value in attribute?.values.iter() {
                value?;
                values += 1;
            }
        }
        Ok(values)
    }
}

impl<'a> Values<'a> {
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Result<&'a [u8], BerError>> + Clone + use<'a> {
        elements(self.0, Reader::octets)
    }
}

/// The elements of a content, up to its end or its first malformed element.
#[inline]
fn elements<'a, T>(
    content: &'a [u8],
    read: impl Fn(&mut Reader<'a>) -> Result<T, BerError> + Clone,
) -> impl Iterator<Item = Result<T, BerError>> + Clone {
    let mut reader = Reader::new(content);
    std::iter::from_fn(move || {
        (!reader.is_empty()).then(|| {
            let element = read(&mut reader);
            if element.is_err() {
                reader = Reader::default();
            }
            element
        })
    })
}

/// Reads `SEQUENCE { type, vals SET OF value }`.
#[inline]
pub fn read_attribute<'a>(reader: &mut Reader<'a>) -> Result<Attribute<'a>, BerError> {
    if let Some((attribute, rest)) = short_attribute(reader.rest()) {
        *reader = Reader::new(rest);
        return Ok(attribute);
    }
    any_attribute(reader)
}

fn any_attribute<'a>(reader: &mut Reader<'a>) -> Result<Attribute<'a>, BerError> {
    let mut fields = reader.sequence()?;
    let name = fields.octets()?;
    let values = Values(fields.expect(tag::SET)?);
    fields.finish()?;
    Ok(Attribute { name, values })
}

/// Reads an attribute whose lengths all take one byte, as nearly all do, and returns the rest after it.
#[inline]
fn short_attribute(bytes: &[u8]) -> Option<(Attribute<'_>, &[u8])> {
    let (&[tag::SEQUENCE, whole @ ..0x80, tag::OCTET_STRING, name], after) = bytes.split_first_chunk()?
    else {
        return None;
    };
    // The sequence also contains the two header bytes of the name.
    let (content, rest) = after.split_at_checked(usize::from(whole).checked_sub(2)?)?;
    let (name, set) = content.split_at_checked(usize::from(name))?;
    match set {
        [tag::SET, length, values @ ..] if usize::from(*length) == values.len() => {
            Some((Attribute { name, values: Values(values) }, rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ldap::request::write_attribute;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_fast_path_reads_the_same_attributes_as_the_slow_path(
            name in proptest::collection::vec(any::<u8>(), 0..130),
            values in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..4),
            (at, changed) in (any::<prop::sample::Index>(), any::<Option<u8>>()),
        ) {
            let mut bytes = Vec::new();
            write_attribute(&mut bytes, &name, values.iter().map(Vec::as_slice));
            bytes.extend_from_slice(b"after");
            if let Some(changed) = changed {
                // A changed byte matters in the headers and in the name, but not in a value.
                let at = at.index(bytes.len().min(name.len() + 8));
                bytes[at] = changed;
            }
            let mut reader = Reader::new(&bytes);
            let long = any_attribute(&mut reader);
            match short_attribute(&bytes) {
                Some((short, rest)) => {
                    prop_assert_eq!(long, Ok(short));
                    prop_assert_eq!(reader.rest(), rest);
                }
                // The fast path leaves long and malformed attributes to the slow path.
                None => prop_assert!(long.is_err() || bytes.len() > 0x80 || changed.is_some()),
            }
        }
    }
}
