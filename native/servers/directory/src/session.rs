//! The state of one connection above its socket: identity, TLS, searches.

use std::net::IpAddr;

use hashes::Slow;
use net::ConnectionId;

use crate::auth::Password;
use crate::identity::Identity;
use crate::scan::Searches;
use crate::slow_binds::{Check, Place};
use crate::turn::Turn;

/// What a session knows of the TLS under it.
#[derive(Debug)]
pub(crate) struct Secured {
    /// The client's certificate in DER, if it sent one.
    pub(crate) certificate: Option<Box<[u8]>>,
}

/// A request that waits for a slow hash.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) id: i32,
    pub(crate) request: WaitingRequest,
    /// What its password is checked against.
    pub(crate) stored: Vec<Slow>,
    pub(crate) place: Place,
}

impl WaitingRequest {
    /// The entry whose password it is.
    pub(crate) fn name(&self) -> &[u8] {
        match self {
            Self::Bind(name) | Self::PasswordModify(name, _) => name,
        }
    }
}

/// What is done when the password was right.
#[derive(Debug)]
pub(crate) enum WaitingRequest {
    /// The client becomes this entry.
    Bind(Box<[u8]>),
    /// The entry is given this password, or one that the server chooses.
    PasswordModify(Box<[u8]>, Option<Password>),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Session {
    connection: ConnectionId,
    from: IpAddr,
    pub(crate) identity: Identity,
    /// Present under TLS. Boxed so that a plain connection stays small.
    pub(crate) secured: Option<Box<Secured>>,
    pub(crate) searches: Searches,
    /// Boxed as `secured` is.
    pub(crate) waiting: Option<Box<Waiting>>,
}

impl Session {
    pub(crate) fn new(connection: ConnectionId, from: IpAddr) -> Self {
        let (identity, searches) = (Identity::default(), Searches::default());
        Self { connection, from, identity, secured: None, searches, waiting: None }
    }

    /// Begins again, under TLS. Nothing from before is kept (RFC 4513 section 4): neither the client's identity nor
    /// its paged searches.
    pub(crate) fn secure(&mut self, certificate: Option<Box<[u8]>>) {
        let secured = Some(Box::new(Secured { certificate }));
        *self = Self { secured, ..Self::new(self.connection, self.from) };
    }

    /// Has a request wait for a slow hash.
    pub(crate) fn wait(&mut self, id: i32, request: WaitingRequest, check: Check, turn: &Turn<'_>) {
        let stored = check.stored().to_vec();
        let place = turn.slow_binds.begin(self.connection, self.from, check);
        self.waiting = Some(Box::new(Waiting { id, request, stored, place }));
    }

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
