//! StartTLS (RFC 4511 section 4.14, RFC 4513 section 3.1).

use net::Step;
use wire::ldap::answer::{Verdict, write_extended};
use wire::ldap::{ExtendedRequest, Request, ResultCode, oid};

use crate::answer;
use crate::controls;
use crate::session::Session;
use crate::store::Refusal;
use crate::turn::Turn;

/// Answers in plaintext; the first byte after the answer belongs to TLS.
pub(crate) fn run(
    session: &Session,
    request: &Request<'_>,
    extended: &ExtendedRequest<'_>,
    turn: &mut Turn<'_>,
) -> Step {
    turn.counters.extended += 1;
    let allowed = controls::check(request.controls).and_then(|()| check(session, extended, turn));
    let (verdict, step) = match &allowed {
        Ok(()) => (Verdict::SUCCESS, Step::Upgrade),
        Err(refusal) => (answer::refused(refusal), Step::Next),
    };
    write_extended(&mut turn.out, request.id, &verdict, Some(oid::START_TLS), None);
    step
}

fn check(session: &Session, extended: &ExtendedRequest<'_>, turn: &Turn<'_>) -> Result<(), Refusal> {
    if session.secured.is_some() {
        return Err(Refusal::new(ResultCode::OPERATIONS_ERROR, "this connection uses TLS already"));
    }
    if !turn.settings.starts_tls {
        return Err(Refusal::new(
            ResultCode::PROTOCOL_ERROR,
            "StartTLS is not enabled; start the directory with --tls-cert or --tls self-signed, and \
             --start-tls",
        ));
    }
    if extended.value.is_some() {
        return Err(Refusal::new(ResultCode::PROTOCOL_ERROR, "a StartTLS request has no value"));
    }
    if !session.searches.is_idle() {
        // RFC 4513 section 3.1.1: StartTLS is not allowed while responses are outstanding.
        return Err(Refusal::new(
            ResultCode::OPERATIONS_ERROR,
            "searches are still running; wait until they have ended",
        ));
    }
    Ok(())
}
