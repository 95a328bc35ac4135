//! The subject of a certificate as a name (RFC 5280 section 4.1.2.6, RFC 4514 section 2).

use wire::ber::{Reader, tag};
use wire::dn::escape_value;

/// Attribute types that have names (RFC 4514 section 3, RFC 4519), by their encoded identifiers.
const NAMES: [(&[u8], &str); 14] = [
    (&[0x55, 4, 3], "cn"),
    (&[0x55, 4, 4], "sn"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 6], "c"),
    (&[0x55, 4, 7], "l"),
    (&[0x55, 4, 8], "st"),
    (&[0x55, 4, 9], "street"),
    (&[0x55, 4, 10], "o"),
    (&[0x55, 4, 11], "ou"),
    (&[0x55, 4, 12], "title"),
    (&[0x55, 4, 42], "givenName"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1], "uid"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "dc"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], "mail"),
];

const OBJECT_IDENTIFIER: u8 = 0x06;

/// Types of text with one byte per ASCII character: UTF8String, PrintableString, T61String, IA5String.
const TEXTS: [u8; 4] = [0x0c, 0x13, 0x14, 0x16];

/// The subject's name; `None` if it has a part that is not text, or a part whose type has no name.
pub(crate) fn of(certificate: &[u8]) -> Option<Vec<u8>> {
    let mut fields = Reader::new(certificate).sequence().ok()?.sequence().ok()?;
    // Skips the version, then the serial number, the signature algorithm, the issuer and the validity.
    fields.optional(tag::context_constructed(0)).ok()?;
    for _ in 0..4 {
        fields.element().ok()?;
    }
    let mut subject = fields.sequence().ok()?;
    let mut rdns = Vec::new();
    while subject.peek().is_some() {
        rdns.push(rdn(subject.expect(tag::SET).ok()?)?);
    }
    // A certificate begins with the root, a name ends with it.
    rdns.reverse();
    Some(rdns.join(&b','))
}

fn rdn(set: &[u8]) -> Option<Vec<u8>> {
    let (mut values, mut out) = (Reader::new(set), Vec::new());
    while values.peek().is_some() {
        let mut pair = values.sequence().ok()?;
        let kind = pair.expect(OBJECT_IDENTIFIER).ok()?;
        let (_, name) = NAMES.iter().find(|(known, _)| *known == kind)?;
        let value = pair.element().ok().filter(|value| TEXTS.contains(&value.tag))?;
        if !out.is_empty() {
            out.push(b'+');
        }
        out.extend_from_slice(name.as_bytes());
        out.push(b'=');
        escape_value(value.value, &mut out);
    }
    Some(out)
}
