//! The encoded form of stored entries.

use wire::ber::{Reader, tag};
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
