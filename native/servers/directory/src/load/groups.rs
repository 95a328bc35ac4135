//! Loads groups of the population's people, one after the other. Beside the store only one group is in
//! memory.

use people::Groups;
use wire::ldap::ResultCode;

use super::{LoadError, add};
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
        add(store, &dn, &list, now).map_err(|why| match why.code {
            ResultCode::ADMIN_LIMIT_EXCEEDED => {
                let dn = String::from_utf8_lossy(&dn).into_owned();
                LoadError::Group { dn, why, values: limits.values_per_entry }
            }
            _ => LoadError::of_entry(&dn, why),
        })?;
    }
    Ok(())
}
