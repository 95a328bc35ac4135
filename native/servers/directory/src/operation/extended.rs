//! Extended operations (RFC 4511 section 4.12).

use net::Step;
use wire::ber::{self, Reader, tag};
use wire::ldap::answer::{Verdict, write_extended};
use wire::ldap::{ExtendedRequest, Request, ResultCode, oid, op};

use super::password::{self, Modified};
use crate::access;
use crate::answer;
use crate::controls;
use crate::identity::Identity;
use crate::session::Session;
use crate::store::Refusal;
use crate::turn::Turn;

/// The longest time to live of a refresh: a year (RFC 2589 section 4.1).
const MAX_TTL_S: i64 = 31_557_600;

pub(super) fn run(
    session: &mut Session,
    request: &Request<'_>,
    extended: &ExtendedRequest<'_>,
    turn: &mut Turn<'_>,
) -> Step {
    turn.counters.extended += 1;
    let outcome = controls::check(request.controls).and_then(|()| match extended.name {
        oid::WHO_AM_I => Ok(Some((None, Some(who_am_i(session, turn))))),
        oid::REFRESH => refresh(session, extended, turn).map(|value| Some((Some(oid::REFRESH), Some(value)))),
        oid::PASSWORD_MODIFY => match password::modify(session, extended, turn)? {
            Modified::Done(value) => Ok(Some((None, value))),
            Modified::Slow(waiting, check) => {
                session.wait(request.id, waiting, check, turn);
                Ok(None)
            }
        },
        other => Err(Refusal::new(
            ResultCode::PROTOCOL_ERROR,
            format!("the extended operation {} is not supported", String::from_utf8_lossy(other)),
        )),
    });
    let Some(outcome) = outcome.transpose() else { return Step::Wait };
    respond(request.id, outcome, turn);
    Step::Next
}

/// The name and the value of an extended response.
type Response<'n> = (Option<&'n [u8]>, Option<Vec<u8>>);

fn respond(id: i32, outcome: Result<Response<'_>, Refusal>, turn: &mut Turn<'_>) {
    match outcome {
        Ok((name, value)) => {
            write_extended(&mut turn.out, id, &Verdict::SUCCESS, name, value.as_deref());
        }
        Err(refusal) => answer::refusal(&mut turn.out, id, op::EXTENDED_RESPONSE, &refusal),
    }
}

/// Answers a password modify that has waited for a check: the password is set if the old password was right.
pub(super) fn end_password_modify(
    id: i32,
    user: &[u8],
    new: Option<&[u8]>,
    right: Result<bool, Refusal>,
    turn: &mut Turn<'_>,
) {
    let set = right.and_then(|right| match right {
        true => password::set(user, new, turn),
        false => Err(password::wrong_old()),
    });
    respond(id, set.map(|value| (None, value)), turn);
}

/// RFC 4532: the authorization identity, empty for anonymous.
fn who_am_i(session: &Session, turn: &Turn<'_>) -> Vec<u8> {
    let dn = match &session.identity {
        Identity::Anonymous => return Vec::new(),
        Identity::Admin => turn.settings.admin.as_ref().map_or(&b""[..], |admin| admin.dn.as_bytes()),
        Identity::Entry(dn) => dn,
    };
    [b"dn:", dn].concat()
}

/// RFC 2589 section 4: sets the time to live of an entry, from now on.
fn refresh(
    session: &Session,
    extended: &ExtendedRequest<'_>,
    turn: &mut Turn<'_>,
) -> Result<Vec<u8>, Refusal> {
    access::may_write(turn.settings, &session.identity)?;
    let (dn, ttl_s) = extended.value.and_then(read_refresh).ok_or_else(|| {
        Refusal::new(ResultCode::PROTOCOL_ERROR, "a refresh needs a name and a time to live")
    })?;
    let ttl_s = u32::try_from(ttl_s.clamp(0, MAX_TTL_S)).unwrap_or_default();
    if ttl_s == 0 {
        return Err(Refusal::new(ResultCode::PROTOCOL_ERROR, "a time to live is at least one second"));
    }
    let now = turn.seconds();
    let dn = turn.settings.stored_name(dn, &mut turn.scratch.name);
    let store = turn.access.write();
    let id = store.find_live(dn, now, &mut turn.scratch.store)?;
    store.refresh(id, ttl_s, now)?;
    let mut value = Vec::new();
    ber::write_nested(&mut value, tag::SEQUENCE, |out| {
        ber::write_integer(out, tag::context(1), i64::from(ttl_s));
    });
    Ok(value)
}

fn read_refresh(value: &[u8]) -> Option<(&[u8], i64)> {
    let mut fields = Reader::new(value).sequence().ok()?;
    let dn = fields.expect(tag::context(0)).ok()?;
    Some((dn, fields.integer(tag::context(1)).ok()?))
}
