//! How operations end, and how the lane continues.

use super::walk::Walk;
use super::{Fate, Lane, Operation, Pass, Phase};
use crate::drive::context::{Context, Turn};
use crate::drive::timers::NEVER;
use crate::program::{self, Backoff};
use crate::protocol::Protocol;
use crate::record::clock::now_ns;
use crate::record::failure::Failure;
use crate::record::recorder::{End, Sample};

impl<P: Protocol> Lane<P> {
    #[inline]
    pub(super) fn answered(
        &mut self,
        answer: &[u8],
        failure: Option<Failure>,
        fatal: bool,
        turn: &mut Turn<'_, P>,
        now_ns: u64,
    ) -> Fate {
        if failure.is_some() || turn.context.log.takes_all() {
            self.log_request(failure, Some(answer), turn, now_ns);
        }
        let end = failure.map_or(End::Right, End::Wrong);
        let quiet_ns = turn.context.quiet_ns.max(self.current.started_ns);
        self.current.unread_ns = Some(now_ns.saturating_sub(quiet_ns));
        self.record(self.current, end, turn.context, now_ns);
        self.end_request(end, turn, now_ns);
        if let (Some(failure), true) = (failure, fatal) {
            return self.restart(failure, turn, now_ns);
        }
        turn.context.deadlines[self.id as usize] = NEVER;
        self.connection.backoff = Backoff::FIRST;
        self.ready_ns = now_ns;
        self.cursor.pc += 1;
        self.resume(turn, now_ns)
    }

    /// Logs the end of a request, if there is a log, and keeps a failure as an example if it is the first of
    /// its kind. The failure of a connection has no request, even if a request was to follow.
    pub(super) fn log_request(
        &self,
        failure: Option<Failure>,
        answer: Option<&[u8]>,
        turn: &mut Turn<'_, P>,
        now_ns: u64,
    ) {
        let slot = self.current.slot;
        let request = turn.program.request_at(self.cursor.pc).filter(|(recorder, _)| *recorder == slot);
        let Context { examples, protocol, log, .. } = turn.context;
        if log.takes(failure, self.pass.failure.is_some()) {
            let report = request.map(|(_, request)| protocol.describe(request, &self.state, answer));
            let took_ns = now_ns.saturating_sub(self.current.started_ns);
            log.keep(slot, failure, took_ns, report.unwrap_or_default());
        }
        if let (Some(failure), Some((_, request))) = (failure, request) {
            examples.keep(slot, failure, || protocol.describe(request, &self.state, answer).to_string());
        }
    }

    /// Records the operation under way as unanswered.
    pub(super) fn unanswered(&mut self, failure: Failure, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        self.log_request(Some(failure), None, turn, now_ns);
        self.record(self.current, End::Unanswered(failure), turn.context, now_ns);
        self.end_request(End::Unanswered(failure), turn, now_ns);
        self.restart(failure, turn, now_ns)
    }

    /// Handles the loss of the connection.
    pub(crate) fn lost(&mut self, failure: Failure, turn: &mut Turn<'_, P>) -> Fate {
        match self.phase {
            Phase::Asking => self.unanswered(failure, turn, now_ns()),
            Phase::Opening => self.connect_failed(failure, turn, now_ns()),
            // No request was in flight: the next step notices the loss.
            _ => {
                self.connection.close(Some(failure));
                Fate::Runs
            }
        }
    }

    #[inline]
    pub(super) fn record(&mut self, operation: Operation, end: End, context: &mut Context<P>, now_ns: u64) {
        let Operation { slot, started_ns, bytes_out, bytes_in, unread_ns } = operation;
        let processing_ns = started_ns.saturating_sub(self.since_ns);
        // A request that serves an arrival belongs to the window in which the arrival was due.
        let (due_ns, paused_ns) = match (context.recorders.is_open(slot), self.due_ns) {
            (true, NEVER) => (self.ready_ns.min(started_ns), 0),
            (true, due_ns) => (due_ns.min(started_ns), self.pass.paused_ns),
            (false, due_ns) => (due_ns.min(started_ns), 0),
        };
        let sample = Sample::of(due_ns, (started_ns, now_ns), end);
        let sample = Sample { paused_ns, processing_ns, unread_ns, bytes_out, bytes_in, ..sample };
        if context.recorders.record(slot, &sample) {
            self.due_ns = NEVER;
        }
        self.since_ns = now_ns;
        self.pass.bytes_out += bytes_out;
        self.pass.bytes_in += bytes_in;
        if self.pass.failure.is_none() {
            self.pass.failure = end.failure();
        }
    }

    /// Counts the lane's wait for a row until now, if the lane is in such a wait.
    pub(crate) fn count_row_wait(&mut self, context: &mut Context<P>, now_ns: u64) {
        if self.row_wait_ns > 0 {
            context.row_wait_ns += now_ns.saturating_sub(self.row_wait_ns);
            self.row_wait_ns = now_ns;
        }
    }

    /// Draws a row again, after another lane has given a row back.
    pub(crate) fn retry_row(&mut self, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        self.count_row_wait(turn.context, now_ns);
        self.row_wait_ns = 0;
        let waited_ns = now_ns.saturating_sub(self.since_ns);
        self.pass.started_ns = (self.pass.started_ns + waited_ns).min(now_ns);
        if self.pass.bytes_out == 0 {
            self.pass.began_ns = now_ns;
        }
        self.wake(now_ns, turn, now_ns)
    }

    /// Records the current operation, if there is one.
    pub(super) fn end_operation(&mut self, context: &mut Context<P>, now_ns: u64) {
        let end = self.pass.failure.map_or(End::Right, End::Wrong);
        self.record_pass(end, context, now_ns);
    }

    pub(super) fn record_pass(&mut self, end: End, context: &mut Context<P>, now_ns: u64) {
        let Some(slot) = self.cursor.whole.take() else { return };
        let Pass { due_ns, began_ns, started_ns, paused_ns, bytes_out, bytes_in, left_out, .. } = self.pass;
        if left_out {
            return;
        }
        let due_ns = match due_ns {
            0 if slot == self.cursor.counted => began_ns,
            // No window waits for the end of a pass of which only a step is counted, so the pass
            // belongs to the present window.
            0 => now_ns,
            due_ns => due_ns,
        };
        let sample = Sample::of(due_ns, (started_ns, now_ns), end);
        context.recorders.record(slot, &Sample { paused_ns, bytes_out, bytes_in, ..sample });
        self.due_ns = NEVER;
    }

    /// Whether the lane has taken an arrival whose counted step is still to come. If operations are counted
    /// as a whole, no step is counted.
    pub(super) fn has_arrival(&self) -> bool {
        self.due_ns != NEVER && self.cursor.whole.is_some_and(|whole| whole != self.cursor.counted)
    }

    /// Records the current arrival, if there is one, as never answered: its counted step was not sent.
    pub(super) fn abandon_arrival(&mut self, failure: Failure, context: &mut Context<P>, now_ns: u64) {
        if self.has_arrival() {
            let unsent = Sample::unsent(self.due_ns, failure, now_ns);
            context
                .recorders
                .record(self.cursor.counted, &Sample { paused_ns: self.pass.paused_ns, ..unsent });
            self.due_ns = NEVER;
        }
    }

    /// Ends the pass at its current step, and closes the connections that the next pass does not keep.
    pub(super) fn abort_pass(&mut self, failure: Failure, turn: &mut Turn<'_, P>, now_ns: u64) {
        // The connection for this arrival was not opened.
        self.abandon_arrival(failure, turn.context, now_ns);
        let end = End::Unanswered(self.pass.failure.unwrap_or(failure));
        self.record_pass(end, turn.context, now_ns);
        self.close_parked(self.cursor.kept(turn.program), turn.context);
        turn.context.deadlines[self.id as usize] = NEVER;
    }

    /// Ends the pass, and begins the next pass after a pause.
    pub(super) fn restart(&mut self, failure: Failure, turn: &mut Turn<'_, P>, now_ns: u64) -> Fate {
        self.connection.close(None);
        self.abort_pass(failure, turn, now_ns);
        let program = turn.program;
        program::start_over(&mut Walk { lane: self, turn, now_ns }, program)
    }
}
