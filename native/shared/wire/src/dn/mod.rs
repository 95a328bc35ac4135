//! Distinguished names (RFC 4514), read in place.
//!
//! ```
//! use wire::dn::{Dn, Plain};
//!
//! let dn = Dn::parse(b"CN = Lu\\C4\\8Di\\C4\\87 ; o=Intranet").unwrap();
//! let (first, parent) = dn.split_first().unwrap();
//! let pair = first.pairs().next().unwrap();
//! assert!(pair.is(b"cn"));
//! assert_eq!(pair.value.decode(&mut Vec::new()), "Lu\u{10d}i\u{107}".as_bytes());
//! assert_eq!(parent.as_bytes(), b"o=Intranet");
//!
//! let mut normal = Vec::new();
//! dn.write_normal(&Plain, &mut normal);
//! assert_eq!(normal, "cn=lu\u{10d}i\u{107},o=intranet".as_bytes());
//! ```
//!
//! LDAPv2 spellings are read too (RFC 4514 section 3 and RFC 2253 section 4): semicolons for commas,
//! spaces around separators, quoted values, `OID.` before a numeric type. Values are bytes: old
//! clients send ISO-8859-1.
//!
//! # Limits
//!
//! Escaped and hexadecimal values are the only ones that need a buffer to be read. [`MAX_DN_BYTES`]
//! and [`MAX_RDNS`] bound what a name can cost.

mod escape;
pub mod normal;
mod parse;
mod value;

pub use escape::escape_value;
pub use normal::{Normalise, Plain};
pub use parse::{DnError, Pairs};
pub use value::Value;

use parse::{Cursor, End};

/// The longest name read. OpenLDAP draws the same line, and no directory was ever seen near it.
pub const MAX_DN_BYTES: usize = 8192;

/// The most RDNs in a name: trees of people are four to ten deep, and whatever is done per ancestor
/// stays cheap.
pub const MAX_RDNS: usize = 64;

/// A name known to be well-formed. The empty one is the root's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dn<'a>(&'a [u8]);

/// A relative name known to be well-formed: one or more pairs joined by `+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rdn<'a>(&'a [u8]);

/// One `attribute=value` of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The attribute type as it was written, without an `OID.` in front.
    pub attribute: &'a [u8],
    pub value: Value<'a>,
}

impl Pair<'_> {
    /// Whether the attribute type is `name`, in any case of letters.
    pub fn is(&self, name: &[u8]) -> bool {
        self.attribute.eq_ignore_ascii_case(name)
    }
}

impl<'a> Dn<'a> {
    /// The name of the root, above everything.
    pub const ROOT: Dn<'static> = Dn(b"");

    /// Reads all of `text` once.
    pub fn parse(text: &'a [u8]) -> Result<Self, DnError> {
        if text.len() > MAX_DN_BYTES {
            return Err(DnError::TooLong(text.len()));
        }
        let trimmed = parse::trim_start(text);
        let mut cursor = Cursor::new(trimmed, text.len() - trimmed.len());
        let mut rdns = 0;
        let mut end = if trimmed.is_empty() { End::Input } else { End::Separator };
        while end != End::Input {
            rdns += usize::from(end == End::Separator);
            if rdns > MAX_RDNS {
                return Err(DnError::TooManyRdns);
            }
            end = cursor.pair()?.1;
        }
        Ok(Self(trimmed))
    }

    /// The name as it was written, without spaces in front.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Whether this is the root's name.
    pub const fn is_root(self) -> bool {
        self.0.is_empty()
    }

    /// The first RDN and the parent's name; `None` for the root.
    pub fn split_first(self) -> Option<(Rdn<'a>, Dn<'a>)> {
        let mut cursor = Cursor::new(self.0, 0);
        loop {
            let (_, end) = cursor.pair().ok()?;
            if end != End::Plus {
                let (rdn, rest) = cursor.split();
                return Some((Rdn(rdn), Dn(rest)));
            }
        }
    }

    /// The parent's name; `None` for the root.
    pub fn parent(self) -> Option<Dn<'a>> {
        self.split_first().map(|(_, parent)| parent)
    }

    /// The RDNs, the entry's own first.
    pub fn rdns(self) -> impl Iterator<Item = Rdn<'a>> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let (first, parent) = rest.split_first()?;
            rest = parent;
            Some(first)
        })
    }
}

impl<'a> Rdn<'a> {
    /// The RDN as it was written, without spaces around it.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Its pairs in their order.
    pub const fn pairs(self) -> Pairs<'a> {
        Pairs::new(self.0)
    }
}

impl<'a> TryFrom<&'a [u8]> for Rdn<'a> {
    type Error = DnError;

    /// Reads a name of exactly one RDN, as a rename asks for (RFC 4511 section 4.9).
    #[inline]
    fn try_from(text: &'a [u8]) -> Result<Self, DnError> {
        // Nearly every operation asks this of its entry's name: it is read once, and not again to be split.
        let trimmed = parse::trim_start(text);
        if trimmed.is_empty() || text.len() > MAX_DN_BYTES {
            return Dn::parse(text).and(Err(DnError::NotOneRdn));
        }
        let mut cursor = Cursor::new(trimmed, text.len() - trimmed.len());
        loop {
            match cursor.pair()?.1 {
                End::Plus => {}
                End::Input => return Ok(Self(cursor.split().0)),
                End::Separator => return Dn::parse(text).and(Err(DnError::NotOneRdn)),
            }
        }
    }
}
