//! Errors of undecodable messages.

use crate::ber::BerError;

/// The deepest nesting of a filter. OpenLDAP crashed on deeper filters (CVE-2020-12243); people and programs
/// write three or four levels.
pub const MAX_FILTER_DEPTH: usize = 64;

/// The message is not an LDAP request, so the connection has to end (RFC 4511 section 4.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Not BER, or not the elements of the grammar.
    #[error(transparent)]
    Ber(#[from] BerError),
    #[error("unknown operation {0:#04x}")]
    UnknownOperation(u8),
    /// Ids run from 0 to 2^31-1 (RFC 4511 section 4.1.1.1).
    #[error("message id {0} is out of range")]
    BadMessageId(i64),
    /// A value outside an enumeration or range of the grammar.
    #[error("{what} is {value}, which RFC 4511 does not define")]
    BadValue { what: &'static str, value: i64 },
    #[error("a filter nested more than {MAX_FILTER_DEPTH} deep")]
    FilterTooDeep,
    #[error("unknown filter choice {0:#04x}")]
    UnknownFilter(u8),
    #[error("a substring filter without pieces, or with pieces out of order")]
    BadSubstrings,
}
