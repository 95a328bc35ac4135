//! Recognises requests that take long and cannot be interrupted. They wait for a turn for long requests
//! ([`net::Step::Later`]). Requests about people do not take long.

use wire::ldap::{Credentials, Operation, oid};

use crate::scan;
use crate::turn::Turn;

/// Decoding a longer message takes more time than answering most requests.
const MESSAGE: usize = 64 << 10;

/// Comparing, indexing, or hashing with a password takes one to three microseconds per value.
const VALUES: usize = 100;

/// Whether a message takes long whatever its content.
#[inline]
pub(super) const fn is_long(message: &[u8]) -> bool {
    message.len() > MESSAGE
}

/// Whether an operation takes long, because the operation or its entry has many values. A search finds out
/// while it runs, unless compiling its filter takes long.
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
    let dn = settings.stored_name(dn, &mut scratch.name);
    access.read().has_more_values(dn, VALUES, &mut scratch.store)
}
