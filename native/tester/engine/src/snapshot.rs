//! `Snapshot` and `StepStats`: everything recorded between two drains.

use std::collections::BTreeMap;

use hdrhistogram::Histogram as Hdr;
use load::{Clock, Counter, Snapshot as Drained, StepSnapshot};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::histogram::Histogram;

/// A metric: `clock` or `counter`, its name, its unit, its meaning, and the influence of scenario keys on it.
type Metric = (&'static str, &'static str, &'static str, &'static str, &'static str);

/// The measured quantities of a step: its clocks, then its counters.
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
    t0_ns: u64,
    t1_ns: u64,
    cpu_ns: Vec<u64>,
    lanes: u64,
    lane_ns: u64,
    waiting_ns: u64,
    underway_ns: u64,
    backlog: u64,
    in_flight: u64,
    owed: u64,
    without_row: u64,
    row_wait_ns: u64,
    lost_rows: u64,
    lane_counts: Vec<u64>,
    log: Vec<String>,
    decks: Vec<(String, Vec<u64>, Vec<u64>)>,
    steps: Vec<Py<StepStats>>,
    late: Vec<Py<StepStats>>,
    older: Vec<Py<StepStats>>,
    spans: Vec<(u64, Py<StepStats>)>,
}

/// The records of one step of one program since the last drain.
#[pyclass(frozen, get_all, module = "sitebench._engine")]
pub struct StepStats {
    program: String,
    step: String,
    overlaps: bool,
    count: u64,
    failures: BTreeMap<String, u64>,
    examples: BTreeMap<String, String>,
    clocks: Py<PyDict>,
    counters: Py<PyDict>,
}

impl Snapshot {
    /// Converts the engine's snapshot. Histograms are moved, not copied.
    pub fn new(py: Python<'_>, drained: Drained) -> PyResult<Self> {
        let decks = drained.decks.into_iter();
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
            decks: decks.map(|deck| (deck.program.to_string(), deck.weights.into(), deck.dealt)).collect(),
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
