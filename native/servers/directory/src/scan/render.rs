//! Bodies of entries that are not sent in their stored form.

use wire::ldap::request::{write_attribute, write_encoded_attribute};

use crate::auth;
use crate::ils_names::write_client_name;
use crate::store::{UnixSeconds, body};

/// Removes the passwords from an encoded entry.
pub(super) fn without_password(body: &mut Vec<u8>) {
    if !auth::includes_password(body::split(body).1) {
        return;
    }
    body::rewrite(body, |attributes, out| {
        for attribute in attributes.iter().flatten().filter(|attribute| !auth::is_password(attribute.name)) {
            write_encoded_attribute(out, attribute.name, attribute.values);
        }
    });
}

/// Adds the remaining time to live in minutes, rounded up. It is computed and not stored, so it comes last,
/// whatever the order of the selection.
pub(super) fn with_minutes(body: &mut Vec<u8>, name: &[u8], expires: UnixSeconds, now: UnixSeconds) {
    // An entry is removed in the second after its last second, so one second is subtracted.
    let left_s = expires.0.saturating_sub(now.0).saturating_sub(1);
    body::rewrite(body, |attributes, out| {
        out.extend_from_slice(attributes.0);
        let minutes = left_s.div_ceil(60).to_string();
        write_attribute(out, name, [minutes.as_bytes()]);
    });
}

/// Replaces the name of an encoded entry by its name in ILS clients.
pub(super) fn under_ils_name(body: &mut Vec<u8>) {
    let (dn, attributes) = body::split(body);
    let (mut name, mut out) = (Vec::new(), Vec::new());
    if write_client_name(dn, &mut name) {
        body::write(&name, &mut out, |out| out.extend_from_slice(attributes.0));
        *body = out;
    }
}
