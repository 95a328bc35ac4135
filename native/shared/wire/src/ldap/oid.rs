//! Object identifiers of supported extensions.

/// Notice of disconnection (RFC 4511 section 4.4.1).
pub const NOTICE_OF_DISCONNECTION: &[u8] = b"1.3.6.1.4.1.1466.20036";
/// StartTLS (RFC 4511 section 4.14).
pub const START_TLS: &[u8] = b"1.3.6.1.4.1.1466.20037";
/// Dynamic refresh (RFC 2589 section 4).
pub const REFRESH: &[u8] = b"1.3.6.1.4.1.1466.101.119.1";
/// Who am I? (RFC 4532).
pub const WHO_AM_I: &[u8] = b"1.3.6.1.4.1.4203.1.11.3";
/// Password modify (RFC 3062).
pub const PASSWORD_MODIFY: &[u8] = b"1.3.6.1.4.1.4203.1.11.1";
/// Simple paged results (RFC 2696).
pub const PAGED_RESULTS: &[u8] = b"1.2.840.113556.1.4.319";
/// ManageDsaIT (RFC 3296).
pub const MANAGE_DSA_IT: &[u8] = b"2.16.840.1.113730.3.4.2";
/// Modify-increment (RFC 4525).
pub const MODIFY_INCREMENT: &[u8] = b"1.3.6.1.1.14";
/// All operational attributes by `+` (RFC 3673).
pub const ALL_OPERATIONAL: &[u8] = b"1.3.6.1.4.1.4203.1.5.1";
/// Absolute true and false filters (RFC 4526).
pub const TRUE_FALSE_FILTERS: &[u8] = b"1.3.6.1.4.1.4203.1.5.3";
