//! Advancing a search by one step.

use super::{Budget, Cursor, Progress, Reach};
use crate::filter::{CompiledFilter, Computed, Subject};
use crate::store::body;
use crate::store::{Effort, EntryId, Scratch, Store, UnixSeconds};

/// The bytes that one step reads, which takes 0.1 ms, or 0.4 ms if names are compared. An entry with more
/// bytes to read takes long.
const STEP_BYTES: usize = 64 << 10;

/// Candidates that are fetched at a time.
const BATCH: usize = 256;

impl Store {
    /// Appends the next matches to `out` until the budget is spent or no candidate is left.
    #[inline]
    pub fn advance(
        &self,
        cursor: &mut Cursor,
        filter: &CompiledFilter,
        now: UnixSeconds,
        budget: Budget,
        scratch: &mut Scratch,
        out: &mut Vec<EntryId>,
    ) -> Progress {
        if !self.base_is_there(&cursor.reach) {
            return Progress::Done;
        }
        let (mut candidates, mut matches) = (budget.candidates, budget.matches);
        scratch.looked_at = 0;
        let work = self.limits.filter_work;
        loop {
            if candidates == 0 || matches == 0 || scratch.looked_at >= STEP_BYTES {
                return Progress::More;
            }
            let mut batch = std::mem::take(&mut scratch.candidates);
            batch.clear();
            let limit = candidates.min(BATCH);
            let exhausted = cursor.source.collect(self, cursor.next, limit, &mut batch);
            let mut rest = batch.as_slice();
            while let (Some((&id, after)), true) =
                (rest.split_first(), matches > 0 && scratch.looked_at < STEP_BYTES)
            {
                rest = after;
                let most = if budget.long { work } else { work.min(STEP_BYTES) };
                scratch.effort.begin(most);
                let is_match = self.is_match(&cursor.reach, id, filter, now, &mut scratch.effort);
                scratch.looked_at += most - scratch.effort.budget.left();
                if scratch.effort.budget.was_cut() {
                    scratch.candidates = batch;
                    cursor.next = id;
                    return if budget.long { Progress::TooCostly } else { Progress::Long };
                }
                cursor.next = id.saturating_add(1);
                if is_match {
                    out.push(EntryId(id));
                    matches -= 1;
                }
            }
            candidates = candidates.saturating_sub(batch.len());
            let done = exhausted && rest.is_empty();
            scratch.candidates = batch;
            if done {
                return Progress::Done;
            }
        }
    }

    /// Gives the answers to a step's entries a new budget, because finding the groups of these entries can
    /// take as long as the step.
    pub(crate) fn begin_answers(&self, long: bool, scratch: &mut Scratch) {
        let work = self.limits.filter_work;
        scratch.effort.begin(if long { work } else { work.min(STEP_BYTES) });
    }

    /// Whether the base of a search still exists: its number may belong to another entry now.
    #[inline]
    fn base_is_there(&self, reach: &Reach) -> bool {
        reach.base.is_none_or(|id| {
            self.slots.get(id).is_some_and(|slot| (slot.created, slot.sequence) == reach.added)
        })
    }

    #[inline]
    fn is_match(
        &self,
        reach: &Reach,
        id: u32,
        filter: &CompiledFilter,
        now: UnixSeconds,
        effort: &mut Effort,
    ) -> bool {
        let Some(slot) = self.slots.get(id) else {
            return false;
        };
        if slot.is_overdue(now) || !self.reaches(reach, id, slot.parent) {
            return false;
        }
        let (dn, attributes) = body::split(self.body_of(slot));
        let computed = Some(Computed { store: self, id, slot, now });
        filter.matches(&Subject { schema: &self.schema, dn, attributes, computed }, effort)
    }
}
