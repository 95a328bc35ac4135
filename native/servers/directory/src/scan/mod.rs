//! A running search. It runs in strides: a stride evaluates a few entries and sends the entries
//! that match. Entries may be added and removed between two strides.

mod render;
mod searches;

pub(crate) use searches::Searches;

use std::hash::{DefaultHasher, Hash, Hasher};

use net::FLUSH_BYTES;
use wire::ldap::answer::{write_entry, write_result, write_result_with};
use wire::ldap::control::{Control, PagedResults};
use wire::ldap::{Filter, ResultCode, SearchRequest, oid, op};

use crate::access;
use crate::ad;
use crate::answer;
use crate::clock::Now;
use crate::entry::{Naming, Projection};
use crate::filter::CompiledFilter;
use crate::limits::Limits;
use crate::search::{Budget, Cursor, Progress};
use crate::settings::Settings;
use crate::store::{self, Entry, EntryId, Refusal, Store};
use crate::turn::{Scratch, Turn};

/// The entries that are evaluated between two readings of the clock: about ten microseconds of work.
const CANDIDATES: usize = 256;

/// The highest number of terms that are evaluated between two readings of the clock: less than a millisecond
/// of work. A filter of thousands of terms is evaluated on a few entries at a time.
const EVALUATIONS: usize = 8_192;

/// Longer filters are compiled without the lock on the store: this many bytes take a few milliseconds at
/// most.
const LONG: usize = 2 << 10;

/// The matches that are sent before the size of the output buffer is checked again.
const MATCHES: usize = 8;

/// A search that requests more attributes than this answers one entry at a time. A person has fewer
/// attributes.
const FEW: usize = 32;

/// The parameters of a search that are not in its request.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    /// The message id of the answers.
    pub(crate) id: i32,
    pub(crate) naming: Naming,
    pub(crate) form: NameForm,
    /// The attribute, if requested, that holds the time to live in minutes.
    pub(crate) minutes: Option<Box<[u8]>>,
    /// Whether the client may see passwords.
    pub(crate) sees_passwords: bool,
    /// The number of entries that still fit on this page.
    pub(crate) page: Option<u32>,
    /// The digest of a paged search's request; see [`question`].
    pub(crate) question: u64,
}

/// The form of entries' names in the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameForm {
    Stored,
    /// The form of clients of an Internet Locator Server.
    Ils,
}

/// The reason why a stride ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanStatus {
    Advanced(Progress),
    PageFull,
    SizeLimit,
    TimeLimit,
    /// The filter tests passwords, and the directory's first password was stored after the search began.
    Probes,
}

/// The state that a stride changes. The filter and the projection are not part of it: they stay in the
/// thread's buffers if one stride answers the search.
#[derive(Debug)]
struct RunningSearch {
    terms: Terms,
    cursor: Cursor,
    /// The number of entries that the size limit still allows.
    left: Option<u32>,
    /// The time at which the time limit ends, by [`Now::ms`].
    deadline_ms: u64,
    /// Whether the filter tests passwords.
    probes: bool,
    /// Whether attributes with many values are sent in ranges.
    ranged: bool,
}

/// A running search.
#[derive(Debug)]
struct Scan {
    search: RunningSearch,
    filter: CompiledFilter,
    projection: Projection,
    status: ScanStatus,
}

/// The parts of the turn that a stride uses.
struct ScanContext<'d> {
    store: &'d Store,
    now: Now,
    /// Whether this turn allows entries that take long.
    long: bool,
    passwords: bool,
    marks: &'d mut store::Scratch,
    matches: &'d mut Vec<EntryId>,
    body: &'d mut Vec<u8>,
    out: &'d mut Vec<u8>,
    entries_sent: &'d mut u64,
}

impl<'d> ScanContext<'d> {
    /// The parts of the turn that a stride uses, and the turn's buffers for the filter and the projection.
    #[inline]
    fn of(turn: &'d mut Turn<'_>) -> (Self, &'d mut CompiledFilter, &'d mut Projection) {
        let Scratch { store: marks, filter, projection, matches, body, .. } = &mut turn.scratch;
        let context = Self {
            store: turn.access.read(),
            now: turn.now,
            long: turn.slice.may_take_long(),
            passwords: turn.settings.has_passwords(),
            marks,
            matches,
            body,
            out: &mut turn.out,
            entries_sent: &mut turn.counters.entries_sent,
        };
        (context, filter, projection)
    }
}

impl Scan {
    /// Runs the first stride of a search; `None` if this stride completes the search, as for a lookup.
    #[inline]
    fn begin(search: &SearchRequest<'_>, terms: Terms, turn: &mut Turn<'_>) -> Result<Option<Self>, Refusal> {
        let settings = turn.settings;
        compile(search.filter, turn);
        let (mut context, filter, projection) = ScanContext::of(turn);
        let (store, now) = (context.store, context.now);
        let base = match search.base {
            [] => None,
            dn => Some(store.find_live(dn, now.seconds(), context.marks)?),
        };
        if context.passwords && !terms.sees_passwords && access::probes_password(search.filter) {
            return Err(access::password_refusal());
        }
        if settings.ad {
            settings.unknown.note(store.schema(), search);
        }
        projection.compile(store.schema(), search.attributes, search.types_only, terms.naming, settings.ad);
        let mut running = RunningSearch {
            cursor: store.search(base, search.scope, filter, context.marks),
            left: entries(search, &terms, settings),
            deadline_ms: deadline_ms(search, &settings.limits, now),
            probes: false,
            ranged: settings.ad,
            terms,
        };
        let status = running.stride(filter, projection, &mut context);
        let is_unfinished = matches!(status, ScanStatus::Advanced(Progress::More | Progress::Long));
        if is_unfinished || context.marks.took_long() {
            let spent = context.marks.spent();
            turn.slice.begin_before(spent);
        }
        if status == ScanStatus::Advanced(Progress::Done) && running.terms.page.is_none() {
            answer::success(&mut turn.out, running.terms.id, op::SEARCH_DONE);
            return Ok(None);
        }
        running.probes = access::probes_password(search.filter);
        let Scratch { filter, projection, .. } = &mut turn.scratch;
        let (mut filter, mut projection) = (std::mem::take(filter), std::mem::take(projection));
        filter.shrink();
        projection.shrink();
        Ok(Some(Self { search: running, filter, projection, status }))
    }

    /// The memory that the server holds for the search.
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.search.cursor.bytes() + self.filter.bytes() + self.projection.bytes()
    }

    /// Whether entries are left to evaluate.
    fn has_more(&self) -> bool {
        matches!(self.status, ScanStatus::Advanced(Progress::More | Progress::Long))
    }

    /// Whether the next entry takes long.
    fn takes_long(&self) -> bool {
        self.status == ScanStatus::Advanced(Progress::Long)
    }

    /// Whether the search has stopped because the page is full.
    fn is_page_full(&self) -> bool {
        self.status == ScanStatus::PageFull
    }

    /// Runs a stride; true if further strides are needed.
    fn step(&mut self, turn: &mut Turn<'_>) -> bool {
        let (mut context, ..) = ScanContext::of(turn);
        self.status = self.search.stride(&self.filter, &self.projection, &mut context);
        self.has_more()
    }

    /// Appends the final answer; `cookie` is the next page's cookie, empty after the last page.
    fn write_done(&self, cookie: &[u8], out: &mut Vec<u8>) {
        let (code, diagnostic) = match self.status {
            ScanStatus::SizeLimit => {
                (ResultCode::SIZE_LIMIT_EXCEEDED, "there are more entries than the size limit")
            }
            ScanStatus::TimeLimit => {
                (ResultCode::TIME_LIMIT_EXCEEDED, "the search took longer than the time limit")
            }
            ScanStatus::Advanced(Progress::TooCostly) => (
                ResultCode::ADMIN_LIMIT_EXCEEDED,
                "an entry has too many values, or groups, for what the search asks; ask for less, or raise filter_work",
            ),
            ScanStatus::Probes => (
                ResultCode::INSUFFICIENT_ACCESS_RIGHTS,
                "only the administrator may search for passwords, and meanwhile there are some",
            ),
            ScanStatus::Advanced(_) | ScanStatus::PageFull => (ResultCode::SUCCESS, ""),
        };
        let verdict = answer::verdict(code, diagnostic);
        if self.search.terms.page.is_none() {
            return write_result(out, self.search.terms.id, op::SEARCH_DONE, &verdict);
        }
        let mut value = Vec::new();
        PagedResults { size: 0, cookie }.encode(&mut value);
        let control = Control { oid: oid::PAGED_RESULTS, critical: false, value: Some(&value) };
        write_result_with(out, self.search.terms.id, op::SEARCH_DONE, &verdict, &[control]);
    }

    /// Continues the search with a new page. The time limit begins again, as the client may have paused; the
    /// size limit covers all pages together, as in slapd.
    fn next_page(self, id: i32, size: u32, search: &SearchRequest<'_>, turn: &Turn<'_>) -> Self {
        let deadline_ms = deadline_ms(search, &turn.settings.limits, turn.now);
        let terms = Terms { id, page: Some(turn.settings.page(size)), ..self.search.terms };
        let search = RunningSearch { terms, deadline_ms, ..self.search };
        Self { search, status: ScanStatus::Advanced(Progress::Done), ..self }
    }
}

impl RunningSearch {
    /// Evaluates some entries and sends the matching ones.
    #[inline]
    fn stride(
        &mut self,
        filter: &CompiledFilter,
        projection: &Projection,
        context: &mut ScanContext<'_>,
    ) -> ScanStatus {
        if context.now.ms >= self.deadline_ms {
            return ScanStatus::TimeLimit;
        }
        if self.probes && context.passwords && !self.terms.sees_passwords {
            return ScanStatus::Probes;
        }
        let (candidates, matches) = (candidates(filter), self.wanted(projection));
        let budget = Budget { candidates, matches, long: context.long };
        let now = context.now.seconds();
        let start = context.out.len();
        context.matches.clear();
        let progress =
            context.store.advance(&mut self.cursor, filter, now, budget, context.marks, context.matches);
        if self.ranged {
            context.store.begin_answers(context.long, context.marks);
        }
        for at in 0..context.matches.len() {
            if self.left == Some(0) {
                return ScanStatus::SizeLimit;
            }
            let Some(&entry) = context.matches.get(at) else { break };
            if self.terms.page == Some(0) {
                // The next page begins with this entry; its match shows that there is a next page.
                self.cursor.back_to(entry);
                return ScanStatus::PageFull;
            }
            if context.out.len() >= start + FLUSH_BYTES {
                // Large entries have filled the output, and further entries wait until it has been written.
                self.cursor.back_to(entry);
                return ScanStatus::Advanced(Progress::More);
            }
            if !self.send(entry, projection, context) {
                self.cursor.back_to(entry);
                return ScanStatus::Advanced(match (at, context.long) {
                    (0, true) => Progress::TooCostly,
                    (0, false) => Progress::Long,
                    _ => Progress::More,
                });
            }
        }
        ScanStatus::Advanced(progress)
    }

    /// The number of matches to search for: one more than the limits allow, to detect an exceeded size limit
    /// and a further page.
    #[inline]
    fn wanted(&self, projection: &Projection) -> usize {
        // Each listed description is compared with each attribute of an entry, so a long list makes an entry
        // take long.
        let most = if projection.listed() > FEW { 1 } else { MATCHES };
        let left = self.left.map_or(most, |left| left.saturating_add(1) as usize);
        let page = self.terms.page.map_or(most, |page| page.saturating_add(1) as usize);
        most.min(left).min(page)
    }

    #[inline]
    const fn hides_passwords(&self, context: &ScanContext<'_>) -> bool {
        context.passwords && !self.terms.sees_passwords
    }

    /// Sends an entry. Returns false, and sends nothing, if finding its groups takes too long.
    #[inline]
    fn send(&mut self, id: EntryId, projection: &Projection, context: &mut ScanContext<'_>) -> bool {
        let Some(entry) = context.store.entry(id) else { return true };
        if !self.ranged
            && projection.is_verbatim()
            && self.terms.form == NameForm::Stored
            && !self.hides_passwords(context)
        {
            write_entry(context.out, self.terms.id, entry.body);
        } else {
            if !self.render(id, entry, projection, context) {
                return false;
            }
            write_entry(context.out, self.terms.id, context.body);
        }
        *context.entries_sent += 1;
        self.left = self.left.map(|left| left.saturating_sub(1));
        self.terms.page = self.terms.page.map(|page| page.saturating_sub(1));
        true
    }

    /// Writes the body of an entry that is not sent in its stored form; false if this takes too long.
    fn render(
        &self,
        id: EntryId,
        entry: Entry<'_>,
        projection: &Projection,
        context: &mut ScanContext<'_>,
    ) -> bool {
        context.body.clear();
        if projection.is_verbatim() {
            context.body.extend_from_slice(entry.body);
        } else {
            context.store.write_projected(id, projection, context.now.seconds(), context.body);
        }
        if self.hides_passwords(context) {
            render::without_password(context.body);
        }
        if self.ranged {
            let (now, effort) = (context.now.seconds(), &mut context.marks.effort);
            if !context.store.add_constructed(id, projection, now, effort, context.body) {
                return false;
            }
            if ad::may_need_ranges(context.body) || !projection.ranges.is_empty() {
                ad::in_ranges(context.body, &projection.ranges);
            }
        }
        if let (Some(name), Some(end)) = (&self.terms.minutes, entry.expires) {
            render::with_minutes(context.body, name, end, context.now.seconds());
        }
        if self.terms.form == NameForm::Ils {
            render::under_ils_name(context.body);
        }
        true
    }
}

fn entries(search: &SearchRequest<'_>, terms: &Terms, settings: &Settings) -> Option<u32> {
    let limit = smaller(search.size_limit, settings.limits.search_entries);
    if settings.ad && terms.page.is_none() {
        return smaller(limit.unwrap_or(0), ad::PAGE_ENTRIES);
    }
    limit
}

/// The time at which the time limit ends, by [`Now::ms`].
fn deadline_ms(search: &SearchRequest<'_>, limits: &Limits, now: Now) -> u64 {
    smaller(search.time_limit_s, limits.search_s)
        .map_or(u64::MAX, |limit_s| now.ms.saturating_add(u64::from(limit_s) * 1000))
}

/// A digest of the fields that are equal in all requests of a paged search (RFC 2696 section 3).
pub(crate) fn question(search: &SearchRequest<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (search.base, search.scope as u8, search.types_only).hash(&mut hasher);
    search.filter.element().value.hash(&mut hasher);
    for asked in search.attributes.iter() {
        asked.hash(&mut hasher);
    }
    hasher.finish()
}

/// Compiles the filter into the turn's buffer.
#[inline]
pub(crate) fn compile(filter: Filter<'_>, turn: &mut Turn<'_>) {
    if is_long(filter) {
        // Other clients may write meanwhile: a type declared after the schema was taken compiles to
        // Undefined.
        let schema = turn.access.read().shared_schema();
        turn.access.release();
        turn.slice.begin();
        turn.scratch.filter.compile(&schema, filter);
    } else {
        turn.scratch.filter.compile(turn.access.read().schema(), filter);
    }
}

/// Whether a filter takes long to compile.
#[inline]
pub(crate) fn is_long(filter: Filter<'_>) -> bool {
    filter.element().value.len() > LONG
}

/// The lower of two limits; zero means no limit.
fn smaller(a: u32, b: u32) -> Option<u32> {
    [a, b].into_iter().filter(|limit| *limit > 0).min()
}

/// The number of entries that a stride evaluates between two readings of the clock.
#[inline]
fn candidates(filter: &CompiledFilter) -> usize {
    let terms = filter.terms();
    if terms <= EVALUATIONS / CANDIDATES { CANDIDATES } else { 1 + EVALUATIONS / terms }
}
