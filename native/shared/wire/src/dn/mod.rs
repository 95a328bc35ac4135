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
//! Only escaped and hexadecimal values need a buffer when they are read. [`MAX_DN_BYTES`] and [`MAX_RDNS`]
//! bound the cost of a name.

mod escape;
pub mod normal;
mod parse;
mod value;

pub use escape::escape_value;
pub use normal::{Normalise, Plain};
pub use parse::{DnError, Pairs};
pub use value::Value;

use parse::{Cursor, End};

/// The longest name that is read. OpenLDAP has the same limit, and names in directories are far shorter.
pub const MAX_DN_BYTES: usize = 8192;

/// The most RDNs in a name. Trees of people are four to ten deep; the limit keeps the work per ancestor
/// cheap.
pub const MAX_RDNS: usize = 64;

/// A well-formed name. The root's name is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dn<'a>(&'a [u8]);

/// A well-formed relative name: one or more pairs joined by `+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rdn<'a>(&'a [u8]);

/// One `attribute=value` of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The attribute type as written, without a leading `OID.`.
    pub attribute: &'a [u8],
    pub value: Value<'a>,
}

impl Pair<'_> {
    /// Whether the attribute type is `name`, ignoring case.
    pub fn is(&self, name: &[u8]) -> bool {
        self.attribute.eq_ignore_ascii_case(name)
    }
}

impl<'a> Dn<'a> {
    /// The name of the root of the tree.
    pub const ROOT: Dn<'static> = Dn(b"");

    /// Parses and validates a whole text.
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

    /// The name as written, without leading spaces.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

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

    /// The RDNs, beginning with the entry's own.
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
    /// The RDN as written, without spaces around it.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    pub const fn pairs(self) -> Pairs<'a> {
        Pairs::new(self.0)
    }
}

impl<'a> TryFrom<&'a [u8]> for Rdn<'a> {
    type Error = DnError;

    /// Reads a name of exactly one RDN, as the new name of an entry (RFC 4511 section 4.9).
    #[inline]
    fn try_from(text: &'a [u8]) -> Result<Self, DnError> {
        // Nearly every operation parses its entry's name, so the RDN is read once and not split again.
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
