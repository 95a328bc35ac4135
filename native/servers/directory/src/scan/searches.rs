//! The searches of one connection: running searches, and paged searches between two pages.

use net::{FLUSH_BYTES, Step};
use wire::ldap::{ResultCode, SearchRequest, op};

use super::{Scan, Terms, question};
use crate::answer;
use crate::controls::Page;
use crate::store::Refusal;
use crate::turn::Turn;

#[derive(Debug, Default)]
pub(crate) struct Searches {
    /// In round-robin order.
    running: Vec<Scan>,
    /// The oldest first.
    paged: Vec<Paged>,
    /// The cookie of the newest paged search.
    last_cookie: u64,
}

/// A search between two pages.
#[derive(Debug)]
struct Paged {
    cookie: u64,
    scan: Scan,
}

impl Searches {
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Begins a search and runs one stride, which completes a lookup. If the search meets an entry that takes
    /// long before any answer, it is started again in a turn for long requests.
    #[inline]
    pub(crate) fn begin(
        &mut self,
        search: &SearchRequest<'_>,
        terms: Terms,
        turn: &mut Turn<'_>,
    ) -> Result<Step, Refusal> {
        let start = turn.out.len();
        match Scan::begin(search, terms, turn)? {
            None => {}
            Some(scan) if scan.takes_long() && turn.out.len() == start => return Ok(Step::Later),
            Some(scan) if scan.has_more() => self.admit(scan, turn),
            Some(scan) => self.finish(scan, turn),
        }
        Ok(Step::Next)
    }

    /// Continues the paged search with this cookie (RFC 2696 section 3). A page size of 0 ends the search.
    pub(crate) fn resume(
        &mut self,
        id: i32,
        page: Page<'_>,
        search: &SearchRequest<'_>,
        turn: &mut Turn<'_>,
    ) -> Result<Step, Refusal> {
        let Some(at) = self.paged.iter().position(|paged| paged.cookie.to_be_bytes() == page.cookie) else {
            return Err(Refusal::new(
                ResultCode::UNWILLING_TO_PERFORM,
                "no search of this connection has this cookie; begin again without one",
            ));
        };
        if self.paged.get(at).is_some_and(|paged| paged.scan.search.terms.question != question(search)) {
            return Err(Refusal::new(
                ResultCode::UNWILLING_TO_PERFORM,
                "the search of this cookie asked something else; begin again without one",
            ));
        }
        let scan = self.paged.remove(at).scan.next_page(id, page.size, search, turn);
        if page.size == 0 {
            self.finish(scan, turn);
        } else {
            self.admit(scan, turn);
        }
        Ok(Step::Next)
    }

    /// Continues the running searches in turn until there are enough answers for one write or the time slice
    /// is over. If a search meets an entry that takes long, all searches of the connection wait for a turn
    /// for long requests.
    pub(crate) fn step(&mut self, turn: &mut Turn<'_>) -> Step {
        let mut step = Step::Next;
        let mut at = 0;
        while !self.running.is_empty() && turn.out.len() < FLUSH_BYTES && !turn.is_over() {
            at %= self.running.len();
            let Some(scan) = self.running.get_mut(at) else { break };
            if scan.step(turn) {
                if scan.takes_long() {
                    step = Step::Later;
                    break;
                }
                at += 1;
            } else {
                let scan = self.running.remove(at);
                self.finish(scan, turn);
            }
        }
        // The next step begins with the search that would have been next here.
        let count = self.running.len();
        if count > 1 {
            self.running.rotate_left(at % count);
        }
        step
    }

    /// Drops the search with this message id.
    pub(crate) fn abandon(&mut self, id: i32) {
        self.running.retain(|scan| scan.search.terms.id != id);
    }

    pub(crate) fn clear(&mut self) {
        self.running = Vec::new();
        self.paged = Vec::new();
    }

    fn admit(&mut self, scan: Scan, turn: &mut Turn<'_>) {
        if self.running.len() >= turn.settings.limits.running_searches {
            let diagnostic = "too many searches are running on this connection; wait for some of them to end";
            answer::result(
                &mut turn.out,
                scan.search.terms.id,
                op::SEARCH_DONE,
                ResultCode::BUSY,
                diagnostic,
            );
        } else if self.has_room_for(&scan, turn) {
            self.running.push(scan);
        }
    }

    /// Drops the oldest paged searches until the connection's memory limit allows this search, or refuses it.
    fn has_room_for(&mut self, scan: &Scan, turn: &mut Turn<'_>) -> bool {
        let (bytes, room) = (scan.bytes(), turn.settings.limits.search_room());
        let mut held: usize = self.scans().map(Scan::bytes).sum();
        while held + bytes > room && bytes <= room && !self.paged.is_empty() {
            held -= self.paged.remove(0).scan.bytes();
        }
        if held + bytes <= room {
            return true;
        }
        let (code, diagnostic) = match bytes > room {
            true => (ResultCode::ADMIN_LIMIT_EXCEEDED, "the search takes more memory than a connection has"),
            false => {
                (ResultCode::BUSY, "the searches of this connection take too much memory; wait for some")
            }
        };
        answer::result(&mut turn.out, scan.search.terms.id, op::SEARCH_DONE, code, diagnostic);
        false
    }

    fn scans(&self) -> impl Iterator<Item = &Scan> {
        self.running.iter().chain(self.paged.iter().map(|paged| &paged.scan))
    }

    /// Sends the final answer, and keeps a search that has filled a page for the next page.
    fn finish(&mut self, scan: Scan, turn: &mut Turn<'_>) {
        if !scan.is_page_full() {
            return scan.write_done(&[], &mut turn.out);
        }
        if self.paged.len() >= turn.settings.limits.paged_searches.max(1) {
            self.paged.remove(0);
        }
        if !self.has_room_for(&scan, turn) {
            return;
        }
        self.last_cookie += 1;
        scan.write_done(&self.last_cookie.to_be_bytes(), &mut turn.out);
        self.paged.push(Paged { cookie: self.last_cookie, scan });
    }
}
