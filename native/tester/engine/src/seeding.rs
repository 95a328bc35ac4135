//! Adds, deletes and reads people of a live directory.

use pyo3::prelude::*;

use crate::config;
use crate::contents::Contents;
use crate::errors::engine_error;
use crate::population::Population;
use crate::progress::run;

/// Adds people [start, stop) to a live directory, pipelined; returns the number of people that were missing.
///
/// `config_json` is a `seeding::Config`. Existing entries count as done, so another call resumes an
/// interrupted seeding. `progress` gets the number of people done without a gap.
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

/// Deletes people [start, stop) from a live directory, pipelined, with the configuration of `seed_directory`.
/// Returns the number of people that existed.
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

/// The key of the first of people [start, stop) that exists in a live directory, with the configuration of
/// `seed_directory`.
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

/// The number of the population's people in a live directory, from the first on without a gap, however the
/// seeding ended. The configuration is that of `seed_directory`.
#[pyfunction]
pub fn count_people(py: Python<'_>, config_json: &str, population: &Population) -> PyResult<u64> {
    let config = config::parse("a live directory", config_json)?;
    let people = population.people();
    py.detach(|| seeding::count(&config, &people, people.spec().size)).map_err(engine_error)
}

/// Reads all people below the population's base in a live directory, with the configuration of
/// `seed_directory`. `progress` gets the number of people so far.
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
