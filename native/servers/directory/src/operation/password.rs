//! Password modify (RFC 3062).

use wire::ber::{self, BerError, Reader, tag};
use wire::ldap::attributes::read_attribute;
use wire::ldap::request::write_attribute;
use wire::ldap::{Change, ExtendedRequest, ResultCode};

use super::authenticate::{Authenticated, authenticate_entry};
use crate::access;
use crate::auth::{self, Password};
use crate::identity::Identity;
use crate::session::{Session, WaitingRequest};
use crate::settings::normal;
use crate::slow_binds::Check;
use crate::store::Refusal;
use crate::turn::Turn;

/// The fields of the request, each optional (RFC 3062 section 2).
#[derive(Debug, Default)]
struct PasswordModifyRequest<'a> {
    user: Option<&'a [u8]>,
    old: Option<&'a [u8]>,
    new: Option<&'a [u8]>,
}

/// The outcome of a request.
pub(super) enum Modified {
    /// The password is set. If the server generated the password, the encoded response has it.
    Done(Option<Vec<u8>>),
    /// The password is set if the old password passes this check.
    Slow(WaitingRequest, Check),
}

/// Sets a password.
pub(super) fn modify(
    session: &Session,
    extended: &ExtendedRequest<'_>,
    turn: &mut Turn<'_>,
) -> Result<Modified, Refusal> {
    if turn.settings.read_only {
        access::may_write(turn.settings, &session.identity)?;
    }
    let request = read(extended.value).map_err(|error| {
        Refusal::new(ResultCode::PROTOCOL_ERROR, format!("not a password modify request: {error}"))
    })?;
    // RFC 3062 section 2: anonymous clients may not use the operation.
    if matches!(session.identity, Identity::Anonymous) {
        return Err(Refusal::new(
            ResultCode::STRONGER_AUTH_REQUIRED,
            "a password is changed by a client that has bound; bind with a name and a password",
        ));
    }
    let user = user(session, &request)?;
    let mut translated = Vec::new();
    let user = turn.settings.stored_name(user, &mut translated);
    if turn.settings.admin_named(user).is_some() {
        return Err(Refusal::new(
            ResultCode::UNWILLING_TO_PERFORM,
            "the administrator's password is set where the server is started",
        ));
    }
    let most = turn.settings.limits.password_bytes;
    if let Some(new) = request.new.filter(|new| new.len() > most) {
        let diagnostic = format!("a password of {} bytes, over the limit of {most}", new.len());
        return Err(Refusal::new(ResultCode::ADMIN_LIMIT_EXCEEDED, diagnostic));
    }
    let new = request.new.filter(|new| !new.is_empty());
    // The old password is hashed once for each stored value.
    turn.slice.begin();
    match authorize(session, user, &request, turn)? {
        None => set(user, new, turn).map(Modified::Done),
        Some(check) => {
            let new = new.map(|new| Password(new.into()));
            Ok(Modified::Slow(WaitingRequest::PasswordModify(user.into(), new), check))
        }
    }
}

/// Sets a password. Without a new password, generates one and returns the encoded response with it.
pub(super) fn set(user: &[u8], new: Option<&[u8]>, turn: &mut Turn<'_>) -> Result<Option<Vec<u8>>, Refusal> {
    let generated = new.is_none();
    let password = match new {
        Some(new) => new.to_vec(),
        None => auth::generate().map_err(no_entropy)?,
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

/// The user whose password is set: the user named in the request, with or without the prefix `dn:`, or else
/// the user as which the client is bound.
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

/// The administrator may set any password. Other users may set their own password, and a password whose old
/// value they know. Without an administrator every client may write everything, passwords included. Returns
/// the check of the old password, if a slow hash is left to check.
fn authorize(
    session: &Session,
    user: &[u8],
    request: &PasswordModifyRequest<'_>,
    turn: &mut Turn<'_>,
) -> Result<Option<Check>, Refusal> {
    match request.old.map(|old| authenticate_entry(user, old, turn)) {
        Some(Some(Authenticated::Now(_))) => Ok(None),
        Some(Some(Authenticated::Slow(_, check))) => Ok(Some(check)),
        Some(None) => Err(wrong_old()),
        None if is_own(session, user) => Ok(None),
        None => access::may_write(turn.settings, &session.identity).map(|()| None),
    }
}

/// The refusal of a request with a wrong old password, even if the administrator sends the request (RFC 3062
/// section 2).
pub(super) fn wrong_old() -> Refusal {
    Refusal::new(ResultCode::UNWILLING_TO_PERFORM, "the old password is wrong")
}

/// Whether the client is bound as this user.
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
