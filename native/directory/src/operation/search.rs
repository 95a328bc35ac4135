//! Search (RFC 4511 section 4.5): access control, and which kind of search it is.

use wire::ldap::{Request, SearchRequest, op};

use super::scan::{NameForm, Terms};
use crate::access;
use crate::answer;
use crate::controls;
use crate::entry::Naming;
use crate::ils;
use crate::session::Session;
use crate::special;
use crate::store::Refusal;
use crate::turn::Turn;

/// Answers a search, or begins to.
#[inline]
pub(crate) fn start(
    session: &mut Session,
    request: &Request<'_>,
    search: &SearchRequest<'_>,
    turn: &mut Turn<'_>,
) {
    turn.counters.searches += 1;
    if let Err(refusal) = begin(session, request, search, turn) {
        answer::refusal(turn.out, request.id, op::SEARCH_DONE, &refusal);
    }
}

#[inline]
fn begin(
    session: &mut Session,
    request: &Request<'_>,
    search: &SearchRequest<'_>,
    turn: &mut Turn<'_>,
) -> Result<(), Refusal> {
    let page = if request.controls.is_empty() { None } else { controls::of_search(request.controls)? };
    // Every client may read the root DSE: RFC 4513 section 5.2.1.5 has clients do so before they choose
    // how to bind.
    if let Some(entry) = special::searched(search, turn) {
        entry.answer(request.id, search, turn);
        return Ok(());
    }
    access::may_read(turn.settings, &session.identity)?;
    let hides_passwords = access::hides_passwords(turn.settings, &session.identity);
    if hides_passwords && access::probes_password(search.filter) {
        return Err(access::password_refusal());
    }
    if let Some(page) = page.filter(|page| !page.cookie.is_empty()) {
        return session.searches.resume(request.id, page, turn);
    }
    let terms = Terms {
        id: request.id,
        naming: Naming::Canonical,
        form: NameForm::Stored,
        minutes: None,
        hides_passwords,
        // A first page of size zero is answered like a search that is not paged.
        page: page.map(|page| page.size).filter(|size| *size > 0),
    };
    match &turn.settings.ils {
        None => session.searches.begin(search, terms, turn),
        Some(names) => ils::search(names, session, search, terms, turn),
    }
}
