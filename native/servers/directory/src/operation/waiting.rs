//! Resumes requests that have waited for a slow hash.

use net::Step;
use wire::ldap::ResultCode;

use super::authenticate::{invalid_credentials, still_has};
use super::{bind, extended};
use crate::identity::Identity;
use crate::session::{Session, WaitingRequest};
use crate::slow_binds::Outcome;
use crate::store::Refusal;
use crate::turn::Turn;

/// Answers the request that has waited for this outcome.
pub(crate) fn resume(session: &mut Session, outcome: Outcome, turn: &mut Turn<'_>) -> Step {
    let Some(waiting) = session.waiting.take() else { return Step::Close };
    let right = match outcome {
        // During the check, the password could have been changed, or its entry deleted.
        Outcome::Right(place) => Ok(waiting
            .stored
            .get(place)
            .is_some_and(|stored| still_has(waiting.request.name(), stored, turn))),
        Outcome::Wrong => Ok(false),
        Outcome::Gone => return Step::Close,
        Outcome::TooLong => Err(Refusal::new(
            ResultCode::ADMIN_LIMIT_EXCEEDED,
            "the hash of this password takes longer than slow_hash_ms on this machine",
        )),
        Outcome::Unable => Err(Refusal::new(
            ResultCode::UNAVAILABLE,
            "there is no memory or no thread to check this password now; try again later",
        )),
    };
    match waiting.request {
        WaitingRequest::Bind(name) => {
            let entry = |right: bool| right.then_some(Identity::Entry(name)).ok_or_else(invalid_credentials);
            bind::end(session, waiting.id, right.and_then(entry), turn);
        }
        WaitingRequest::PasswordModify(user, new) => {
            let new = new.as_ref().map(|new| &*new.0);
            extended::end_password_modify(waiting.id, &user, new, right, turn);
        }
    }
    Step::Next
}
