//! Password modify (RFC 3062).

use wire::ber::{self, BerError, Reader, tag};
use wire::ldap::attributes::read_attribute;
use wire::ldap::request::write_attribute;
use wire::ldap::{Change, ExtendedRequest, ResultCode};

use super::authenticate::verify_entry;
use crate::access;
use crate::auth;
use crate::identity::Identity;
use crate::session::Session;
use crate::settings::normal;
use crate::store::Refusal;
use crate::turn::Turn;

/// The fields of the request, each optional (RFC 3062 section 2).
#[derive(Debug, Default)]
struct PasswordModifyRequest<'a> {
    user: Option<&'a [u8]>,
    old: Option<&'a [u8]>,
    new: Option<&'a [u8]>,
}

/// Sets a password; returns the encoded response with the password if the server chose it.
pub(super) fn modify(
    session: &Session,
    extended: &ExtendedRequest<'_>,
    turn: &mut Turn<'_>,
) -> Result<Option<Vec<u8>>, Refusal> {
    if turn.settings.read_only {
        access::may_write(turn.settings, &session.identity)?;
    }
    let request = read(extended.value).map_err(|error| {
        Refusal::new(ResultCode::PROTOCOL_ERROR, format!("not a password modify request: {error}"))
    })?;
    // RFC 3062 section 2: not to be used anonymously.
    if matches!(session.identity, Identity::Anonymous) {
        return Err(Refusal::new(
            ResultCode::STRONGER_AUTH_REQUIRED,
            "a password is changed by a client that has bound; bind with a name and a password",
        ));
    }
    let user = user(session, &request)?;
    let mut translated = Vec::new();
    let user = match &turn.settings.ils {
        Some(names) if names.translate(user, &mut translated) => &translated,
        _ => user,
    };
    if turn.settings.admin_named(user).is_some() {
        return Err(Refusal::new(
            ResultCode::UNWILLING_TO_PERFORM,
            "the administrator's password is set where the server is started",
        ));
    }
    // Each password stored is hashed with the old one.
    turn.slice.begin();
    authorize(session, user, &request, turn)?;
    let most = turn.settings.limits.password_bytes;
    if let Some(new) = request.new.filter(|new| new.len() > most) {
        let diagnostic = format!("a password of {} bytes, over the limit of {most}", new.len());
        return Err(Refusal::new(ResultCode::ADMIN_LIMIT_EXCEEDED, diagnostic));
    }
    let (password, generated) = match request.new {
        Some(new) if !new.is_empty() => (new.to_vec(), false),
        _ => (auth::generate().map_err(no_entropy)?, true),
    };
    store(user, &password, turn)?;
    Ok(generated.then(|| {
        let mut value = Vec::new();
        ber::write_nested(&mut value, tag::SEQUENCE, |out| {
            ber::write_element(out, tag::context(0), &password);
        });
        value
    }))
}

fn read(value: Option<&[u8]>) -> Result<PasswordModifyRequest<'_>, BerError> {
    let Some(value) = value else { return Ok(PasswordModifyRequest::default()) };
    let mut fields = Reader::new(value).sequence()?;
    Ok(PasswordModifyRequest {
        user: fields.optional(tag::context(0))?,
        old: fields.optional(tag::context(1))?,
        new: fields.optional(tag::context(2))?,
    })
}

/// The user whose password is set: the one named, with or without `dn:` in front, or the client's own.
fn user<'a>(session: &'a Session, request: &PasswordModifyRequest<'a>) -> Result<&'a [u8], Refusal> {
    match (request.user, &session.identity) {
        (Some(user), _) if !user.is_empty() => Ok(user.strip_prefix(b"dn:").unwrap_or(user)),
        (_, Identity::Entry(dn)) => Ok(dn),
        _ => Err(Refusal::new(
            ResultCode::UNWILLING_TO_PERFORM,
            "the request names no user and the client is bound as none; name a user",
        )),
    }
}

/// The administrator may set any password, other users their own and those whose old value they give.
/// Without an administrator every client may write everything, passwords included.
fn authorize(
    session: &Session,
    user: &[u8],
    request: &PasswordModifyRequest<'_>,
    turn: &mut Turn<'_>,
) -> Result<(), Refusal> {
    match request.old {
        Some(old) if verify_entry(user, old, turn).is_some() => Ok(()),
        // A wrong old password is refused for the administrator too (RFC 3062 section 2).
        Some(_) => Err(Refusal::new(ResultCode::UNWILLING_TO_PERFORM, "the old password is wrong")),
        None if is_own(session, user) => Ok(()),
        None => access::may_write(turn.settings, &session.identity),
    }
}

/// Whether the client is bound as this user, and so has given the password before.
fn is_own(session: &Session, user: &[u8]) -> bool {
    match &session.identity {
        Identity::Entry(dn) => normal(dn).is_some_and(|own| normal(user) == Some(own)),
        Identity::Anonymous | Identity::Admin => false,
    }
}

fn store(user: &[u8], password: &[u8], turn: &mut Turn<'_>) -> Result<(), Refusal> {
    let hash = auth::hash(password).map_err(no_entropy)?;
    let mut encoded = Vec::new();
    write_attribute(&mut encoded, auth::PASSWORD, [hash.as_slice()]);
    let Ok(attribute) = read_attribute(&mut Reader::new(&encoded)) else {
        return Err(Refusal::new(ResultCode::OTHER, "the password could not be encoded"));
    };
    turn.settings.note_password();
    let replace = Change { operation: 2, attribute };
    let now = turn.seconds();
    turn.access.write().modify(user, std::iter::once(replace), now).map(drop)
}

fn no_entropy(error: getrandom::Error) -> Refusal {
    Refusal::new(ResultCode::UNAVAILABLE, format!("the system has no random numbers: {error}"))
}
