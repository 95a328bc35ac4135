//! The searches of one connection: those that are running, and those between two pages.

use net::FLUSH_BYTES;
use wire::ldap::{ResultCode, SearchRequest, op};

use super::scan::{Scan, Terms};
use crate::answer;
use crate::controls::Page;
use crate::store::Refusal;
use crate::turn::Turn;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Searches {
    /// In the order in which they take turns.
    running: Vec<Scan>,
    /// The oldest first.
    paged: Vec<Paged>,
    /// The cookie of the youngest paged search.
    last_cookie: u64,
}

/// A search between two pages.
#[derive(Debug)]
struct Paged {
    cookie: u64,
    scan: Scan,
}

impl Searches {
    /// Whether none is running.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Begins a search and answers as much of it as fits one stride, which for a lookup is all.
    #[inline]
    pub(crate) fn begin(
        &mut self,
        search: &SearchRequest<'_>,
        terms: Terms<'_>,
        turn: &mut Turn<'_>,
    ) -> Result<(), Refusal> {
        match Scan::begin(search, terms, turn)? {
            None => {}
            Some(scan) if scan.has_more() => self.admit(scan, turn),
            Some(scan) => self.finish(scan, turn),
        }
        Ok(())
    }

    /// Goes on with a paged search (RFC 2696 section 3): the cookie tells which one, and a page of no
    /// entries ends it.
    pub(super) fn resume(&mut self, id: i32, page: Page<'_>, turn: &mut Turn<'_>) -> Result<(), Refusal> {
        let Some(at) = self.paged.iter().position(|paged| paged.cookie.to_be_bytes() == page.cookie) else {
            return Err(Refusal::new(
                ResultCode::UNWILLING_TO_PERFORM,
                "no search of this connection has this cookie; begin again without one",
            ));
        };
        let scan = self.paged.remove(at).scan.next_page(id, page.size);
        if page.size == 0 {
            self.finish(scan, turn);
        } else {
            self.admit(scan, turn);
        }
        Ok(())
    }

    /// Goes on with the running searches, in turns, until there are enough answers for one write or the
    /// turn's time is used up.
    pub(crate) fn step(&mut self, turn: &mut Turn<'_>) {
        let mut at = 0;
        while !self.running.is_empty() && turn.out.len() < FLUSH_BYTES && !turn.is_over() {
            at %= self.running.len();
            let Some(scan) = self.running.get_mut(at) else { break };
            if scan.step(turn) {
                at += 1;
            } else {
                let scan = self.running.remove(at);
                self.finish(scan, turn);
            }
        }
        // The next step begins with the one that this step would have gone on with.
        let count = self.running.len();
        if count > 1 {
            self.running.rotate_left(at % count);
        }
    }

    /// Drops the search with this message id.
    pub(super) fn abandon(&mut self, id: i32) {
        self.running.retain(|scan| scan.id() != id);
    }

    /// Drops all of them.
    pub(crate) fn clear(&mut self) {
        self.running = Vec::new();
        self.paged = Vec::new();
    }

    fn admit(&mut self, scan: Scan, turn: &mut Turn<'_>) {
        if self.running.len() < turn.settings.limits.running_searches {
            self.running.push(scan);
        } else {
            let diagnostic = "too many searches are running on this connection; wait for some of them to end";
            answer::result(turn.out, scan.id(), op::SEARCH_DONE, ResultCode::BUSY, diagnostic);
        }
    }

    /// Sends the final answer, and keeps a search that has filled a page for the next one.
    fn finish(&mut self, scan: Scan, turn: &mut Turn<'_>) {
        if !scan.is_page_full() {
            return scan.write_done(&[], turn.out);
        }
        if self.paged.len() >= turn.settings.limits.paged_searches.max(1) {
            self.paged.remove(0);
        }
        self.last_cookie += 1;
        scan.write_done(&self.last_cookie.to_be_bytes(), turn.out);
        self.paged.push(Paged { cookie: self.last_cookie, scan });
    }
}
