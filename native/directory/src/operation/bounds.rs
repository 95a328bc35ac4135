//! Requests that ask for more than the limits allow.

use wire::ldap::{Operation, ResultCode, op};

use crate::limits::Limits;
use crate::store::Refusal;

/// The tag of the answer and the refusal, for a request beyond a limit.
#[inline]
pub(crate) fn refusal(operation: &Operation<'_>, limits: &Limits) -> Option<(u8, Refusal)> {
    let (tag, name) = match operation {
        Operation::Search(search) => (op::SEARCH_DONE, search.base.len()),
        Operation::Bind(bind) => (op::BIND_RESPONSE, bind.name.len()),
        Operation::Add(add) => (op::ADD_RESPONSE, add.dn.len()),
        Operation::Delete(dn) => (op::DELETE_RESPONSE, dn.len()),
        Operation::Modify(modify) => (op::MODIFY_RESPONSE, modify.dn.len()),
        Operation::ModifyDn(modify) => {
            let renamed = modify.new_rdn.len() + modify.new_superior.map_or(0, <[u8]>::len);
            (op::MODIFY_DN_RESPONSE, modify.dn.len().max(renamed))
        }
        Operation::Compare(compare) => (op::COMPARE_RESPONSE, compare.dn.len()),
        Operation::Unbind | Operation::Abandon(_) | Operation::Extended(_) => return None,
    };
    if name > limits.name_bytes {
        return Some((
            tag,
            refused(format!("a name of {name} bytes, over the limit of {}", limits.name_bytes)),
        ));
    }
    match operation {
        Operation::Search(search) => filter(search.filter, limits).map(|refusal| (tag, refusal)),
        _ => None,
    }
}

/// A term takes two bytes at least: most filters are too short to be beyond anything, and are not
/// walked for it.
#[inline]
fn filter(filter: wire::ldap::Filter<'_>, limits: &Limits) -> Option<Refusal> {
    let short = filter.element().value.len() <= 2 * limits.filter_terms.min(limits.filter_depth);
    let size = if short { return None } else { filter.size() };
    if size.depth > limits.filter_depth {
        let most = limits.filter_depth;
        return Some(refused(format!("a filter nested {} deep, over the limit of {most}", size.depth)));
    }
    (size.terms > limits.filter_terms).then(|| {
        refused(format!("a filter of {} terms, over the limit of {}", size.terms, limits.filter_terms))
    })
}

fn refused(diagnostic: String) -> Refusal {
    Refusal::new(ResultCode::ADMIN_LIMIT_EXCEEDED, diagnostic)
}
