//! The encoded form of stored entries.

use wire::ber::{self, Reader, tag};
use wire::ldap::Attributes;

/// The name and the attributes of a body.
#[inline]
pub(crate) fn split(body: &[u8]) -> (&[u8], Attributes<'_>) {
    let mut reader = Reader::new(body);
    // Only this crate writes bodies, so reading cannot fail.
    let dn = reader.octets().unwrap_or_default();
    (dn, Attributes(reader.expect(tag::SEQUENCE).unwrap_or_default()))
}

#[inline]
pub(crate) fn dn(body: &[u8]) -> &[u8] {
    Reader::new(body).octets().unwrap_or_default()
}

/// Appends a body with this name and the attributes that `fill` appends.
pub(crate) fn write(dn: &[u8], out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    ber::write_octets(out, dn);
    ber::write_nested(out, tag::SEQUENCE, fill);
}

/// Replaces the attributes of a body by the attributes that `fill` appends.
pub(crate) fn rewrite(body: &mut Vec<u8>, fill: impl FnOnce(Attributes<'_>, &mut Vec<u8>)) {
    let (dn, attributes) = split(body);
    let mut out = Vec::with_capacity(body.len().min(1 << 16));
    write(dn, &mut out, |out| fill(attributes, out));
    *body = out;
}
