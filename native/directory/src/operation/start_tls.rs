//! StartTLS (RFC 4511 section 4.14).

use wire::ldap::answer::{Verdict, write_extended};
use wire::ldap::{ExtendedRequest, Request, ResultCode, oid};

use crate::answer;
use crate::controls;
use crate::session::{Flow, Session};
use crate::store::Refusal;
use crate::turn::Turn;

/// Answers, in plain: what comes behind the answer is TLS.
pub(crate) fn run(
    session: &Session,
    request: &Request<'_>,
    extended: &ExtendedRequest<'_>,
    turn: &mut Turn<'_>,
) -> Flow {
    turn.counters.extended += 1;
    let allowed = controls::check(request.controls).and_then(|()| check(session, extended, turn));
    let (verdict, flow) = match &allowed {
        Ok(()) => (Verdict::SUCCESS, Flow::StartTls),
        Err(refusal) => (answer::refused(refusal), Flow::Continue),
    };
    write_extended(turn.out, request.id, &verdict, Some(oid::START_TLS), None);
    flow
}

fn check(session: &Session, extended: &ExtendedRequest<'_>, turn: &Turn<'_>) -> Result<(), Refusal> {
    if session.secured.is_some() {
        return Err(Refusal::new(ResultCode::OPERATIONS_ERROR, "TLS is spoken here already"));
    }
    if turn.settings.upgrader().is_none() {
        return Err(Refusal::new(
            ResultCode::PROTOCOL_ERROR,
            "StartTLS is not offered here; start the directory with --tls-cert or --tls self-signed, and \
             --start-tls",
        ));
    }
    if extended.value.is_some() {
        return Err(Refusal::new(ResultCode::PROTOCOL_ERROR, "StartTLS has no value"));
    }
    if !session.searches.is_idle() {
        // What of their answers would be protected, and what not?
        return Err(Refusal::new(
            ResultCode::OPERATIONS_ERROR,
            "searches are under way; wait for them first",
        ));
    }
    Ok(())
}
