//! Names and passwords, as simple binds, SASL PLAIN and password modifies bring them (RFC 4513 section 5.1.3).

use wire::ldap::ResultCode;

use crate::auth;
use crate::identity::Identity;
use crate::store::Refusal;
use crate::turn::Turn;

/// The identity of a client that gives this name and password.
pub(super) fn authenticate(name: &[u8], password: &[u8], turn: &mut Turn<'_>) -> Result<Identity, Refusal> {
    if let Some(admin) = turn.settings.admin_named(name) {
        let known = admin.password.as_ref().is_some_and(|secret| auth::same(secret.as_bytes(), password));
        return if known { Ok(Identity::Admin) } else { Err(invalid_credentials()) };
    }
    // The answer does not reveal whether the name or the password was wrong.
    verify_entry(name, password, turn).map(Identity::Entry).ok_or_else(invalid_credentials)
}

/// The name of the entry, as it is stored, if `password` is one of its passwords. One that is longer than
/// allowed is wrong.
pub(super) fn verify_entry(name: &[u8], password: &[u8], turn: &mut Turn<'_>) -> Option<Box<[u8]>> {
    if password.len() > turn.settings.limits.password_bytes {
        return None;
    }
    let now = turn.seconds();
    let store = turn.access.read();
    let id = store.find_live(name, now, &mut turn.scratch.store).ok()?;
    let entry = store.entry(id)?;
    let verified = entry
        .attributes()
        .iter()
        .flatten()
        .filter(|attribute| auth::is_password(attribute.name))
        .any(|attribute| auth::is_in(attribute, password));
    verified.then(|| entry.dn().into())
}

fn invalid_credentials() -> Refusal {
    Refusal::new(ResultCode::INVALID_CREDENTIALS, "")
}
