//! The state of one connection above its socket: identity, TLS, searches.

use std::net::IpAddr;

use hashes::Slow;
use net::ConnectionId;

use crate::auth::Password;
use crate::identity::Identity;
use crate::scan::Searches;
use crate::slow_binds::{Check, Place};
use crate::turn::Turn;

/// The TLS of a session.
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
    /// The stored values that the password is checked against.
    pub(crate) stored: Vec<Slow>,
    pub(crate) place: Place,
}

impl WaitingRequest {
    /// The entry with the password.
    pub(crate) fn name(&self) -> &[u8] {
        match self {
            Self::Bind(name) | Self::PasswordModify(name, _) => name,
        }
    }
}

/// The action that follows if the password is right.
#[derive(Debug)]
pub(crate) enum WaitingRequest {
    /// The client is bound as this entry.
    Bind(Box<[u8]>),
    /// The entry gets this password, or a generated one.
    PasswordModify(Box<[u8]>, Option<Password>),
}

#[derive(Debug)]
pub(crate) struct Session {
    connection: ConnectionId,
    from: IpAddr,
    pub(crate) identity: Identity,
    /// Present under TLS. Boxed, so that a connection without TLS is small.
    pub(crate) secured: Option<Box<Secured>>,
    pub(crate) searches: Searches,
    /// Boxed, like `secured`.
    pub(crate) waiting: Option<Box<Waiting>>,
}

impl Session {
    pub(crate) fn new(connection: ConnectionId, from: IpAddr) -> Self {
        let (identity, searches) = (Identity::default(), Searches::default());
        Self { connection, from, identity, secured: None, searches, waiting: None }
    }

    /// Begins a new session under TLS. Nothing is kept (RFC 4513 section 4): neither the client's identity
    /// nor its paged searches.
    pub(crate) fn secure(&mut self, certificate: Option<Box<[u8]>>) {
        let secured = Some(Box::new(Secured { certificate }));
        *self = Self { secured, ..Self::new(self.connection, self.from) };
    }

    /// Makes a request wait for a slow hash.
    pub(crate) fn wait(&mut self, id: i32, request: WaitingRequest, check: Check, turn: &Turn<'_>) {
        let stored = check.stored.clone();
        let place = turn.slow_binds.begin(self.connection, self.from, check);
        self.waiting = Some(Box::new(Waiting { id, request, stored, place }));
    }

    /// The SASL mechanisms that this client may use now. Clients use a listed mechanism, and PLAIN sends the
    /// password, so it is not listed without TLS.
    pub(crate) fn mechanisms(&self) -> &'static [&'static [u8]] {
        match &self.secured {
            None => &[],
            Some(tls) if tls.certificate.is_none() => &[b"PLAIN"],
            Some(_) => &[b"PLAIN", b"EXTERNAL"],
        }
    }

    /// The longest message that is accepted. An anonymous bind does not raise the limit, as every client may
    /// bind anonymously.
    pub(crate) fn message_limit(&self, turn: &Turn<'_>) -> usize {
        let limits = &turn.settings.limits;
        match self.identity {
            Identity::Anonymous => limits.message_bytes_before_bind,
            Identity::Admin | Identity::Entry(_) => limits.message_bytes_after_bind,
        }
    }
}
