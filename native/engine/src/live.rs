//! `seed_directory` and `remove_people`: people into and out of a live directory.

use std::ops::{ControlFlow, Range};

use load::live::{self, Config, LiveError, Progress, Report};
use people::Population as People;
use pyo3::prelude::*;

use crate::config;
use crate::errors::engine_error;
use crate::population::Population;
use crate::progress::tell;

/// `load::live::seed` or `remove`.
type Work = fn(&Config, &People, Range<u64>, Progress<'_>) -> Result<Report, LiveError>;

/// Adds people [start, stop) to a live directory, pipelined; returns how many are there.
#[pyfunction]
#[pyo3(signature = (config_json, population, start, stop, progress=None))]
pub fn seed_directory(
    py: Python<'_>,
    config_json: &str,
    population: &Population,
    start: u64,
    stop: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let config = config::parse("a live directory", config_json)?;
    Ok(run(py, live::seed, &config, &population.people(), start..stop, progress)?.done)
}

/// Deletes people [start, stop) from a live directory, pipelined; returns how many were there.
#[pyfunction]
#[pyo3(signature = (config_json, population, start, stop, progress=None))]
pub fn remove_people(
    py: Python<'_>,
    config_json: &str,
    population: &Population,
    start: u64,
    stop: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let config = config::parse("a live directory", config_json)?;
    Ok(run(py, live::remove, &config, &population.people(), start..stop, progress)?.changed)
}

/// Works detached; each progress is a moment for Python's signal handlers, Ctrl-C among them.
fn run(
    py: Python<'_>,
    work: Work,
    config: &Config,
    people: &People,
    range: Range<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Report> {
    let mut raised = None;
    let report = py.detach(|| {
        work(config, people, range, &mut |done| match tell(progress.as_ref(), done) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                raised = Some(error);
                ControlFlow::Break(())
            }
        })
    });
    match raised {
        Some(error) => Err(error),
        None => report.map_err(engine_error),
    }
}
