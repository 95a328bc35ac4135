//! Access control. By default every client may do everything, as on the paper's server; therefore the server
//! listens on loopback by default.

use wire::ldap::{Filter, ResultCode};

use crate::auth::is_password;
use crate::identity::Identity;
use crate::settings::Settings;
use crate::store::Refusal;

/// Refuses a client that has no right to read.
#[inline]
pub(crate) fn may_read(settings: &Settings, identity: &Identity) -> Result<(), Refusal> {
    if settings.require_bind && matches!(identity, Identity::Anonymous) {
        return Err(Refusal::new(
            ResultCode::INSUFFICIENT_ACCESS_RIGHTS,
            "this directory answers only to clients that bind with a name and a password",
        ));
    }
    Ok(())
}

/// Refuses a client that has no right to write.
#[inline]
pub(crate) fn may_write(settings: &Settings, identity: &Identity) -> Result<(), Refusal> {
    if settings.read_only {
        return Err(Refusal::new(ResultCode::UNWILLING_TO_PERFORM, "this directory is read-only"));
    }
    may_read(settings, identity)?;
    if settings.admin.is_some() && !matches!(identity, Identity::Admin) {
        return Err(Refusal::new(
            ResultCode::INSUFFICIENT_ACCESS_RIGHTS,
            "only the administrator may write; bind with its name and password",
        ));
    }
    Ok(())
}

/// Whether passwords are hidden from this client.
#[inline]
pub(crate) fn hides_passwords(settings: &Settings, identity: &Identity) -> bool {
    !matches!(identity, Identity::Admin) && settings.has_passwords()
}

/// Whether a filter tests passwords. Substring filters would reveal a password letter by letter.
pub(crate) fn probes_password(filter: Filter<'_>) -> bool {
    let mut probes = false;
    // A matching rule without an attribute applies to every attribute (RFC 4511 section 4.5.1.7.7).
    filter.for_each_item(&mut |attribute, _| probes |= attribute.is_none_or(is_password));
    probes
}

/// The refusal of a filter or compare on passwords.
pub(crate) fn password_refusal() -> Refusal {
    Refusal::new(
        ResultCode::INSUFFICIENT_ACCESS_RIGHTS,
        "only the administrator may search for or compare passwords; bind to check one",
    )
}
