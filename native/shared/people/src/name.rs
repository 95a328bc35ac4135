//! Names of people, and their DNs: `cn=<name>,<base>`.

use wire::ber::element_size;

use crate::encoded::write_attribute_header;
use wire::decimal::Decimal;

/// `<given> <family> <i>`, in parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FullName<'a> {
    pub(crate) given: &'a [u8],
    pub(crate) family: &'a [u8],
    pub(crate) number: Decimal,
}

impl FullName<'_> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.given.len() + self.family.len() + self.number.length() + 2
    }

    #[inline]
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.given);
        out.push(b' ');
        out.extend_from_slice(self.family);
        out.push(b' ');
        out.extend_from_slice(self.number.as_bytes());
    }

    #[inline]
    pub(crate) fn write_attribute(&self, out: &mut Vec<u8>) {
        write_attribute_header("cn", self.len(), out);
        self.write(out);
    }
}

/// `<user>.<i>@<domain>`, in parts: ASCII, for attributes of IA5String syntax.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Address<'a> {
    pub(crate) user: &'a [u8],
    pub(crate) number: Decimal,
    pub(crate) domain: &'static str,
}

/// Reserved domains (RFC 2606 section 3).
pub(crate) const DOMAINS: [&str; 3] = ["example.com", "example.net", "example.org"];

impl Address<'_> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.user.len() + self.number.length() + self.domain.len() + 2
    }

    #[inline]
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.user);
        out.push(b'.');
        out.extend_from_slice(self.number.as_bytes());
        out.push(b'@');
        out.extend_from_slice(self.domain.as_bytes());
    }

    /// Appends the address as the attribute `name`.
    #[inline(always)]
    pub(crate) fn write_attribute(&self, name: &str, out: &mut Vec<u8>) {
        write_attribute_header(name, self.len(), out);
        self.write(out);
    }
}

/// The number of bytes of `cn=<name>,<base>` as an element, without escapes.
#[inline]
pub(crate) const fn dn_element_size(name: usize, base: usize) -> usize {
    element_size("cn=".len() + name + ",".len() + base)
}
