//! Which requests take long and cannot be interrupted: they wait for their time ([`net::Step::Later`]).
//! Requests about people do not take long.

use wire::ldap::{Credentials, Operation, oid};

use crate::scan;
use crate::turn::Turn;

/// A message that takes longer to decode than most to answer.
const MESSAGE: usize = 64 << 10;

/// Each value that is compared, indexed or hashed with a password takes one to three microseconds.
const VALUES: usize = 100;

/// Whether a message takes long whatever is in it.
#[inline]
pub(super) const fn is_long(message: &[u8]) -> bool {
    message.len() > MESSAGE
}

/// Whether an operation takes long: it brings many values, or works on an entry that has many. A search finds
/// out while it runs, unless its filter takes long to compile.
#[inline]
pub(super) fn takes_long(operation: &Operation<'_>, turn: &mut Turn<'_>) -> bool {
    match operation {
        Operation::Search(search) => scan::is_long(search.filter),
        Operation::Unbind | Operation::Abandon(_) => false,
        Operation::Bind(bind) => match bind.credentials {
            Credentials::Simple(_) => has_many_values(bind.name, turn),
            _ => turn.access.read().may_hold_many_values(),
        },
        Operation::Add(add) => add.values > VALUES,
        Operation::Delete(dn) => has_many_values(dn, turn),
        Operation::Compare(compare) => has_many_values(compare.dn, turn),
        Operation::Modify(modify) => {
            modify.changes().flat_map(|change| change.attribute.values.iter()).nth(VALUES).is_some()
                || has_many_values(modify.dn, turn)
        }
        Operation::ModifyDn(modify) => {
            has_many_values(modify.dn, turn) || {
                let Turn { access, scratch, .. } = turn;
                access.read().is_container(modify.dn, &mut scratch.store)
            }
        }
        Operation::Extended(extended) => {
            extended.name == oid::PASSWORD_MODIFY && turn.access.read().may_hold_many_values()
        }
    }
}

fn has_many_values(dn: &[u8], turn: &mut Turn<'_>) -> bool {
    let Turn { settings, access, scratch, .. } = turn;
    let dn = match &settings.ils {
        Some(names) if names.translate(dn, &mut scratch.name) => &scratch.name,
        _ => dn,
    };
    access.read().has_more_values(dn, VALUES, &mut scratch.store)
}
