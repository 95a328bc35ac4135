//! `Snapshot` and `StepStats`: everything recorded between two drains.

use std::collections::BTreeMap;

use hdrhistogram::Histogram as Hdr;
use load::{Clock, Counter, Snapshot as Drained, StepSnapshot};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::histogram::Histogram;

/// A metric: `clock` or `counter`, its name, its unit, its meaning, and the influence of scenario keys on it.
type Metric = (&'static str, &'static str, &'static str, &'static str, &'static str);

/// The metrics of a step: kind, name, unit, meaning and influence. The clocks come first.
///
/// The kind is "clock" or "counter". The influence says which keys of a scenario change the values:
/// keys of "sending", "counting" or "waiting", or no keys ("nothing").
#[pyfunction]
pub fn metrics() -> Vec<Metric> {
    let clocks = Clock::ALL
        .iter()
        .map(|clock| ("clock", clock.name(), clock.unit(), clock.meaning(), clock.influence().name()));
    let counters = Counter::ALL.iter().map(|counter| {
        ("counter", counter.name(), counter.unit(), counter.meaning(), counter.influence().name())
    });
    clocks.chain(counters).collect()
}

/// Everything recorded between two drains, and the threads' CPU time at its end.
#[pyclass(frozen, get_all, module = "sitebench._engine")]
pub struct Snapshot {
    /// When the window began.
    t0_ns: u64,
    /// When the window ended.
    t1_ns: u64,
    /// CPU time that each engine thread has used since it started.
    cpu_ns: Vec<u64>,
    /// Lanes running at the end of the window.
    lanes: u64,
    /// The number of lanes, integrated over the window.
    lane_ns: u64,
    /// Time in which lanes were idle: thinking, without a due arrival, or pausing after a failure.
    waiting_ns: u64,
    /// Time of operations and waits that had begun and not ended at the end of the window.
    ///
    /// `lane_ns` is the sum of the service, failed and processing times of all steps that do not overlap
    /// other steps, `waiting_ns`, and `underway_ns` minus the `underway_ns` of the previous snapshot.
    underway_ns: u64,
    /// Due arrivals of an open schedule that no lane has taken.
    backlog: u64,
    /// Operations that have begun and are not answered.
    in_flight: u64,
    /// Operations due in the window before the last cut that are neither answered nor given up.
    owed: u64,
    /// Users that have ended since the start because the data had no row left for them. If no lane
    /// runs any more for this reason, the window ends with the end of the last user.
    without_row: u64,
    /// Time that users waited for exclusive rows of data that other users held. It is in no
    /// operation's time.
    row_wait_ns: u64,
    /// Exclusive rows that were lost since the start: a change to the row was never answered.
    lost_rows: u64,
    /// Requests that succeeded in the window, by lane; empty unless `phases` are recorded. A lane keeps its
    /// index from drain to drain. The index of an ended lane stays at 0 until a new lane takes it.
    lane_counts: Vec<u64>,
    /// The log of requests, one line of JSON per request, in the order of their ends.
    log: Vec<String>,
    /// One entry per step of each program, if the step has records.
    steps: Vec<Py<StepStats>>,
    /// The steps of operations due in the window that ended at the last cut.
    late: Vec<Py<StepStats>>,
    /// The steps of operations due before that window. They are in no window's durations.
    older: Vec<Py<StepStats>>,
    /// For a schedule of stages, the steps of this snapshot by the number of the span in which the operations
    /// were due.
    spans: Vec<(u64, Py<StepStats>)>,
}

/// The records of one step of one program since the last drain.
#[pyclass(frozen, get_all, module = "sitebench._engine")]
pub struct StepStats {
    /// Name of the step's program.
    program: String,
    /// Name of the step, `sequence` for the whole pass, or a phase of requests.
    step: String,
    /// Whether time and failures are also counted in other steps: the step is a whole pass or a phase.
    overlaps: bool,
    /// Operations that ended, answered or not: the samples on `service`, `wrong` and `censored`.
    count: u64,
    /// Failed operations by kind.
    failures: BTreeMap<String, u64>,
    /// For each kind of failure, the first failed request since the last drain and its answer.
    examples: BTreeMap<String, String>,
    /// Histograms by the names of all clocks in `metrics`, in their order.
    ///
    /// On a closed schedule, where the intended start is the actual start, `latency` is the same object as
    /// `service`, `abandoned` the same object as `censored`, and `lag` is empty.
    clocks: Py<PyDict>,
    /// Sums by the names of all counters in `metrics`, in their order.
    counters: Py<PyDict>,
}

impl Snapshot {
    /// Converts the engine's snapshot. Histograms are moved, not copied.
    pub fn new(py: Python<'_>, drained: Drained) -> PyResult<Self> {
        Ok(Self {
            t0_ns: drained.t0_ns,
            t1_ns: drained.t1_ns,
            cpu_ns: drained.cpu_ns,
            lanes: drained.lanes,
            lane_ns: drained.lane_ns,
            waiting_ns: drained.waiting_ns,
            underway_ns: drained.underway_ns,
            backlog: drained.backlog,
            in_flight: drained.in_flight,
            owed: drained.owed,
            without_row: drained.without_row,
            row_wait_ns: drained.row_wait_ns,
            lost_rows: drained.lost_rows,
            lane_counts: drained.lane_counts,
            log: drained.log,
            steps: step_stats(py, drained.steps)?,
            late: step_stats(py, drained.late)?,
            older: step_stats(py, drained.older)?,
            spans: spans(py, drained.spans)?,
        })
    }
}

fn step_stats(py: Python<'_>, steps: Vec<StepSnapshot>) -> PyResult<Vec<Py<StepStats>>> {
    steps.into_iter().map(|step| Py::new(py, StepStats::new(py, step)?)).collect()
}

fn spans(py: Python<'_>, spans: Vec<(u64, StepSnapshot)>) -> PyResult<Vec<(u64, Py<StepStats>)>> {
    spans.into_iter().map(|(span, step)| Ok((span, Py::new(py, StepStats::new(py, step)?)?))).collect()
}

impl StepStats {
    fn new(py: Python<'_>, step: StepSnapshot) -> PyResult<Self> {
        let counters = PyDict::new(py);
        for counter in Counter::ALL {
            counters.set_item(counter.name(), step.counter(counter))?;
        }
        Ok(Self {
            program: step.program.to_string(),
            step: step.step.to_string(),
            overlaps: step.overlaps,
            count: step.count,
            failures: step.failures.into_iter().collect(),
            examples: step.examples.into_iter().collect(),
            clocks: clocks(py, step.open, step.clocks)?.unbind(),
            counters: counters.unbind(),
        })
    }
}

/// The histograms by the names of their clocks.
fn clocks(py: Python<'_>, open: bool, recorded: [Hdr<u64>; Clock::COUNT]) -> PyResult<Bound<'_, PyDict>> {
    let recorded = recorded.into_iter().map(|times| {
        // Python may add other histograms to an empty histogram, so an empty histogram needs the usual
        // number of digits. The recorder's empty histogram may have fewer digits.
        let times = if times.is_empty() { Histogram::empty()? } else { Histogram::from(times) };
        Py::new(py, times)
    });
    let recorded = recorded.collect::<PyResult<Vec<_>>>()?;
    let clocks = PyDict::new(py);
    for clock in Clock::ALL {
        match clock.recorded(open) {
            // Two clocks with the same times share one object.
            Some(recorded_as) => clocks.set_item(clock.name(), &recorded[recorded_as.index()])?,
            None => clocks.set_item(clock.name(), Py::new(py, Histogram::empty()?)?)?,
        }
    }
    Ok(clocks)
}

#[pymethods]
impl Snapshot {
    fn __repr__(&self) -> String {
        let seconds = self.t1_ns.saturating_sub(self.t0_ns) as f64 / 1e9;
        format!("<Snapshot {seconds:.3} s, {} lanes, {} steps>", self.lanes, self.steps.len())
    }
}

#[pymethods]
impl StepStats {
    fn __repr__(&self) -> String {
        let failed: u64 = self.failures.values().sum();
        format!("<StepStats {}/{} n={} failed={failed}>", self.program, self.step, self.count)
    }
}
