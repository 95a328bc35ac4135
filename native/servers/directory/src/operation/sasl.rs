//! SASL binds (RFC 4513 section 5.2): EXTERNAL and PLAIN, both over TLS only.

use wire::ldap::ResultCode;

use super::authenticate::{Authenticated, authenticate};
use crate::identity::Identity;
use crate::session::Session;
use crate::settings::normal;
use crate::store::Refusal;
use crate::subject;
use crate::turn::Turn;

/// The identity of the client by this mechanism.
pub(super) fn identify(
    session: &Session,
    mechanism: &[u8],
    credentials: Option<&[u8]>,
    turn: &mut Turn<'_>,
) -> Result<Authenticated, Refusal> {
    match mechanism {
        b"EXTERNAL" => external(session, credentials.unwrap_or_default(), turn).map(Authenticated::Now),
        b"PLAIN" => plain(session, credentials.unwrap_or_default(), turn),
        other => Err(Refusal::new(
            ResultCode::AUTH_METHOD_NOT_SUPPORTED,
            format!(
                "the mechanism {} is not supported; use EXTERNAL, PLAIN or a simple bind",
                String::from_utf8_lossy(other)
            ),
        )),
    }
}

/// RFC 4513 section 5.2.3: the subject of the client's certificate. An entry of that name need not exist, as
/// with OpenLDAP.
fn external(session: &Session, asked: &[u8], turn: &mut Turn<'_>) -> Result<Identity, Refusal> {
    let Some(certificate) = session.secured.as_ref().and_then(|tls| tls.certificate.as_deref()) else {
        return Err(Refusal::new(
            ResultCode::INAPPROPRIATE_AUTHENTICATION,
            "EXTERNAL needs a client certificate; the server asks for one with --tls-client-ca",
        ));
    };
    let subject = subject::of(certificate).filter(|subject| !subject.is_empty()).ok_or_else(|| {
        Refusal::new(ResultCode::INVALID_CREDENTIALS, "the certificate's subject cannot be written as a DN")
    })?;
    if !asked.is_empty() && !is_same(asked, &subject) {
        return Err(Refusal::new(
            ResultCode::INVALID_CREDENTIALS,
            format!("the certificate belongs to {}", String::from_utf8_lossy(&subject)),
        ));
    }
    if turn.settings.admin_named(&subject).is_some() {
        return Ok(Identity::Admin);
    }
    Ok(Identity::Entry(subject.into()))
}

/// RFC 4616. Names are DNs, with or without a leading `dn:`. Without TLS the bind is refused, even on
/// loopback: a client's rights should not depend on its machine, and the simple bind exists for passwords
/// without TLS.
fn plain(session: &Session, message: &[u8], turn: &mut Turn<'_>) -> Result<Authenticated, Refusal> {
    if session.secured.is_none() {
        return Err(Refusal::new(
            ResultCode::CONFIDENTIALITY_REQUIRED,
            "PLAIN sends the password unencrypted; start TLS first",
        ));
    }
    let mut parts = message.splitn(3, |byte| *byte == 0);
    let (Some(asked), Some(name), Some(password)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(Refusal::new(
            ResultCode::PROTOCOL_ERROR,
            "PLAIN needs an authorization identity, a name and a password",
        ));
    };
    let name = as_dn(name);
    if name.is_empty() || password.is_empty() || !(asked.is_empty() || is_same(asked, name)) {
        return Err(Refusal::new(
            ResultCode::INVALID_CREDENTIALS,
            "give the DN and its password, and no other authorization identity",
        ));
    }
    authenticate(name, password, turn)
}

fn as_dn(name: &[u8]) -> &[u8] {
    name.strip_prefix(b"dn:").unwrap_or(name)
}

fn is_same(one: &[u8], other: &[u8]) -> bool {
    normal(as_dn(one)).is_some_and(|one| normal(other) == Some(one))
}
