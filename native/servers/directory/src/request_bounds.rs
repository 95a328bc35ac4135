//! Refuses requests beyond the limits.

use wire::ldap::{Filter, Operation, ResultCode, Selection};

use crate::limits::Limits;
use crate::store::Refusal;

/// The refusal of a request beyond a limit.
#[inline]
pub(crate) fn refusal(operation: &Operation<'_>, limits: &Limits) -> Option<Refusal> {
    let name = match operation {
        Operation::Search(search) => search.base.len(),
        Operation::Bind(bind) => bind.name.len(),
        Operation::Add(add) => add.dn.len(),
        Operation::Delete(dn) => dn.len(),
        Operation::Modify(modify) => modify.dn.len(),
        Operation::ModifyDn(modify) => {
            let renamed = modify.new_rdn.len() + modify.new_superior.map_or(0, <[u8]>::len);
            modify.dn.len().max(renamed)
        }
        Operation::Compare(compare) => compare.dn.len(),
        Operation::Unbind | Operation::Abandon(_) | Operation::Extended(_) => 0,
    };
    if name > limits.name_bytes {
        return Some(refused(format!("a name of {name} bytes, over the limit of {}", limits.name_bytes)));
    }
    match operation {
        Operation::Search(search) => {
            filter(search.filter, limits).or_else(|| selection(search.attributes, limits))
        }
        _ => None,
    }
}

/// The refusal of a filter beyond a limit. A term takes at least one byte (a piece of a substring assertion
/// between asterisks), and a level of nesting takes two bytes. Most filters are too short to exceed a limit,
/// so their terms are not counted.
#[inline]
pub(crate) fn filter(filter: Filter<'_>, limits: &Limits) -> Option<Refusal> {
    let bytes = filter.element().value.len();
    if bytes < limits.filter_terms.min(2 * limits.filter_depth).min(limits.filter_bytes) {
        return None;
    }
    if bytes > limits.filter_bytes {
        let most = limits.filter_bytes;
        return Some(refused(format!("a filter of {bytes} bytes, over the limit of {most}")));
    }
    let size = filter.size();
    if size.depth > limits.filter_depth {
        let most = limits.filter_depth;
        return Some(refused(format!("a filter nested {} deep, over the limit of {most}", size.depth)));
    }
    (size.terms > limits.filter_terms).then(|| {
        refused(format!("a filter of {} terms, over the limit of {}", size.terms, limits.filter_terms))
    })
}

/// The refusal of too many attributes. A description takes at least two bytes.
#[inline]
fn selection(attributes: Selection<'_>, limits: &Limits) -> Option<Refusal> {
    let most = limits.requested_attributes;
    if attributes.encoded_len() <= most.saturating_mul(2) {
        return None;
    }
    let count = attributes.iter().count();
    (count > most).then(|| refused(format!("{count} attributes asked for, over the limit of {most}")))
}

fn refused(diagnostic: String) -> Refusal {
    Refusal::new(ResultCode::ADMIN_LIMIT_EXCEEDED, diagnostic)
}
