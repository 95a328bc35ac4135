//! Add, delete, modify and modifyDN (RFC 4511 sections 4.6 to 4.9).

use wire::ldap::{AddRequest, ModifyDnRequest, ModifyRequest, Request, ResultCode, op};

use crate::access;
use crate::ad;
use crate::answer;
use crate::auth;
use crate::controls;
use crate::ils;
use crate::session::Session;
use crate::store::Refusal;
use crate::turn::Turn;

/// Checks whether the client may write.
#[inline]
fn allow(session: &Session, request: &Request<'_>, turn: &Turn<'_>) -> Result<(), Refusal> {
    controls::check(request.controls)?;
    access::may_write(turn.settings, &session.identity)
}

pub(super) fn add(session: &Session, request: &Request<'_>, add: &AddRequest<'_>, turn: &mut Turn<'_>) {
    turn.counters.adds += 1;
    let outcome = allow(session, request, turn).and_then(|()| {
        if add.attributes.0.is_empty() {
            // The attributes are checked before the name, as in other servers.
            return Err(Refusal::new(ResultCode::PROTOCOL_ERROR, "an entry has attributes"));
        }
        if turn.settings.ad && session.secured.is_none() {
            ad::refuse_in_the_clear(add.attributes.iter().flatten().map(|attribute| attribute.name))?;
        }
        if auth::includes_password(add.attributes) {
            turn.settings.note_password();
        }
        match &turn.settings.ils {
            Some(names) => ils::register(names, add, turn),
            None => turn.access.write().add(add.dn, add.attributes, turn.now.seconds()).map(drop),
        }
    });
    answer::outcome(&mut turn.out, request.id, op::ADD_RESPONSE, outcome);
}

pub(super) fn delete(session: &Session, request: &Request<'_>, dn: &[u8], turn: &mut Turn<'_>) {
    turn.counters.deletes += 1;
    let now = turn.seconds();
    let outcome = allow(session, request, turn).and_then(|()| {
        if dn.is_empty() {
            return Err(Refusal::new(ResultCode::UNWILLING_TO_PERFORM, "the root DSE cannot be deleted"));
        }
        let dn = turn.settings.stored_name(dn, &mut turn.scratch.name);
        turn.access.write().remove(dn, now)
    });
    answer::outcome(&mut turn.out, request.id, op::DELETE_RESPONSE, outcome);
}

pub(super) fn modify(
    session: &Session,
    request: &Request<'_>,
    modify: &ModifyRequest<'_>,
    turn: &mut Turn<'_>,
) {
    turn.counters.modifies += 1;
    let outcome = allow(session, request, turn).and_then(|()| {
        if turn.settings.ad && session.secured.is_none() {
            ad::refuse_in_the_clear(modify.changes().map(|change| change.attribute.name))?;
        }
        if modify.changes().any(|change| auth::is_password(change.attribute.name)) {
            turn.settings.note_password();
        }
        match &turn.settings.ils {
            Some(_) => ils::modify(modify, turn),
            None => {
                let now = turn.seconds();
                turn.access.write().modify(modify.dn, modify.changes(), now).map(drop)
            }
        }
    });
    answer::outcome(&mut turn.out, request.id, op::MODIFY_RESPONSE, outcome);
}

pub(super) fn modify_dn(
    session: &Session,
    request: &Request<'_>,
    modify_dn: &ModifyDnRequest<'_>,
    turn: &mut Turn<'_>,
) {
    turn.counters.modify_dns += 1;
    let now = turn.seconds();
    let outcome = allow(session, request, turn).and_then(|()| {
        let dn = turn.settings.stored_name(modify_dn.dn, &mut turn.scratch.name);
        turn.access.write().rename(&ModifyDnRequest { dn, ..*modify_dn }, now).map(drop)
    });
    answer::outcome(&mut turn.out, request.id, op::MODIFY_DN_RESPONSE, outcome);
}
