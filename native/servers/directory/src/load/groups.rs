//! Loads groups of the population's people, one after the other. Beside the store only one group is in
//! memory.

use people::Groups;
use wire::ber::{Reader, tag};
use wire::ldap::{Attributes, ResultCode};

use super::LoadError;
use crate::limits::Limits;
use crate::store::{Store, UnixSeconds};

pub(super) fn load(
    store: &mut Store,
    groups: &Groups,
    limits: &Limits,
    now: UnixSeconds,
) -> Result<(), LoadError> {
    let (mut dn, mut list) = (Vec::new(), Vec::new());
    for g in 0..groups.spec().count {
        dn.clear();
        list.clear();
        groups.write_dn(g, &mut dn);
        groups.write_attributes(g, &mut list);
        let attributes = Attributes(Reader::new(&list).expect(tag::SEQUENCE).unwrap_or_default());
        store.add(&dn, attributes, now).map_err(|why| {
            let dn = String::from_utf8_lossy(&dn).into_owned();
            match why.code {
                ResultCode::ADMIN_LIMIT_EXCEEDED => {
                    LoadError::Group { dn, why, values: limits.values_per_entry }
                }
                _ => LoadError::Entry { dn, why },
            }
        })?;
    }
    Ok(())
}
