//! The state of one connection above its socket: identity, TLS, searches.

use crate::identity::Identity;
use crate::scan::Searches;
use crate::turn::Turn;

/// What a session knows of the TLS under it.
#[derive(Debug)]
pub(crate) struct Secured {
    /// The client's certificate in DER, if it sent one.
    pub(crate) certificate: Option<Box<[u8]>>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) identity: Identity,
    /// Present under TLS. Boxed so that a plain connection stays small.
    pub(crate) secured: Option<Box<Secured>>,
    pub(crate) searches: Searches,
}

impl Session {
    /// The SASL mechanisms that this client may use now. Clients take one that is listed, and PLAIN sends the
    /// password: it is not offered in the clear.
    pub(crate) fn mechanisms(&self) -> &'static [&'static [u8]] {
        match &self.secured {
            None => &[],
            Some(tls) if tls.certificate.is_none() => &[b"PLAIN"],
            Some(_) => &[b"PLAIN", b"EXTERNAL"],
        }
    }

    /// The longest message it accepts. An anonymous bind does not raise it, since every client may do that.
    pub(crate) fn message_limit(&self, turn: &Turn<'_>) -> usize {
        let limits = &turn.settings.limits;
        match self.identity {
            Identity::Anonymous => limits.message_bytes_before_bind,
            Identity::Admin | Identity::Entry(_) => limits.message_bytes_after_bind,
        }
    }
}
