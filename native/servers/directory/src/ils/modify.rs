//! Modifies of ILS clients, whose attribute `smodop` selects the kind of change.

use wire::ber::{self, tag};
use wire::ldap::attributes::{Attribute, Values};
use wire::ldap::{Change, ModifyRequest};

use super::{ENTRY_TTL, STTL, seconds};
use crate::store::Refusal;
use crate::turn::Turn;

/// The attribute with the kind of change: 0 adds an application, 1 deletes an application, 2 changes the
/// user, 3 changes an application.
const SMODOP: &[u8] = b"smodop";

/// The value of `smodop` that deletes an application.
const DELETE_APPLICATION: &[u8] = b"1";

/// The replace operation of RFC 4511 section 4.6.
const REPLACE: u8 = 2;

/// Changes an entry in the ILS profile. A request with `smodop` sets or clears the listed attributes; a
/// request without `smodop` is an ordinary modify.
pub(crate) fn modify(modify: &ModifyRequest<'_>, turn: &mut Turn<'_>) -> Result<(), Refusal> {
    let now = turn.seconds();
    let dn = turn.settings.stored_name(modify.dn, &mut turn.scratch.name);
    let life = &mut turn.scratch.request;
    life.clear();
    write_life(modify, life);
    let operation = first_value(modify, SMODOP);
    let changes = modify.changes().filter(|change| !named(change, SMODOP)).map(|change| {
        let change = if named(&change, STTL) { set_life(life) } else { change };
        match operation {
            None => change,
            Some(DELETE_APPLICATION) => clear(change),
            Some(_) => Change { operation: REPLACE, ..change },
        }
    });
    turn.access.write().modify(dn, changes, now).map(drop)
}

fn named(change: &Change<'_>, name: &[u8]) -> bool {
    change.attribute.name.eq_ignore_ascii_case(name)
}

fn first_value<'a>(modify: &ModifyRequest<'a>, name: &[u8]) -> Option<&'a [u8]> {
    modify.changes().find(|change| named(change, name))?.attribute.values.iter().flatten().next()
}

fn clear(change: Change<'_>) -> Change<'_> {
    // A time to live in the request belongs to the user and not to the application.
    if named(&change, ENTRY_TTL) {
        return change;
    }
    Change { operation: REPLACE, attribute: Attribute { values: Values(&[]), ..change.attribute } }
}

/// Appends the changes' time to live, which is in minutes, as a value in seconds.
fn write_life(modify: &ModifyRequest<'_>, out: &mut Vec<u8>) {
    if let Some(ttl_s) = first_value(modify, STTL).and_then(seconds) {
        ber::write_element(out, tag::OCTET_STRING, ttl_s.to_string().as_bytes());
    }
}

fn set_life(life: &[u8]) -> Change<'_> {
    Change { operation: REPLACE, attribute: Attribute { name: ENTRY_TTL, values: Values(life) } }
}
