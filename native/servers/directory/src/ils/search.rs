//! Searches of ILS clients: their bases and filters, and searches that keep a user online.

use net::Step;
use wire::ber::Reader;
use wire::ldap::filter::Kind;
use wire::ldap::{Filter, Scope, SearchRequest};

use super::STTL;
use super::filter::{names_one, rewrite};
use crate::access;
use crate::entry::Naming;
use crate::ils_names::{Meaning, Names};
use crate::request_bounds;
use crate::scan::{NameForm, Terms, compile};
use crate::search::{Budget, Progress};
use crate::session::Session;
use crate::store::Refusal;
use crate::turn::{Scratch, Turn};

/// The most entries that one search evaluates, and the most entries that one search keeps online. Names are
/// unique, so a client needs to keep one entry online.
const LOOKED_AT: usize = 256;
const REFRESHED: usize = 8;

/// Answers a search in the ILS profile.
pub(crate) fn search(
    names: &Names,
    session: &mut Session,
    search: &SearchRequest<'_>,
    terms: Terms,
    turn: &mut Turn<'_>,
) -> Result<Step, Refusal> {
    let mut name = std::mem::take(&mut turn.scratch.name);
    let mut filter = std::mem::take(&mut turn.scratch.request);
    filter.clear();
    let outcome = translated(names, session, search, terms, (&mut name, &mut filter), turn);
    turn.scratch.name = name;
    turn.scratch.request = filter;
    outcome
}

fn translated(
    names: &Names,
    session: &mut Session,
    search: &SearchRequest<'_>,
    terms: Terms,
    (name, filter): (&mut Vec<u8>, &mut Vec<u8>),
    turn: &mut Turn<'_>,
) -> Result<Step, Refusal> {
    let meaning = names.read(search.base, name);
    let ttl_s = rewrite(search.filter, filter);
    let filter = Filter::decode(&mut Reader::new(filter)).unwrap_or(search.filter);
    // The rewritten filter can have more terms than the original: the text between two percent signs is a
    // piece.
    if let Some(refusal) = request_bounds::filter(filter, &turn.settings.limits) {
        return Err(refusal);
    }
    let (base, scope) = match meaning {
        Meaning::User => (name.as_slice(), search.scope),
        Meaning::Everyone => (names.container.as_slice(), Scope::One),
        // Clients search the container itself for its users. A client that only checks whether the container
        // exists uses a presence filter.
        Meaning::Other if lists_users(names, search) => (search.base, Scope::One),
        Meaning::Other => (search.base, search.scope),
    };
    let form = if meaning == Meaning::Other { NameForm::Stored } else { NameForm::Ils };
    let search = SearchRequest { base, scope, filter, ..*search };
    if let Some(ttl_s) = ttl_s
        && names_one(filter)
        && access::may_write(turn.settings, &session.identity).is_ok()
        && keep_online(&search, ttl_s, turn)? == Step::Later
    {
        return Ok(Step::Later);
    }
    let minutes = search.attributes.iter().find(|name| name.eq_ignore_ascii_case(STTL)).map(Box::from);
    let terms = Terms { naming: Naming::AsRequested, form, minutes, ..terms };
    session.searches.begin(&search, terms, turn)
}

fn lists_users(names: &Names, search: &SearchRequest<'_>) -> bool {
    search.scope == Scope::Base
        && names.is_container(search.base)
        && !matches!(search.filter.kind(), Kind::Present(_))
}

/// Refreshes the users in the search's result. If the evaluation of an entry takes long, the request waits
/// for a turn for long requests, because the store is locked for writing.
fn keep_online(search: &SearchRequest<'_>, ttl_s: u32, turn: &mut Turn<'_>) -> Result<Step, Refusal> {
    compile(search.filter, turn);
    let now = turn.seconds();
    let budget = Budget { candidates: LOOKED_AT, matches: REFRESHED, long: turn.slice.may_take_long() };
    let Scratch { store: marks, filter, matches, .. } = &mut turn.scratch;
    let store = turn.access.write();
    let base = match search.base {
        [] => None,
        dn => Some(store.find_live(dn, now, marks)?),
    };
    let mut cursor = store.search(base, search.scope, filter, marks);
    matches.clear();
    let progress = store.advance(&mut cursor, filter, now, budget, marks, matches);
    if progress == Progress::Long || marks.took_long() {
        turn.slice.begin_before(marks.spent());
    }
    if progress == Progress::Long {
        return Ok(Step::Later);
    }
    for &id in &*matches {
        // An entry without a time to live cannot be refreshed, which is no error here.
        let _ = store.refresh(id, ttl_s, now);
    }
    Ok(Step::Next)
}
