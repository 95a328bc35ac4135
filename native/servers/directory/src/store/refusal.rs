//! Refusals of operations on the store.

use std::borrow::Cow;

use wire::ldap::ResultCode;

/// An LDAP result other than success, which the client receives.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {diagnostic}")]
pub struct Refusal {
    /// RFC 4511 appendix A.
    pub code: ResultCode,
    pub diagnostic: Cow<'static, str>,
    /// The deepest existing ancestor, after noSuchObject; otherwise empty.
    pub matched_dn: Vec<u8>,
}

impl Refusal {
    /// A refusal without a matched DN.
    pub fn new(code: ResultCode, diagnostic: impl Into<Cow<'static, str>>) -> Self {
        Self { code, diagnostic: diagnostic.into(), matched_dn: Vec::new() }
    }
}
