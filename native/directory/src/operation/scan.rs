//! A search under way: it can be laid aside after every few entries and taken up again, also when
//! entries have come and gone in between.

use wire::ldap::answer::{write_entry, write_result_with};
use wire::ldap::control::{Control, PagedResults};
use wire::ldap::{ResultCode, SearchRequest, oid, op};

use super::render;
use crate::answer;
use crate::clock::Now;
use crate::entry::{Naming, Projection};
use crate::filter::CompiledFilter;
use crate::search::{Budget, Cursor, Progress};
use crate::session::Session;
use crate::store::{self, Entry, EntryId, Refusal, Store};
use crate::turn::{Scratch, Turn};

/// Entries looked at between two looks at the clock: some ten microseconds' worth.
const CANDIDATES: usize = 256;

/// Terms of filters held against entries between two looks at the clock, at most: under a
/// millisecond's worth, so that a filter of thousands looks at a few entries at a time.
const EVALUATIONS: usize = 8_192;

/// Entries answered between two looks at what has gathered.
const MATCHES: usize = 8;

/// What a search is done under.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'t> {
    /// The message id of the answers.
    pub(crate) id: i32,
    pub(crate) naming: Naming,
    pub(crate) form: NameForm,
    /// The name under which the life left is asked for in minutes.
    pub(crate) minutes: Option<&'t [u8]>,
    pub(crate) hides_passwords: bool,
    /// Entries a page.
    pub(crate) page: Option<u32>,
}

/// How entries are named in the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameForm {
    /// As they are stored.
    Stored,
    /// As an Internet Locator Server's clients name them.
    Ils,
}

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turnout {
    More,
    Done,
    PageFull,
    SizeLimit,
    TimeLimit,
}

/// The part of a search that is small; filter and projection stay in the thread's buffers for a
/// search that is answered at once.
#[derive(Debug)]
struct Hunt {
    id: i32,
    cursor: Cursor,
    /// Entries that may still be sent.
    left: Option<u32>,
    /// When it has to be over, in the clock of the turn.
    deadline_ms: u64,
    form: NameForm,
    minutes: Option<Box<[u8]>>,
    hides_passwords: bool,
    /// Entries that still go on this page.
    page: Option<u32>,
}

/// A search under way.
#[derive(Debug)]
pub(crate) struct Scan {
    hunt: Hunt,
    filter: CompiledFilter,
    projection: Projection,
    turnout: Turnout,
}

/// A search between two pages.
#[derive(Debug)]
pub(crate) struct Paged {
    cookie: u64,
    scan: Scan,
}

/// What a stride needs of the turn.
struct Desk<'d> {
    store: &'d Store,
    now: Now,
    marks: &'d mut store::Scratch,
    matches: &'d mut Vec<EntryId>,
    body: &'d mut Vec<u8>,
    out: &'d mut Vec<u8>,
    entries_sent: &'d mut u64,
}

/// Answers a search as far as it goes in one stride, which for a lookup is all of it.
#[inline]
pub(crate) fn begin(
    session: &mut Session,
    search: &SearchRequest<'_>,
    terms: Terms<'_>,
    turn: &mut Turn<'_>,
) -> Result<(), Refusal> {
    let settings = turn.settings;
    let now = turn.now;
    let store = turn.access.read();
    let Scratch { store: marks, filter, projection, matches, body, .. } = &mut *turn.scratch;
    let base = match search.base {
        [] => None,
        dn => Some(store.find(dn, marks)?),
    };
    filter.compile(store.schema(), search.filter);
    projection.compile(store.schema(), search.attributes, search.types_only, terms.naming);
    let mut hunt = Hunt {
        id: terms.id,
        cursor: store.search(base, search.scope, filter, marks),
        left: smaller(search.size_limit, settings.limits.search_entries),
        deadline_ms: smaller(search.time_limit_s, settings.limits.search_s)
            .map_or(u64::MAX, |limit_s| now.ms + u64::from(limit_s) * 1000),
        form: terms.form,
        minutes: terms.minutes.map(Box::from),
        hides_passwords: terms.hides_passwords,
        page: terms.page,
    };
    let entries_sent = &mut turn.counters.entries_sent;
    let mut desk = Desk { store, now, marks, matches, body, out: turn.out, entries_sent };
    let turnout = hunt.stride(filter, projection, &mut desk);
    if turnout == Turnout::More || marks.has_listed() {
        turn.slice.begin();
    }
    if turnout == Turnout::Done && hunt.page.is_none() {
        answer::success(turn.out, hunt.id, op::SEARCH_DONE);
        return Ok(());
    }
    let scan = Scan { hunt, filter: std::mem::take(filter), projection: std::mem::take(projection), turnout };
    if turnout == Turnout::More {
        scan.admit(session, turn)
    } else {
        scan.finish(session, turn)
    }
    Ok(())
}

/// The tighter of two limits, of which zero is none.
fn smaller(a: u32, b: u32) -> Option<u32> {
    [a, b].into_iter().filter(|limit| *limit > 0).min()
}

/// Entries that a stride looks at.
#[inline]
fn candidates(filter: &CompiledFilter) -> usize {
    let terms = filter.terms();
    if terms <= EVALUATIONS / CANDIDATES { CANDIDATES } else { 1 + EVALUATIONS / terms }
}

impl Hunt {
    /// Looks at some entries and sends those that match.
    #[inline]
    fn stride(&mut self, filter: &CompiledFilter, projection: &Projection, desk: &mut Desk<'_>) -> Turnout {
        if desk.now.ms >= self.deadline_ms {
            return Turnout::TimeLimit;
        }
        let budget = Budget { candidates: candidates(filter), matches: self.wanted() };
        let now = desk.now.seconds();
        desk.matches.clear();
        let progress = desk.store.advance(&mut self.cursor, filter, now, budget, desk.marks, desk.matches);
        for at in 0..desk.matches.len() {
            if self.left == Some(0) {
                return Turnout::SizeLimit;
            }
            if let Some(&entry) = desk.matches.get(at) {
                self.send(entry, projection, desk);
            }
        }
        match progress {
            Progress::Done => Turnout::Done,
            Progress::More if self.page == Some(0) => Turnout::PageFull,
            Progress::More => Turnout::More,
        }
    }

    /// How many matches are worth finding now: one more than may be sent tells whether the limit
    /// cuts anything off.
    #[inline]
    fn wanted(&self) -> usize {
        let left = self.left.map_or(MATCHES, |left| left.saturating_add(1) as usize);
        let page = self.page.map_or(MATCHES, |page| page as usize);
        MATCHES.min(left).min(page)
    }

    #[inline]
    fn send(&mut self, id: EntryId, projection: &Projection, desk: &mut Desk<'_>) {
        let Some(entry) = desk.store.entry(id) else { return };
        if projection.is_verbatim() && self.form == NameForm::Stored && !self.hides_passwords {
            write_entry(desk.out, self.id, entry.body);
        } else {
            self.render(id, entry, projection, desk);
            write_entry(desk.out, self.id, desk.body);
        }
        *desk.entries_sent += 1;
        self.left = self.left.map(|left| left.saturating_sub(1));
        self.page = self.page.map(|page| page.saturating_sub(1));
    }

    /// Makes the body of an entry that is not sent as it is stored.
    fn render(&self, id: EntryId, entry: Entry<'_>, projection: &Projection, desk: &mut Desk<'_>) {
        desk.body.clear();
        if projection.is_verbatim() {
            desk.body.extend_from_slice(entry.body);
        } else {
            desk.store.write_projected(id, projection, desk.now.seconds(), desk.body);
        }
        if self.hides_passwords {
            render::without_password(desk.body);
        }
        if let (Some(name), Some(end)) = (&self.minutes, entry.expires) {
            render::with_minutes(desk.body, name, end, desk.now.seconds());
        }
        if self.form == NameForm::Ils {
            render::under_ils_name(desk.body);
        }
    }
}

impl Scan {
    /// The message id it answers.
    pub(crate) const fn id(&self) -> i32 {
        self.hunt.id
    }

    /// Makes a stride; says whether there are more to make.
    pub(crate) fn step(&mut self, turn: &mut Turn<'_>) -> bool {
        let mut desk = Desk {
            store: turn.access.read(),
            now: turn.now,
            marks: &mut turn.scratch.store,
            matches: &mut turn.scratch.matches,
            body: &mut turn.scratch.body,
            out: turn.out,
            entries_sent: &mut turn.counters.entries_sent,
        };
        self.turnout = self.hunt.stride(&self.filter, &self.projection, &mut desk);
        self.turnout == Turnout::More
    }

    /// Joins the connection's searches under way.
    pub(crate) fn admit(self, session: &mut Session, turn: &mut Turn<'_>) {
        if session.scans.len() < turn.settings.limits.running_searches {
            session.scans.push(self);
        } else {
            let diagnostic = "too many searches of this connection are under way";
            answer::result(turn.out, self.hunt.id, op::SEARCH_DONE, ResultCode::BUSY, diagnostic);
        }
    }

    /// Says how it ended, and keeps it if another page may be asked for.
    pub(crate) fn finish(self, session: &mut Session, turn: &mut Turn<'_>) {
        let id = self.hunt.id;
        let (code, diagnostic) = match self.turnout {
            Turnout::SizeLimit => (ResultCode::SIZE_LIMIT_EXCEEDED, "there are more entries than asked for"),
            Turnout::TimeLimit => (ResultCode::TIME_LIMIT_EXCEEDED, "the search took longer than it may"),
            Turnout::Done | Turnout::More | Turnout::PageFull => (ResultCode::SUCCESS, ""),
        };
        let verdict = answer::verdict(code, diagnostic);
        if self.hunt.page.is_none() {
            wire::ldap::answer::write_result(turn.out, id, op::SEARCH_DONE, &verdict);
            return;
        }
        let mut value = Vec::new();
        let cookie =
            if self.turnout == Turnout::PageFull { self.lay_aside(session, turn) } else { Vec::new() };
        PagedResults { size: 0, cookie: &cookie }.encode(&mut value);
        let control = Control { oid: oid::PAGED_RESULTS, critical: false, value: Some(&value) };
        write_result_with(turn.out, id, op::SEARCH_DONE, &verdict, &[control]);
    }

    /// Keeps it for the next page and returns what to ask for it with.
    fn lay_aside(self, session: &mut Session, turn: &Turn<'_>) -> Vec<u8> {
        if session.paged.len() >= turn.settings.limits.paged_searches.max(1) {
            session.paged.remove(0);
        }
        session.last_cookie += 1;
        let paged = Paged { cookie: session.last_cookie, scan: self };
        session.paged.push(paged);
        session.last_cookie.to_be_bytes().to_vec()
    }
}

impl Paged {
    /// Whether this cookie stands for it.
    pub(crate) fn is(&self, cookie: &[u8]) -> bool {
        cookie == self.cookie.to_be_bytes()
    }

    /// The search, with a new page to fill.
    pub(crate) fn turn_page(self, id: i32, size: u32) -> Scan {
        let Scan { hunt, filter, projection, .. } = self.scan;
        let hunt = Hunt { id, page: Some(size), ..hunt };
        Scan { hunt, filter, projection, turnout: Turnout::Done }
    }
}
