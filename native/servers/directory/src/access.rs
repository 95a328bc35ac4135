//! Access control. By default every client may do everything, as on the paper's server: that is why this
//! one listens on loopback by default.

use wire::ldap::filter::{Filter, Kind};
use wire::ldap::{Attributes, ResultCode};

use crate::identity::Identity;
use crate::settings::Settings;
use crate::store::Refusal;

/// Whether this client may read.
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

/// Whether this client may write.
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

/// The attribute that every client may set and only the administrator may read.
pub(crate) const PASSWORD: &[u8] = b"userPassword";
/// Its identifier (RFC 4519 section 2.41).
const PASSWORD_OID: &[u8] = b"2.5.4.35";

/// Whether an attribute description means the password.
#[inline]
pub(crate) fn is_password(description: &[u8]) -> bool {
    let is = |name: &[u8]| match description.get(..name.len()) {
        Some(start) => {
            start.eq_ignore_ascii_case(name) && matches!(description.get(name.len()), None | Some(b';'))
        }
        None => false,
    };
    // The first letter tells most others.
    matches!(description.first(), Some(b'u' | b'U' | b'2')) && (is(PASSWORD) || is(PASSWORD_OID))
}

/// Whether passwords have to be kept from this client.
#[inline]
pub(crate) fn hides_passwords(settings: &Settings, identity: &Identity) -> bool {
    !matches!(identity, Identity::Admin) && settings.has_passwords()
}

/// Whether a password is among the attributes.
pub(crate) fn includes_password(attributes: Attributes<'_>) -> bool {
    attributes.iter().flatten().any(|attribute| is_password(attribute.name))
}

/// Whether a filter tests passwords: substring filters would reveal them letter by letter.
pub(crate) fn probes_password(filter: Filter<'_>) -> bool {
    match filter.kind() {
        Kind::And(filters) | Kind::Or(filters) => filters.iter().any(probes_password),
        Kind::Not(filter) => probes_password(filter),
        Kind::Present(name) | Kind::Substrings(name, _) => is_password(name),
        Kind::Equality(assertion)
        | Kind::GreaterOrEqual(assertion)
        | Kind::LessOrEqual(assertion)
        | Kind::Approx(assertion) => is_password(assertion.attribute),
        // Without an attribute the rule applies to every attribute (RFC 4511 section 4.5.1.7.7).
        Kind::Extensible(extensible) => extensible.attribute.is_none_or(is_password),
    }
}

/// The refusal of a filter or compare on passwords.
pub(crate) fn password_refusal() -> Refusal {
    Refusal::new(
        ResultCode::INSUFFICIENT_ACCESS_RIGHTS,
        "only the administrator may search for or compare passwords; bind to check one",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_known_under_all_its_names() {
        for name in ["userPassword", "USERPASSWORD", "2.5.4.35", "userpassword;lang-de"] {
            assert!(is_password(name.as_bytes()), "{name}");
        }
        for name in ["userPasswordHint", "2.5.4.355", "user", "cn"] {
            assert!(!is_password(name.as_bytes()), "{name}");
        }
    }
}
