//! Bind (RFC 4511 section 4.2, RFC 4513 section 5).

use wire::ldap::{BindRequest, Credentials, Request, ResultCode, op};

use super::sasl;
use crate::access;
use crate::answer;
use crate::auth;
use crate::controls;
use crate::session::{Identity, Session};
use crate::store::Refusal;
use crate::turn::Turn;

pub(super) fn run(session: &mut Session, request: &Request<'_>, bind: &BindRequest<'_>, turn: &mut Turn<'_>) {
    turn.counters.binds += 1;
    // RFC 4511 section 4.2.1: what is under way is abandoned, and a bind that fails leaves the
    // client anonymous.
    session.end();
    session.identity = Identity::Anonymous;
    session.bound = false;
    match controls::check(request.controls).and_then(|()| identify(session, bind, turn)) {
        Ok(identity) => {
            session.identity = identity;
            session.bound = true;
            answer::success(turn.out, request.id, op::BIND_RESPONSE);
        }
        Err(refusal) => answer::refusal(turn.out, request.id, op::BIND_RESPONSE, &refusal),
    }
}

fn identify(session: &Session, bind: &BindRequest<'_>, turn: &mut Turn<'_>) -> Result<Identity, Refusal> {
    if !matches!(bind.version, 2 | 3) {
        return Err(Refusal::new(
            ResultCode::PROTOCOL_ERROR,
            format!("LDAP version {} is not spoken here, 2 and 3 are", bind.version),
        ));
    }
    match bind.credentials {
        Credentials::Simple([]) if bind.name.is_empty() => Ok(Identity::Anonymous),
        // RFC 4513 section 5.1.2: a client that sends a name and forgets the password must not
        // believe that it has authenticated.
        Credentials::Simple([]) => Err(Refusal::new(
            ResultCode::UNWILLING_TO_PERFORM,
            "a bind with a name needs a password; leave both empty to be anonymous",
        )),
        Credentials::Simple(password) => authenticate(bind.name, password, turn),
        Credentials::Sasl(mechanism, credentials) => sasl::identify(session, mechanism, credentials, turn),
        Credentials::Other(_) => Err(Refusal::new(
            ResultCode::AUTH_METHOD_NOT_SUPPORTED,
            "only simple binds and SASL are offered here",
        )),
    }
}

pub(super) fn authenticate(name: &[u8], password: &[u8], turn: &mut Turn<'_>) -> Result<Identity, Refusal> {
    if let Some(admin) = turn.settings.admin_named(name) {
        let known = admin.password.as_ref().is_some_and(|secret| auth::same(secret.as_bytes(), password));
        return if known { Ok(Identity::Admin) } else { Err(invalid_credentials()) };
    }
    // Whether the entry exists, has no password or another one is nobody's business.
    verify_entry(name, password, turn).map(Identity::Entry).ok_or_else(invalid_credentials)
}

/// The name of the entry, as it is stored, if `password` is one of its passwords.
pub(super) fn verify_entry(name: &[u8], password: &[u8], turn: &mut Turn<'_>) -> Option<Box<[u8]>> {
    let now = turn.seconds();
    let store = turn.access.read();
    let id = store.find(name, &mut turn.scratch.store).ok()?;
    let entry = store.entry(id).filter(|entry| entry.expires.is_none_or(|end| end > now))?;
    let verified = entry
        .attributes()
        .iter()
        .flatten()
        .filter(|attribute| access::is_password(attribute.name))
        .flat_map(|attribute| attribute.values.iter().flatten())
        .any(|stored| auth::verify(stored, password));
    verified.then(|| entry.dn().into())
}

fn invalid_credentials() -> Refusal {
    Refusal::new(ResultCode::INVALID_CREDENTIALS, "")
}
