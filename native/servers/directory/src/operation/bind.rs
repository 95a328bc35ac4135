//! Bind (RFC 4511 section 4.2, RFC 4513 section 5).

use net::Step;
use wire::ldap::{BindRequest, Credentials, Request, ResultCode, op};

use super::authenticate::{Authenticated, authenticate};
use super::sasl;
use crate::answer;
use crate::controls;
use crate::identity::Identity;
use crate::session::{Session, WaitingRequest};
use crate::store::Refusal;
use crate::turn::Turn;

pub(super) fn run(
    session: &mut Session,
    request: &Request<'_>,
    bind: &BindRequest<'_>,
    turn: &mut Turn<'_>,
) -> Step {
    turn.counters.binds += 1;
    // RFC 4511 section 4.2.1: running operations are abandoned, and a failed bind leaves the client
    // anonymous.
    session.searches.clear();
    session.identity = Identity::Anonymous;
    let identity = match controls::check(request.controls).and_then(|()| identify(session, bind, turn)) {
        Ok(Authenticated::Slow(name, check)) => {
            session.wait(request.id, WaitingRequest::Bind(name), check, turn);
            return Step::Wait;
        }
        Ok(Authenticated::Now(identity)) => Ok(identity),
        Err(refusal) => Err(refusal),
    };
    end(session, request.id, identity, turn);
    Step::Next
}

/// Answers a bind, and gives the session its identity.
pub(super) fn end(session: &mut Session, id: i32, identity: Result<Identity, Refusal>, turn: &mut Turn<'_>) {
    let outcome = identity.map(|identity| session.identity = identity);
    answer::outcome(&mut turn.out, id, op::BIND_RESPONSE, outcome);
}

fn identify(
    session: &Session,
    bind: &BindRequest<'_>,
    turn: &mut Turn<'_>,
) -> Result<Authenticated, Refusal> {
    if !matches!(bind.version, 2 | 3) {
        return Err(Refusal::new(
            ResultCode::PROTOCOL_ERROR,
            format!("LDAP version {} is not supported; use 2 or 3", bind.version),
        ));
    }
    match bind.credentials {
        Credentials::Simple([]) if bind.name.is_empty() => Ok(Authenticated::Now(Identity::Anonymous)),
        // RFC 4513 section 5.1.2: a client that sends a name without a password must not believe that it has
        // authenticated.
        Credentials::Simple([]) => Err(Refusal::new(
            ResultCode::UNWILLING_TO_PERFORM,
            "a bind with a name needs a password; leave both empty to be anonymous",
        )),
        Credentials::Simple(password) => authenticate(bind.name, password, turn),
        Credentials::Sasl(mechanism, credentials) => sasl::identify(session, mechanism, credentials, turn),
        Credentials::Other(_) => Err(Refusal::new(
            ResultCode::AUTH_METHOD_NOT_SUPPORTED,
            "only simple and SASL binds are supported",
        )),
    }
}
