//! Compare (RFC 4511 section 4.10).

use wire::ldap::{CompareRequest, Request, ResultCode, op};

use crate::access;
use crate::answer;
use crate::auth;
use crate::controls;
use crate::session::Session;
use crate::special;
use crate::store::Refusal;
use crate::turn::Turn;

pub(super) fn run(
    session: &Session,
    request: &Request<'_>,
    compare: &CompareRequest<'_>,
    turn: &mut Turn<'_>,
) {
    turn.counters.compares += 1;
    match decide(session, request, compare, turn) {
        Ok(equal) => {
            let code = if equal { ResultCode::COMPARE_TRUE } else { ResultCode::COMPARE_FALSE };
            answer::result(&mut turn.out, request.id, op::COMPARE_RESPONSE, code, "");
        }
        Err(refusal) => answer::refusal(&mut turn.out, request.id, op::COMPARE_RESPONSE, &refusal),
    }
}

fn decide(
    session: &Session,
    request: &Request<'_>,
    compare: &CompareRequest<'_>,
    turn: &mut Turn<'_>,
) -> Result<bool, Refusal> {
    controls::check(request.controls)?;
    access::may_read(turn.settings, &session.identity)?;
    if auth::is_password(compare.attribute) {
        // The flag for stored passwords is read under the lock of the comparison, because another client
        // could store the first password between two locks.
        turn.access.read();
        if access::hides_passwords(turn.settings, &session.identity) {
            return Err(access::password_refusal());
        }
    }
    if let Some(entry) = special::named(session, compare.dn, turn) {
        return entry.compare(compare.attribute, compare.value);
    }
    let now = turn.seconds();
    let dn = turn.settings.stored_name(compare.dn, &mut turn.scratch.name);
    turn.access.read().compare(&CompareRequest { dn, ..*compare }, now, &mut turn.scratch.store)
}
