//! Passes messages to the operations that answer them.

use net::Step;
use wire::ber::{Reader, tag};
use wire::ldap::{DecodeError, Operation, Request, ResultCode, Scope, oid};

use super::{bind, compare, extended, long, search, start_tls, write};
use crate::answer;
use crate::request_bounds;
use crate::session::Session;
use crate::settings::Settings;
use crate::store::Refusal;
use crate::turn::Turn;

/// Answers one message, or begins a longer search.
#[inline]
pub(crate) fn handle(session: &mut Session, message: &[u8], turn: &mut Turn<'_>) -> Step {
    let may_take_long = turn.slice.may_take_long();
    if !may_take_long && long::is_long(message) {
        return Step::Later;
    }
    let request = match Request::decode(message) {
        Ok(request) => request,
        Err(error) => return undecodable(message, error, turn),
    };
    if request.id == 0 {
        // RFC 4511 section 4.1.1.1: message id 0 is reserved for the server's own notices.
        answer::notice(&mut turn.out, ResultCode::PROTOCOL_ERROR, "a request with message id 0");
        return Step::Abort;
    }
    let refusal = in_the_clear(session, &request.operation, turn)
        .or_else(|| request_bounds::refusal(&request.operation, &turn.settings.limits));
    if let Some(refusal) = refusal {
        if let Some((id, tag)) = answer_address(message) {
            answer::refusal(&mut turn.out, id, tag, &refusal);
        }
        return Step::Next;
    }
    if !may_take_long && long::takes_long(&request.operation, turn) {
        return Step::Later;
    }
    if takes_time(&request.operation) {
        turn.slice.begin();
    }
    match &request.operation {
        Operation::Search(operation) => return search::start(session, &request, operation, turn),
        Operation::Bind(operation) => return bind::run(session, &request, operation, turn),
        Operation::Unbind => {
            turn.counters.unbinds += 1;
            return Step::Close;
        }
        Operation::Add(operation) => write::add(session, &request, operation, turn),
        Operation::Delete(dn) => write::delete(session, &request, dn, turn),
        Operation::Modify(operation) => write::modify(session, &request, operation, turn),
        Operation::ModifyDn(operation) => write::modify_dn(session, &request, operation, turn),
        Operation::Compare(operation) => compare::run(session, &request, operation, turn),
        // RFC 4511 section 4.11: neither an abandon nor the abandoned operation is answered.
        Operation::Abandon(id) => {
            turn.counters.abandons += 1;
            session.searches.abandon(*id);
        }
        Operation::Extended(operation) if operation.name == oid::START_TLS => {
            return start_tls::run(session, &request, operation, turn);
        }
        Operation::Extended(operation) => return extended::run(session, &request, operation, turn),
    }
    Step::Next
}

/// If clients need a certificate over StartTLS, refuses all requests before TLS. Exceptions are reads of the
/// root DSE, and StartTLS itself: clients need them to begin TLS.
#[inline]
fn in_the_clear(session: &Session, operation: &Operation<'_>, turn: &Turn<'_>) -> Option<Refusal> {
    let Settings { starts_tls, needs_certificate, .. } = *turn.settings;
    let allowed = match operation {
        Operation::Search(search) => search.base.is_empty() && search.scope == Scope::Base,
        Operation::Extended(extended) => extended.name == oid::START_TLS,
        Operation::Unbind | Operation::Abandon(_) => true,
        _ => false,
    };
    (starts_tls && needs_certificate && session.secured.is_none() && !allowed).then(|| {
        Refusal::new(
            ResultCode::CONFIDENTIALITY_REQUIRED,
            "this directory serves clients with a certificate; begin with StartTLS",
        )
    })
}

/// Whether a batch of hundreds of these operations could use up the time slice. If so, the remaining messages
/// wait for another turn. Searches begin the slice themselves.
#[inline]
const fn takes_time(operation: &Operation<'_>) -> bool {
    !matches!(operation, Operation::Search(_) | Operation::Unbind | Operation::Abandon(_))
}

/// RFC 4511 section 4.1.1: a message that cannot be parsed ends the connection. If only a part of its content
/// is invalid, the message is answered, so that the client learns which message was invalid.
fn undecodable(message: &[u8], error: DecodeError, turn: &mut Turn<'_>) -> Step {
    let answerable = match error {
        DecodeError::BadValue { .. }
        | DecodeError::FilterTooDeep
        | DecodeError::UnknownFilter(_)
        | DecodeError::BadSubstrings => answer_address(message),
        DecodeError::Ber(_) | DecodeError::UnknownOperation(_) | DecodeError::BadMessageId(_) => None,
    };
    match answerable {
        Some((id, tag)) => {
            let code = match error {
                DecodeError::FilterTooDeep => ResultCode::ADMIN_LIMIT_EXCEEDED,
                _ => ResultCode::PROTOCOL_ERROR,
            };
            answer::result(&mut turn.out, id, tag, code, &error.to_string());
            Step::Next
        }
        None => {
            answer::notice(&mut turn.out, ResultCode::PROTOCOL_ERROR, &error.to_string());
            Step::Abort
        }
    }
}

/// The id and the tag of the answer to a message.
fn answer_address(message: &[u8]) -> Option<(i32, u8)> {
    let mut fields = Reader::new(message).sequence().ok()?;
    let id = i32::try_from(fields.integer(tag::INTEGER).ok()?).ok().filter(|id| *id > 0)?;
    Some((id, answer::tag_for(fields.peek()?)?))
}
