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
    pub const fn iter(&self) -> AttributeIter<'a> {
        AttributeIter(Reader::new(self.0))
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
    pub const fn iter(&self) -> ValueIter<'a> {
        ValueIter(Reader::new(self.0))
    }
}

/// Ends after the first error.
#[derive(Debug, Clone)]
pub struct AttributeIter<'a>(Reader<'a>);

impl<'a> AttributeIter<'a> {
    /// The unread attributes, encoded.
    pub const fn rest(&self) -> &'a [u8] {
        self.0.rest()
    }
}

impl<'a> Iterator for AttributeIter<'a> {
    type Item = Result<Attribute<'a>, BerError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| {
            let attribute = read_attribute(&mut self.0);
            if attribute.is_err() {
                self.0 = Reader::default();
            }
            attribute
        })
    }
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

/// Ends after the first error.
#[derive(Debug, Clone)]
pub struct ValueIter<'a>(Reader<'a>);

impl<'a> Iterator for ValueIter<'a> {
    type Item = Result<&'a [u8], BerError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| {
            let value = self.0.octets();
            if value.is_err() {
                self.0 = Reader::default();
            }
            value
        })
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
