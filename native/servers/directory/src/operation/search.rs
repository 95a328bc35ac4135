//! Search (RFC 4511 section 4.5): access control, and the choice between kinds of searches.

use net::Step;
use wire::ldap::{Request, SearchRequest, op};

use crate::access;
use crate::answer;
use crate::controls;
use crate::entry::Naming;
use crate::identity::Identity;
use crate::ils;
use crate::scan::{NameForm, Terms, question};
use crate::session::Session;
use crate::special;
use crate::store::Refusal;
use crate::turn::Turn;

/// Answers a short search completely, and begins to answer a longer search.
#[inline]
pub(crate) fn start(
    session: &mut Session,
    request: &Request<'_>,
    search: &SearchRequest<'_>,
    turn: &mut Turn<'_>,
) -> Step {
    let step = begin(session, request, search, turn).unwrap_or_else(|refusal| {
        answer::refusal(&mut turn.out, request.id, op::SEARCH_DONE, &refusal);
        Step::Next
    });
    turn.counters.searches += u64::from(step != Step::Later);
    step
}

#[inline]
fn begin(
    session: &mut Session,
    request: &Request<'_>,
    search: &SearchRequest<'_>,
    turn: &mut Turn<'_>,
) -> Result<Step, Refusal> {
    let page = if request.controls.is_empty() { None } else { controls::of_search(request.controls)? };
    // Every client may read the root DSE: by RFC 4513 section 5.2.1.5 clients read it before they choose a
    // kind of bind.
    if let Some(entry) = special::searched(session, search, turn) {
        entry.answer(request.id, search, turn);
        return Ok(Step::Next);
    }
    access::may_read(turn.settings, &session.identity)?;
    if let Some(page) = page.filter(|page| !page.cookie.is_empty()) {
        return session.searches.resume(request.id, page, search, turn);
    }
    let terms = Terms {
        id: request.id,
        naming: Naming::Canonical,
        form: NameForm::Stored,
        minutes: None,
        sees_passwords: matches!(session.identity, Identity::Admin),
        page: page.map(|page| turn.settings.page(page.size)),
        question: page.map_or(0, |_| question(search)),
    };
    match &turn.settings.ils {
        None => session.searches.begin(search, terms, turn),
        Some(names) => ils::search(names, session, search, terms, turn),
    }
}
