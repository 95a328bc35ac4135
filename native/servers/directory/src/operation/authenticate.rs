//! Names and passwords in simple binds, SASL PLAIN and password modifies (RFC 4513 section 5.1.3).

use hashes::Slow;
use wire::ldap::ResultCode;

use crate::auth;
use crate::identity::Identity;
use crate::slow_binds::Check;
use crate::store::Refusal;
use crate::turn::Turn;

/// The identity of a client.
pub(super) enum Authenticated {
    Now(Identity),
    /// The entry of this name, if the check of its slow hashes succeeds.
    Slow(Box<[u8]>, Check),
}

/// The identity of a client with this name and password.
pub(super) fn authenticate(
    name: &[u8],
    password: &[u8],
    turn: &mut Turn<'_>,
) -> Result<Authenticated, Refusal> {
    if let Some(admin) = turn.settings.admin_named(name) {
        let known = admin.password.as_ref().is_some_and(|secret| hashes::same(secret.as_bytes(), password));
        return if known { Ok(Authenticated::Now(Identity::Admin)) } else { Err(invalid_credentials()) };
    }
    // The answer does not reveal whether the name or the password was wrong.
    authenticate_entry(name, password, turn).ok_or_else(invalid_credentials)
}

/// The entry of this name; `None` if no entry has this name, or if `password` is not one of the entry's
/// passwords or is too long.
pub(super) fn authenticate_entry(name: &[u8], password: &[u8], turn: &mut Turn<'_>) -> Option<Authenticated> {
    let limits = &turn.settings.limits;
    if password.len() > limits.password_bytes {
        return None;
    }
    let now = turn.seconds();
    let store = turn.access.read();
    let login = store.find_login(name, now, &mut turn.scratch.store);
    let entry = store.entry(login?)?;
    let verified = entry
        .attributes()
        .iter()
        .flatten()
        .filter(|attribute| auth::is_password(attribute.name))
        .any(|attribute| auth::is_in(attribute, password));
    if verified {
        return Some(Authenticated::Now(Identity::Entry(entry.dn().into())));
    }
    let slow = auth::slow(entry.attributes(), password, limits);
    (!slow.is_empty()).then(|| Authenticated::Slow(entry.dn().into(), Check::new(password, slow)))
}

/// Whether an entry still has this stored password.
pub(super) fn still_has(name: &[u8], stored: &Slow, turn: &mut Turn<'_>) -> bool {
    let now = turn.seconds();
    let store = turn.access.read();
    let found = store.find_live(name, now, &mut turn.scratch.store).ok();
    found.and_then(|id| store.entry(id)).is_some_and(|entry| auth::has(entry.attributes(), stored))
}

pub(super) fn invalid_credentials() -> Refusal {
    Refusal::new(ResultCode::INVALID_CREDENTIALS, "")
}
