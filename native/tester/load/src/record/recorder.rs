//! The records of each step: counts, bytes, failures by kind, and times in HDR histograms.
//!
//! Times are nanoseconds at three significant digits up to an hour (method rule 1). Each thread has its own
//! recorders, and threads share nothing. A drain swaps a thread's recorders for empty recorders between two
//! operations, so each operation is in exactly one drain.
//!
//! # The clocks (method rule 2)
//!
//! ```text
//!   due        sent                  answered      next sent
//!    |--- lag ---|------ service ------|- processing -|
//!    |------------- latency -----------|
//! ```
//!
//! Processing is the engine's own time: from the event that resumes a lane (the previous answer, the end of a
//! think time, an arrival due while the lane was idle) to the request. A late engine shows in this time.
//!
//! An answer may lie in the kernel until this thread reads it, and the target's service time includes this delay.
//! `unread` is an upper bound of the delay, except that a thread descheduled for less than one 10 ms tick cannot
//! notice the delay.
//!
//! Service, latency and unread cover operations with the right answer only: otherwise a target that fails fast
//! would look faster. Every operation is on exactly one of three clocks:
//!
//! - `service`: the answer was right.
//! - `wrong`: the answer was wrong. This clock runs from the operation's due time to the answer.
//! - `censored`: there was no answer (timeout, lost connection). This clock runs from the operation's due time
//!   until the operation is given up: a lower bound of its latency.
//!
//! So always `count = service.len() + wrong.len() + censored.len()`. Lag covers right and wrong answers: a late
//! start is the engine's fault whatever the answer is. `abandoned` is a lower bound of the service time of
//! operations without an answer: it runs from sending to giving up, and covers only requests that were actually
//! sent.
//!
//! Only arrivals of an open schedule are due before they start. The arrival's other requests are due at their
//! start. If one arrival leads to several counted steps, each of them except the first is due at the end of the
//! previous step. For such requests, and on a closed schedule, latency is service, abandoned is censored, and there
//! is no lag: [`Clock::closed`].
//!
//! Think times inside an operation are excluded from all its clocks: latency and lag run from `due + paused`. The due
//! time itself, which decides the window, stays the same.
//!
//! # Windows
//!
//! An operation belongs to the window of its due time (on a closed schedule: of its start), however late it ends.
//! Otherwise a stall at the end of a window would leave out exactly the operations that the stall delayed. An
//! operation in one of its think times at the end of the test is left out ([`Split::leave_out`]). At a cut
//! ([`Split`]) a thread begins a second set of recorders; the first set still records operations due before the cut.
//! A third set records operations of earlier windows: their results are final, but rates count every operation.
//!
//! # Spans
//!
//! Arrivals of a staged schedule are recorded a second time, by due time, in [`Spans`] of equal length. A target
//! that falls behind answers some arrivals many spans later: with cuts, all of these would be in the oldest set.
//! With stages of users, all operations are recorded in spans, by start time.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::sync::Arc;

use hdrhistogram::{AdditionError, CreationError, Histogram};

use crate::record::clock::SECOND;
use crate::record::failure::Failure;
use crate::record::metric::{Clock, Counter};

/// Longer times are clamped to an hour, which is beyond any timeout.
const LONGEST_NS: u64 = 3600 * SECOND;

/// The significant digits of recorded times (method rule 1).
const DIGITS: u8 = 3;

/// An empty histogram, bounded so that recording never allocates.
pub fn histogram() -> Result<Histogram<u64>, CreationError> {
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS)
}

/// The smallest histogram, for a clock that is never recorded: 16 bytes of counts instead of 270 KB.
fn no_histogram() -> Result<Histogram<u64>, CreationError> {
    Histogram::new_with_bounds(1, 2, 0)
}

/// Empty histograms for new recorders: creating a histogram writes 270 KB.
///
/// Most histograms of a drain are empty, because failures and operations due before a cut are few. Between
/// two drains there are as many histograms here as in all recorders.
#[derive(Debug, Default)]
pub(crate) struct Blank(Vec<Histogram<u64>>);

impl Blank {
    fn take(&mut self) -> Result<Histogram<u64>, CreationError> {
        self.0.pop().map_or_else(histogram, Ok)
    }

    /// Resets and keeps the histograms of a recorder that is no longer needed.
    pub(crate) fn keep(&mut self, recorder: Recorder) {
        for (clock, mut times) in Clock::ALL.into_iter().zip(recorder.clocks) {
            if clock.recorded(recorder.open) == Some(clock) {
                if !times.is_empty() {
                    times.reset();
                }
                self.0.push(times);
            }
        }
    }

    /// Keeps a recorder's empty histograms. Small histograms replace them, so the recorder must not be used for
    /// recording again.
    pub(crate) fn keep_empty(&mut self, recorder: &mut Recorder) {
        for clock in Clock::ALL {
            let is_blank =
                clock.recorded(recorder.open) == Some(clock) && recorder.clocks[clock.index()].is_empty();
            if is_blank && let Ok(small) = no_histogram() {
                self.0.push(std::mem::replace(&mut recorder.clocks[clock.index()], small));
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub(crate) u16);

/// The program and step of a recorder.
#[derive(Debug, Clone)]
pub struct Label {
    pub program: Arc<str>,
    /// The step's name; `sequence` for the whole pass.
    pub step: Arc<str>,
    /// Whether its operations have due times.
    pub open: bool,
    /// Whether its time is also counted in other steps: the step is a whole pass or a phase.
    pub overlaps: bool,
}

/// An operation that ended.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// The due time of the operation or its arrival. It decides the window; for an arrival, the clocks start
    /// here, too.
    pub due_ns: u64,
    /// The sum of its think times since `due_ns`, which all clocks exclude.
    pub paused_ns: u64,
    pub started_ns: u64,
    /// The time of the answer, or of giving up.
    pub ended_ns: u64,
    /// The engine's own time before sending.
    pub processing_ns: u64,
    /// An upper bound of the time that the answer lay unread; `None` if no answer was read.
    pub unread_ns: Option<u64>,
    pub bytes_out: u64,
    pub bytes_in: u64,
    pub end: End,
}

impl Sample {
    /// A sample without bytes, think times and processing time.
    #[inline]
    pub(crate) const fn of(due_ns: u64, (started_ns, ended_ns): (u64, u64), end: End) -> Self {
        Self {
            due_ns,
            paused_ns: 0,
            started_ns,
            ended_ns,
            processing_ns: 0,
            unread_ns: None,
            bytes_out: 0,
            bytes_in: 0,
            end,
        }
    }

    /// An arrival that was given up before a request was sent for it.
    pub(crate) const fn unsent(due_ns: u64, failure: Failure, now_ns: u64) -> Self {
        Self::of(due_ns, (now_ns, now_ns), End::Unanswered(failure))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Right,
    Wrong(Failure),
    Unanswered(Failure),
}

impl End {
    pub const fn failure(self) -> Option<Failure> {
        match self {
            Self::Right => None,
            Self::Wrong(failure) | Self::Unanswered(failure) => Some(failure),
        }
    }
}

#[derive(Debug)]
pub struct Recorder {
    pub count: u64,
    pub failures: Vec<(Failure, u64)>,
    /// Indexed like [`Clock::ALL`]; unless `open`, clocks that [`Clock::closed`] replaces stay empty.
    pub clocks: [Histogram<u64>; Clock::COUNT],
    /// Indexed like [`Counter::ALL`].
    pub counters: [u64; Counter::COUNT],
    /// Whether operations have due times that may differ from their starts.
    pub open: bool,
}

impl Recorder {
    fn new(open: bool, blank: &mut Blank) -> Result<Self, CreationError> {
        let none = no_histogram()?;
        let mut clocks = Clock::ALL.map(|_| none.clone());
        for clock in Clock::ALL {
            if clock.recorded(open) == Some(clock) {
                clocks[clock.index()] = blank.take()?;
            }
        }
        Ok(Self { count: 0, failures: Vec::new(), clocks, counters: [0; Counter::COUNT], open })
    }

    /// Records an operation.
    ///
    /// Inlined into [`Split::record`], which calls it for every operation.
    #[inline(always)]
    pub fn record(&mut self, sample: &Sample) {
        self.count += 1;
        self.counters[Counter::BytesOut.index()] += sample.bytes_out;
        self.counters[Counter::BytesIn.index()] += sample.bytes_in;
        self.counters[Counter::Processing.index()] += sample.processing_ns;
        self.counters[Counter::Paused.index()] += sample.paused_ns;
        let took = sample.ended_ns.saturating_sub(sample.started_ns);
        let due_ns = sample.due_ns + sample.paused_ns;
        let since_ns = if self.open { due_ns } else { sample.started_ns };
        let latency = sample.ended_ns.saturating_sub(since_ns);
        match sample.end {
            End::Right => {
                self.clocks[Clock::Service.index()].saturating_record(took);
                if let Some(unread_ns) = sample.unread_ns {
                    self.clocks[Clock::Unread.index()].saturating_record(unread_ns);
                }
            }
            End::Wrong(_) => self.clocks[Clock::Wrong.index()].saturating_record(latency),
            End::Unanswered(_) => self.clocks[Clock::Censored.index()].saturating_record(latency),
        }
        if self.open {
            match sample.end {
                End::Unanswered(_) if took > 0 => {
                    self.clocks[Clock::Abandoned.index()].saturating_record(took)
                }
                // The request was never sent.
                End::Unanswered(_) => {}
                End::Right | End::Wrong(_) => {
                    let lag = sample.started_ns.saturating_sub(due_ns);
                    self.clocks[Clock::Lag.index()].saturating_record(lag);
                    if sample.end == End::Right {
                        self.clocks[Clock::Latency.index()].saturating_record(latency);
                    }
                }
            }
        }
        if let Some(failure) = sample.end.failure() {
            self.counters[Counter::Failed.index()] += took;
            self.fail(failure, 1);
        }
    }

    fn fail(&mut self, failure: Failure, n: u64) {
        // A linear search suffices: kinds are few, and failures are rarer than answers.
        match self.failures.iter_mut().find(|(kind, _)| *kind == failure) {
            Some((_, count)) => *count += n,
            None => self.failures.push((failure, n)),
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0 && self.counters[Counter::Thinking.index()] == 0
    }

    fn merge(&mut self, other: &Self) -> Result<(), AdditionError> {
        if other.is_empty() {
            return Ok(());
        }
        self.count += other.count;
        other.failures.iter().for_each(|&(failure, n)| self.fail(failure, n));
        self.counters.iter_mut().zip(other.counters).for_each(|(sum, count)| *sum += count);
        self.clocks.iter_mut().zip(&other.clocks).try_for_each(|(sum, times)| sum.add(times))
    }
}

/// A thread's recorders, one per slot. Empty for a thread that has ended.
type Recorders = Vec<Recorder>;

fn recorders(labels: &[Label], blank: &mut Blank) -> Result<Recorders, CreationError> {
    labels.iter().map(|label| Recorder::new(label.open, blank)).collect()
}

/// Adds another thread's recorders slot by slot, without loss of precision.
fn merge(recorders: &mut [Recorder], others: &[Recorder]) -> Result<(), AdditionError> {
    recorders.iter_mut().zip(others).try_for_each(|(recorder, other)| recorder.merge(other))
}

/// A thread's recorders by span: the part of the time since an origin in which an operation was due.
///
/// A recorder is created when the first operation of its span has ended.
#[derive(Debug)]
pub(crate) struct Spans {
    origin_ns: u64,
    span_ns: u64,
    /// The end of the window in which the spans began. Operations due later are in no span.
    until_ns: u64,
    open: bool,
    pub(crate) recorders: BTreeMap<(u64, Slot), Recorder>,
}

impl Spans {
    /// Spans of this length. If `open`, they record arrivals and no other operations.
    pub(crate) const fn new(origin_ns: u64, span_ns: u64, open: bool) -> Self {
        Self { origin_ns, span_ns, until_ns: u64::MAX, open, recorders: BTreeMap::new() }
    }

    /// No spans: nothing is recorded.
    const fn none() -> Self {
        Self::new(0, 0, true)
    }

    /// The recorder of the span that contains `due_ns`, if there is one.
    ///
    /// Not inlined: only staged schedules have spans.
    #[inline(never)]
    fn recorder(&mut self, slot: Slot, due_ns: u64) -> Option<&mut Recorder> {
        if due_ns >= self.until_ns {
            return None;
        }
        let span = due_ns.checked_sub(self.origin_ns)?.checked_div(self.span_ns)?;
        match self.recorders.entry((span, slot)) {
            Entry::Occupied(place) => Some(place.into_mut()),
            // Cannot fail: all recorders have the same bounds, and other recorders were created before.
            Entry::Vacant(place) => Some(place.insert(Recorder::new(self.open, &mut Blank::default()).ok()?)),
        }
    }

    fn merge(&mut self, other: Self) -> Result<(), AdditionError> {
        for (place, recorder) in other.recorders {
            match self.recorders.get_mut(&place) {
                Some(sum) => sum.merge(&recorder)?,
                None => drop(self.recorders.insert(place, recorder)),
            }
        }
        Ok(())
    }
}

/// A thread's recorders, in three sets: operations due since the cut, in the window that the cut ended, and
/// earlier.
#[derive(Debug)]
pub(crate) struct Split {
    /// The window that the cut ended.
    over_ns: Range<u64>,
    pub(crate) older: Recorders,
    pub(crate) before: Recorders,
    pub(crate) since: Recorders,
    pub(crate) spans: Spans,
}

impl Split {
    /// Empty recorders for a thread that has made `cuts` cuts. Before the first cut only `since` is used,
    /// before the second cut only `since` and `before`.
    pub(crate) fn new(labels: &[Label], cuts: usize, blank: &mut Blank) -> Result<Self, CreationError> {
        let mut some = |are_used| if are_used { recorders(labels, blank) } else { Ok(Vec::new()) };
        let (older, before, since) = (some(cuts > 1)?, some(cuts > 0)?, some(true)?);
        Ok(Self { over_ns: 0..0, older, before, since, spans: Spans::none() })
    }

    /// The recorders of a thread that has ended.
    pub(crate) const fn none() -> Self {
        const NONE: Recorders = Vec::new();
        Self { over_ns: 0..0, older: NONE, before: NONE, since: NONE, spans: Spans::none() }
    }

    /// The window that ended at the last cut.
    pub(crate) const fn over_ns(&self) -> &Range<u64> {
        &self.over_ns
    }

    /// Whether the slot records arrivals.
    pub(crate) fn is_open(&self, slot: Slot) -> bool {
        self.since[usize::from(slot.0)].open
    }

    /// Records an operation in the window in which it was due. Returns whether the operation was an arrival.
    pub(crate) fn record(&mut self, slot: Slot, sample: &Sample) -> bool {
        let recorder = self.recorder(slot, sample.due_ns);
        recorder.record(sample);
        let open = recorder.open;
        if self.spans.span_ns > 0
            && open == self.spans.open
            && let Some(recorder) = self.spans.recorder(slot, sample.due_ns)
        {
            recorder.record(sample);
        }
        open
    }

    /// Counts an operation, due at `due_ns` and in one of its think times, as left out.
    #[cold]
    pub(crate) fn leave_out(&mut self, slot: Slot, due_ns: u64) {
        let recorder = self.recorder(slot, due_ns);
        recorder.counters[Counter::Thinking.index()] += 1;
        if recorder.open == self.spans.open
            && let Some(recorder) = self.spans.recorder(slot, due_ns)
        {
            recorder.counters[Counter::Thinking.index()] += 1;
        }
    }

    #[inline(always)]
    fn recorder(&mut self, slot: Slot, due_ns: u64) -> &mut Recorder {
        let side = if due_ns >= self.over_ns.end {
            &mut self.since
        } else if due_ns >= self.over_ns.start {
            &mut self.before
        } else {
            &mut self.older
        };
        &mut side[usize::from(slot.0)]
    }

    /// Replaces and returns the recorders; `fresh` continues with the same cut and the same spans.
    pub(crate) fn swap(&mut self, fresh: Self) -> Self {
        let over_ns = self.over_ns.clone();
        let Spans { origin_ns, span_ns, until_ns, open, .. } = self.spans;
        let spans = Spans { until_ns, ..Spans::new(origin_ns, span_ns, open) };
        std::mem::replace(self, Self { over_ns, spans, ..fresh })
    }

    /// Begins a new window, of operations due from `now_ns` on.
    pub(crate) fn cut(&mut self, now_ns: u64) {
        self.over_ns = self.over_ns.end..now_ns;
        // Spans of users end at the cut, because users continue until their operations have ended. An open
        // schedule has no arrivals after its stages.
        if !self.spans.open {
            self.spans.until_ns = self.spans.until_ns.min(now_ns);
        }
    }

    /// Adds another thread's recorders.
    pub(crate) fn merge(&mut self, other: Self, blank: &mut Blank) -> Result<(), AdditionError> {
        let Self { older, before, since, spans, .. } = other;
        for (mine, theirs) in [(&mut self.older, older), (&mut self.before, before), (&mut self.since, since)]
        {
            merge(mine, &theirs)?;
            theirs.into_iter().for_each(|recorder| blank.keep(recorder));
        }
        self.spans.merge(spans)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SAMPLE: Sample = Sample {
        due_ns: 100,
        paused_ns: 0,
        started_ns: 150,
        ended_ns: 400,
        processing_ns: 20,
        unread_ns: Some(10),
        bytes_out: 3,
        bytes_in: 5,
        end: End::Right,
    };

    fn labels(open: bool) -> Vec<Label> {
        vec![Label { program: "p".into(), step: "s".into(), open, overlaps: false }]
    }

    fn recorders(open: bool) -> Recorders {
        super::recorders(&labels(open), &mut Blank::default()).unwrap()
    }

    fn empty_split(open: bool) -> Split {
        Split::new(&labels(open), 2, &mut Blank::default()).unwrap()
    }

    #[test]
    fn service_time_latency_and_lag_start_at_different_instants() {
        let mut recorders = recorders(true);
        recorders[0].record(&SAMPLE);
        let recorder = &recorders[0];
        let clocks = [Clock::Service, Clock::Latency, Clock::Lag];
        assert_eq!(clocks.map(|clock| recorder.clocks[clock.index()].max()), [250, 300, 50]);
    }

    #[test]
    fn wrong_answers_have_a_separate_clock_and_missing_answers_are_censored() {
        let mut recorders = recorders(false);
        let recorder = &mut recorders[0];
        recorder.record(&SAMPLE);
        recorder.record(&Sample { end: End::Wrong(Failure::WrongAnswer), ..SAMPLE });
        recorder.record(&Sample { end: End::Unanswered(Failure::Timeout), ..SAMPLE });
        let clocks = [Clock::Service, Clock::Censored, Clock::Wrong];
        assert_eq!(
            (recorder.count, clocks.map(|clock| recorder.clocks[clock.index()].len())),
            (3, [1, 1, 1])
        );
        assert_eq!(recorder.clocks[Clock::Wrong.index()].max(), 250);
        assert_eq!(recorder.failures, [(Failure::WrongAnswer, 1), (Failure::Timeout, 1)]);
        let counters = [Counter::BytesOut, Counter::BytesIn, Counter::Processing, Counter::Failed];
        assert_eq!(counters.map(|counter| recorder.counters[counter.index()]), [9, 15, 60, 500]);
    }

    #[test]
    fn drained_recorders_are_reused_empty() {
        let mut blank = Blank::default();
        for open in [true, false] {
            let (empty, mut used) = (recorders(open), recorders(open));
            let missing = Sample { end: End::Unanswered(Failure::Timeout), ..SAMPLE };
            [SAMPLE, missing].iter().for_each(|sample| used[0].record(sample));
            used.into_iter().for_each(|recorder| blank.keep(recorder));
            let again = super::recorders(&labels(open), &mut blank).unwrap();
            assert_eq!(again[0].clocks, empty[0].clocks, "{open}");
            assert!(blank.0.is_empty(), "all of it is used again");
        }
    }

    #[test]
    fn only_the_empty_clocks_of_a_drained_recorder_are_reused() {
        let (mut used, mut blank) = (recorders(true), Blank::default());
        let recorder = &mut used[0];
        recorder.record(&SAMPLE);
        let found = |recorder: &Recorder| recorder.clocks.each_ref().map(|times| (times.len(), times.max()));
        let before = found(recorder);
        blank.keep_empty(recorder);
        assert_eq!(found(recorder), before);
        assert_eq!(blank.0.len(), before.iter().filter(|&&(samples, _)| samples == 0).count());
        assert!(blank.0.iter().all(|times| times.is_empty() && times.high() > 1_000 * SECOND));
    }

    #[test]
    fn an_operation_belongs_to_the_window_in_which_it_was_due() {
        let mut split = empty_split(true);
        split.record(Slot(0), &SAMPLE);
        let first = split.swap(empty_split(true));
        split.cut(50);
        split.cut(200);
        for due_ns in [48, 49, 199, 200, 201, 202] {
            split.record(Slot(0), &Sample { due_ns, started_ns: 300, ..SAMPLE });
        }
        let counts = |split: &Split| [&split.older, &split.before, &split.since].map(|each| each[0].count);
        assert_eq!((counts(&first), counts(&split)), ([0, 0, 1], [2, 1, 3]));
        assert_eq!(split.before[0].clocks[Clock::Latency.index()].max(), 201);
    }

    #[test]
    fn an_arrival_belongs_to_the_span_in_which_it_was_due_however_late_it_ends() {
        let mut split = empty_split(true);
        split.spans = Spans::new(100, 50, true);
        let sample = |due_ns: u64| Sample { due_ns, started_ns: 10_000, ended_ns: 10_100, ..SAMPLE };
        for due_ns in [99, 100, 149, 150, 5_000] {
            split.record(Slot(0), &sample(due_ns));
        }
        let mut first = split.swap(empty_split(true));
        split.cut(6_000);
        split.record(Slot(0), &sample(149));
        let spans = |split: &Split| -> Vec<(u64, u64)> {
            split.spans.recorders.iter().map(|(&(span, _), recorder)| (span, recorder.count)).collect()
        };
        assert_eq!(spans(&first), [(0, 2), (1, 1), (98, 1)]);
        assert_eq!(spans(&split), [(0, 1)]);
        first.merge(split, &mut Blank::default()).unwrap();
        assert_eq!(spans(&first), [(0, 3), (1, 1), (98, 1)]);
    }

    #[test]
    fn spans_of_arrivals_are_recorded_only_if_configured_on_an_open_schedule() {
        for (open, span_ns) in [(true, 0), (false, 0), (false, 50)] {
            let mut split = empty_split(open);
            split.spans = Spans::new(0, span_ns, true);
            split.record(Slot(0), &SAMPLE);
            assert!(split.spans.recorders.is_empty(), "{open} {span_ns}");
        }
    }

    #[test]
    fn with_a_varying_number_of_users_an_operation_is_in_the_span_of_its_begin() {
        let mut split = empty_split(false);
        split.spans = Spans::new(100, 50, false);
        for started_ns in [99, 100, 149, 150] {
            split.record(Slot(0), &Sample { due_ns: started_ns, started_ns, ended_ns: 400, ..SAMPLE });
        }
        let fresh = split.swap(empty_split(false));
        split.record(Slot(0), &Sample { due_ns: 149, started_ns: 149, ended_ns: 500, ..SAMPLE });
        let found = |split: &Split| -> Vec<(u64, u64, u64)> {
            let spans = split.spans.recorders.iter();
            spans
                .map(|(&(span, _), each)| (span, each.count, each.clocks[Clock::Service.index()].max()))
                .collect()
        };
        assert_eq!(found(&fresh), [(0, 2, 300), (1, 1, 250)]);
        assert_eq!(found(&split), [(0, 1, 351)]);

        // Users continue after the window until the operations that began in it have ended.
        split.cut(200);
        split.record(Slot(0), &Sample { due_ns: 200, started_ns: 200, ended_ns: 500, ..SAMPLE });
        let mut last = split.swap(empty_split(false));
        split.record(Slot(0), &Sample { due_ns: 210, started_ns: 210, ended_ns: 600, ..SAMPLE });
        split.record(Slot(0), &Sample { due_ns: 199, started_ns: 199, ended_ns: 600, ..SAMPLE });
        last.merge(split, &mut Blank::default()).unwrap();
        assert_eq!(found(&last), [(0, 1, 351), (1, 1, 401)]);
    }

    #[test]
    fn a_missing_answer_is_censored_from_its_due_time() {
        let mut recorders = recorders(true);
        recorders[0].record(&Sample { end: End::Unanswered(Failure::Timeout), ..SAMPLE });
        recorders[0].record(&Sample { started_ns: 400, end: End::Unanswered(Failure::Timeout), ..SAMPLE });
        let recorder = &recorders[0];
        let censored = &recorder.clocks[Clock::Censored.index()];
        assert_eq!(
            (censored.len(), censored.min(), recorder.counters[Counter::Failed.index()]),
            (2, 300, 250)
        );
        // Only one request was sent, and this clock runs from its sending.
        let abandoned = &recorder.clocks[Clock::Abandoned.index()];
        assert_eq!((abandoned.len(), abandoned.max()), (1, 250));
    }

    #[test]
    fn on_a_closed_schedule_clocks_of_an_open_schedule_stay_empty_and_small() {
        let mut recorders = recorders(false);
        let recorder = &mut recorders[0];
        for end in [End::Right, End::Wrong(Failure::WrongAnswer), End::Unanswered(Failure::Timeout)] {
            recorder.record(&Sample { end, ..SAMPLE });
        }
        for clock in Clock::ALL {
            let (recorded, counts) =
                (clock.closed() == Some(clock), recorder.clocks[clock.index()].distinct_values());
            assert_eq!(recorder.clocks[clock.index()].is_empty(), !recorded, "{clock:?}");
            assert!(if recorded { counts > 30_000 } else { counts < 10 }, "{clock:?}: {counts}");
        }
    }

    #[test]
    fn times_have_three_digits_and_times_over_an_hour_count_as_an_hour() {
        let mut recorders = recorders(false);
        let recorder = &mut recorders[0];
        for took in [1, 999, 123_456, 59_999_999_999, LONGEST_NS * 2] {
            recorder.record(&Sample { started_ns: 0, ended_ns: took, ..SAMPLE });
        }
        let service = &recorder.clocks[Clock::Service.index()];
        assert_eq!(service.len(), 5);
        let max = service.max() as f64 / LONGEST_NS as f64;
        assert!((0.999..1.001).contains(&max), "{max}");
        let second = service.value_at_quantile(0.6) as f64;
        assert!((second / 123_456.0 - 1.0).abs() < 0.001, "{second}");
    }

    proptest! {
        /// However samples are spread over threads, merged recorders equal a single recorder, bucket by bucket.
        #[test]
        fn the_recorders_of_threads_together_equal_one_recorder(
            samples in prop::collection::vec((0usize..4, 0..LONGEST_NS * 2, 0..SECOND, 0u8..3, 1u64..99), 0..100)
        ) {
            let (mut threads, mut one) = ([(); 4].map(|()| recorders(true)), recorders(true));
            for (thread, took, late, end, n) in samples {
                let end = [End::Right, End::Wrong(Failure::WrongAnswer), End::Unanswered(Failure::Timeout)]
                    [usize::from(end)];
                let (processing_ns, unread_ns, bytes_out, bytes_in) = (n, Some(2 * n), 3 * n, 4 * n);
                let (due_ns, paused_ns, started_ns, ended_ns) = (0, n.min(late), late, late + took);
                let sample = Sample { due_ns, paused_ns, started_ns, ended_ns, processing_ns, unread_ns, bytes_out, bytes_in, end };
                threads[thread][0].record(&sample);
                one[0].record(&sample);
            }
            let mut merged = recorders(true);
            for thread in &threads {
                merge(&mut merged, thread).unwrap();
            }
            let (merged, one) = (&mut merged[0], &mut one[0]);
            for clock in Clock::ALL {
                prop_assert_eq!(&merged.clocks[clock.index()], &one.clocks[clock.index()], "{:?}", clock);
            }
            merged.failures.sort_by_key(|&(failure, _)| failure.label());
            one.failures.sort_by_key(|&(failure, _)| failure.label());
            prop_assert_eq!(&merged.failures, &one.failures);
            prop_assert_eq!((merged.count, merged.counters), (one.count, one.counters));
        }
    }
}
