//! Adds, deletes and reads people of a live directory.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use seeding::{Progress, SeedingError};

use crate::config;
use crate::contents::Contents;
use crate::errors::engine_error;
use crate::population::Population;
use crate::progress::tell;

/// Adds people [start, stop) to a live directory, pipelined; returns the number of people that were missing.
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
    let people = population.people();
    Ok(run(py, progress, |tell| seeding::seed(&config, &people, start..stop, tell))?.changed)
}

/// Deletes people [start, stop) from a live directory, pipelined; returns the number of people that existed.
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
    let people = population.people();
    Ok(run(py, progress, |tell| seeding::remove(&config, &people, start..stop, tell))?.changed)
}

/// The key of the first of people [start, stop) that exists in a live directory.
#[pyfunction]
pub fn first_person(
    py: Python<'_>,
    config_json: &str,
    population: &Population,
    start: u64,
    stop: u64,
) -> PyResult<Option<u64>> {
    let config = config::parse("a live directory", config_json)?;
    let people = population.people();
    run(py, None, |tell| seeding::first(&config, &people, start..stop, tell))
}

/// The number of the population's people in a live directory, from the first on without a gap.
#[pyfunction]
pub fn count_people(py: Python<'_>, config_json: &str, population: &Population) -> PyResult<u64> {
    let config = config::parse("a live directory", config_json)?;
    let people = population.people();
    py.detach(|| seeding::count(&config, &people, people.spec().size)).map_err(engine_error)
}

/// Reads all people below the population's base in a live directory.
#[pyfunction]
#[pyo3(signature = (config_json, population, progress=None))]
pub fn read_people(
    py: Python<'_>,
    config_json: &str,
    population: &Population,
    progress: Option<Py<PyAny>>,
) -> PyResult<Contents> {
    let config = config::parse("a live directory", config_json)?;
    let people = population.people();
    run(py, progress, |tell| seeding::contents(&config, &people, tell)).map(Contents)
}

/// Works detached from the interpreter. Python's signal handlers, such as the handler of Ctrl-C, run at each
/// progress report.
pub fn run<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(Progress<'_>) -> Result<T, SeedingError> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let report = py.detach(|| {
        work(&mut |done| match tell(progress.as_ref(), done) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                raised = Some(error);
                ControlFlow::Break(())
            }
        })
    });
    if let Some(error) = raised {
        return Err(error);
    }
    if matches!(report, Err(SeedingError::Interrupted)) {
        // A signal has ended a wait after the last progress report, so its handler has not run yet.
        py.check_signals()?;
    }
    report.map_err(engine_error)
}
