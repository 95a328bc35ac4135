//! The controls that each operation supports (RFC 4511 section 4.1.11).

use wire::ldap::control::{Controls, PagedResults};
use wire::ldap::{ResultCode, oid};

use crate::store::Refusal;

/// The supportedControl values of the root DSE (RFC 4512 section 5.1.3).
pub(crate) const SUPPORTED: [&[u8]; 2] = [oid::PAGED_RESULTS, oid::MANAGE_DSA_IT];

/// The requested page of a search: its number of entries, and the position of its first entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page<'a> {
    pub(crate) size: u32,
    pub(crate) cookie: &'a [u8],
}

/// Refuses unsupported critical controls. Every operation supports ManageDsaIT, which has no effect in a
/// directory without referrals.
pub(crate) fn check(controls: Controls<'_>) -> Result<(), Refusal> {
    match controls.iter().find(|control| control.critical && control.oid != oid::MANAGE_DSA_IT) {
        None => Ok(()),
        Some(control) => Err(unavailable(control.oid)),
    }
}

/// Checks the controls of a search, and returns the requested page.
pub(crate) fn of_search<'a>(controls: Controls<'a>) -> Result<Option<Page<'a>>, Refusal> {
    let mut page = None;
    for control in controls.iter() {
        match control.oid {
            oid if oid == oid::PAGED_RESULTS => page = Some(read_page(control.value)?),
            oid if oid == oid::MANAGE_DSA_IT => {}
            oid if control.critical => return Err(unavailable(oid)),
            _ => {}
        }
    }
    Ok(page)
}

fn read_page(value: Option<&[u8]>) -> Result<Page<'_>, Refusal> {
    value
        .and_then(|value| PagedResults::decode(value).ok())
        .and_then(|paged| Some(Page { size: u32::try_from(paged.size).ok()?, cookie: paged.cookie }))
        .ok_or_else(|| {
            Refusal::new(ResultCode::PROTOCOL_ERROR, "the paged results control has no readable value")
        })
}

fn unavailable(oid: &[u8]) -> Refusal {
    let oid = String::from_utf8_lossy(oid);
    Refusal::new(
        ResultCode::UNAVAILABLE_CRITICAL_EXTENSION,
        format!("the critical control {oid} does not go with this operation here"),
    )
}
