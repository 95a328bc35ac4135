//! The driver's snapshots: everything recorded between two drains.

use std::sync::Arc;

use hdrhistogram::{AdditionError, Histogram};

use crate::drive::worker::{Drained, lane_number};
use crate::record::examples::Example;
use crate::record::failure::Failure;
use crate::record::metric::{Clock, Counter};
use crate::record::recorder::{Blank, Label, Recorder, Split};

/// Everything recorded between two drains.
#[derive(Debug)]
pub struct Snapshot {
    /// When the window began, on the clock of [`crate::record::clock::now_ns`].
    pub t0_ns: u64,
    pub t1_ns: u64,
    /// The CPU time of each thread since its start.
    pub cpu_ns: Vec<u64>,
    /// Lanes running at the end of the window.
    pub lanes: u64,
    /// The number of lanes, integrated over the window: the N of Little's law times seconds.
    pub lane_ns: u64,
    /// Time in which lanes were idle: thinking, without a due arrival, or pausing after a failure. A wait
    /// counts in the window in which it ends.
    pub waiting_ns: u64,
    /// Time of operations and waits that had begun and not ended at the end of the window.
    ///
    /// `lane_ns` is the sum of the service, failed and processing times of all steps that do not overlap
    /// other steps, `waiting_ns`, and `underway_ns` minus the `underway_ns` of the previous snapshot:
    /// Little's law with the edges of the window accounted for.
    pub underway_ns: u64,
    /// Due arrivals of an open schedule that no lane has taken.
    pub backlog: u64,
    pub in_flight: u64,
    /// Operations that were due in the window before the last cut and have not ended: they may not
    /// even have begun.
    pub owed: u64,
    /// Users that have ended since the start because the data had no row left for them. If no lane
    /// runs any more for this reason, the window ends with the end of the last user.
    pub without_row: u64,
    /// Time that users waited for exclusive rows of data that other users held. It is excluded from
    /// all operations' times.
    pub row_wait_ns: u64,
    /// Exclusive rows that were lost since the start: a change to the row was never answered.
    pub lost_rows: u64,
    /// Requests that succeeded, by lane number; empty unless phases are recorded.
    pub lane_counts: Vec<u64>,
    /// The log of requests, one line of JSON per request, in the order of their ends.
    pub log: Vec<String>,
    /// One item for each step of each program, if the step has records.
    pub steps: Vec<StepSnapshot>,
    /// The steps of operations due in the window that ended at the last cut.
    pub late: Vec<StepSnapshot>,
    /// The steps of operations due before that window. They count in the rates of this window, and in no
    /// window's durations.
    pub older: Vec<StepSnapshot>,
    /// For a staged schedule, the steps of this snapshot by the number of the span in which the operations
    /// were due.
    pub spans: Vec<(u64, StepSnapshot)>,
}

/// The records of one step of one program.
#[derive(Debug)]
pub struct StepSnapshot {
    pub program: Arc<str>,
    /// The name of the step; `sequence` for the whole pass.
    pub step: Arc<str>,
    /// Whether the step's time and failures are also counted in other steps: the step is a whole pass or a
    /// phase.
    pub overlaps: bool,
    /// Operations that ended, answered or not: the samples on the clocks service, wrong and censored.
    pub count: u64,
    /// Failed operations by kind, sorted.
    pub failures: Vec<(String, u64)>,
    /// The first failed request of each kind of failure, with its answer.
    pub examples: Vec<(String, String)>,
    /// Whether operations have due times that may differ from their starts.
    pub open: bool,
    /// Indexed like [`Counter::ALL`].
    pub counters: [u64; Counter::COUNT],
    /// The recorded histograms, indexed like [`Clock::ALL`]; [`Self::clock`] reads them. A histogram without
    /// samples has no memory for samples.
    pub clocks: [Histogram<u64>; Clock::COUNT],
}

impl StepSnapshot {
    /// The times on a clock. On a closed schedule another clock may replace this clock ([`Clock::closed`]).
    pub fn clock(&self, clock: Clock) -> &Histogram<u64> {
        // On a closed schedule no clock replaces lag, whose own histogram is empty.
        &self.clocks[clock.recorded(self.open).unwrap_or(clock).index()]
    }

    pub const fn counter(&self, counter: Counter) -> u64 {
        self.counters[counter.index()]
    }
}

impl Snapshot {
    /// Merges the records of all threads.
    pub(crate) fn merge(
        t0_ns: u64,
        labels: &[Label],
        drained: Vec<Drained>,
        blank: &mut Blank,
    ) -> Result<Self, AdditionError> {
        let at_ns = drained.iter().map(|part| part.at_ns).max().unwrap_or(t0_ns);
        let cpu_ns = drained.iter().map(|part| part.cpu_ns).collect();
        let sum = |of: fn(&Drained) -> u64| drained.iter().map(of).sum();
        let (lanes, lane_ns) = (sum(|part| part.lanes), sum(|part| part.lane_ns));
        let (waiting_ns, underway_ns) = (sum(|part| part.waiting_ns), sum(|part| part.underway_ns));
        let [backlog, in_flight, owed] =
            [sum(|part| part.backlog), sum(|part| part.in_flight), sum(|part| part.owed)];
        let [without_row, row_wait_ns] = [sum(|part| part.without_row), sum(|part| part.row_wait_ns)];
        let lost_rows = sum(|part| part.lost_rows);
        let ended_ns = drained.iter().filter_map(|part| part.ended_ns).max();
        let t1_ns = ended_ns.filter(|_| lanes == 0).map_or(at_ns, |ended_ns| ended_ns.max(t0_ns));
        let lane_counts = lane_counts(&drained);
        let (mut examples, mut log) = (Vec::new(), Vec::new());
        let mut parts = drained.into_iter().map(|part| {
            examples.extend(part.examples);
            log.extend(part.log);
            part.recorders
        });
        let mut all = parts.next().unwrap_or_else(Split::none);
        parts.try_for_each(|part| all.merge(part, blank))?;
        log.sort_by_key(|entry| entry.unix_ms);
        let spans = all.spans.recorders.into_iter().filter_map(|((span, slot), recorder)| {
            Some((span, step(labels.get(usize::from(slot.0))?, recorder, Vec::new())))
        });
        let spans = spans.collect();
        let [steps, late, older] =
            [all.since, all.before, all.older].map(|part| steps(labels, part, &examples, blank));
        Ok(Self {
            t0_ns,
            t1_ns,
            cpu_ns,
            lanes,
            lane_ns,
            waiting_ns,
            underway_ns,
            backlog,
            in_flight,
            owed,
            without_row,
            row_wait_ns,
            lost_rows,
            lane_counts,
            log: log.into_iter().map(|entry| entry.line(labels)).collect(),
            steps,
            late,
            older,
            spans,
        })
    }
}

/// The counts of all threads' lanes, in the order of the lanes' numbers.
fn lane_counts(drained: &[Drained]) -> Vec<u64> {
    let mut counts = Vec::new();
    for (thread, part) in drained.iter().enumerate() {
        for (place, &count) in part.lane_counts.iter().enumerate() {
            let number = lane_number(place, thread, drained.len());
            counts.resize(counts.len().max(number + 1), 0);
            counts[number] = count;
        }
    }
    counts
}

fn steps(
    labels: &[Label],
    recorders: Vec<Recorder>,
    examples: &[Example],
    blank: &mut Blank,
) -> Vec<StepSnapshot> {
    let mut steps = Vec::new();
    for (slot, (label, mut recorder)) in labels.iter().zip(recorders).enumerate() {
        if recorder.is_empty() {
            blank.keep(recorder);
            continue;
        }
        blank.keep_empty(&mut recorder);
        // The recorder's own failures select the examples, so that no example of another window is shown.
        let example = |&(failure, _): &(Failure, u64)| {
            let mut all = examples.iter();
            all.find(|example| usize::from(example.slot.0) == slot && example.failure == failure)
        };
        let examples = recorder.failures.iter().filter_map(example);
        let examples = examples.map(|example| (example.failure.label(), example.text.clone())).collect();
        steps.push(step(label, recorder, examples));
    }
    steps
}

fn step(label: &Label, recorder: Recorder, examples: Vec<(String, String)>) -> StepSnapshot {
    let mut failures: Vec<_> = recorder.failures.iter().map(|&(failure, n)| (failure.label(), n)).collect();
    failures.sort();
    StepSnapshot {
        program: label.program.clone(),
        step: label.step.clone(),
        overlaps: label.overlaps,
        count: recorder.count,
        failures,
        examples,
        open: recorder.open,
        counters: recorder.counters,
        clocks: recorder.clocks,
    }
}
