//! Adds the entries above the people.

use wire::ber::{self, tag};
use wire::dn::normal::is_at_or_below;
use wire::ldap::ResultCode;
use wire::ldap::request::write_attribute;

use super::{LoadError, add};
use crate::settings::normal;
use crate::store::{Store, UnixSeconds};

/// Adds the missing entries from `suffix` down to `base`.
pub(super) fn grow(store: &mut Store, suffix: &str, base: &str, now: UnixSeconds) -> Result<(), LoadError> {
    let outside = || LoadError::BaseOutside { base: base.to_owned(), suffix: suffix.to_owned() };
    let top = normal(suffix.as_bytes()).ok_or_else(outside)?;
    let below = |dn: &str| normal(dn.as_bytes()).is_some_and(|dn| is_at_or_below(&dn, &top));
    if !below(base) {
        return Err(outside());
    }
    let containers = match people::containers(base) {
        Ok(containers) => containers,
        // The attribute of the suffix implies no object class: a client has to add this entry.
        Err(people::ContainersError::UnknownType { .. }) if base == suffix => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for container in containers.iter().filter(|container| below(&container.dn)) {
        let mut encoded = Vec::new();
        ber::write_nested(&mut encoded, tag::SEQUENCE, |out| {
            for (name, values) in &container.attributes {
                write_attribute(out, name.as_bytes(), values.iter().map(Vec::as_slice));
            }
        });
        let dn = container.dn.as_bytes();
        match add(store, dn, &encoded, now) {
            Err(why) if why.code != ResultCode::ENTRY_ALREADY_EXISTS => {
                return Err(LoadError::of_entry(dn, why));
            }
            _ => {}
        }
    }
    Ok(())
}
