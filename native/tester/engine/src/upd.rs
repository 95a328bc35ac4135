//! `build_upd`, `inspect_upd` and `copy_upd`: user-property databases as files.

use std::path::{Path, PathBuf};

use ::site::upd;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::config;
use crate::errors::engine_error;
use crate::progress::run;
use crate::visitors;

/// The people of a database.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    seed: u64,
    size: u64,
    locales: Vec<String>,
}

/// The expected properties of a database.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Expected {
    size: Option<u64>,
    digest: Option<String>,
}

/// Writes a user-property database (UPD) and returns its manifest. `spec_json` has "seed", "size" and
/// "locales". An existing file at `path` is replaced in one step at the end, and stays if anything fails.
/// `progress` gets the number of people so far.
#[pyfunction]
#[pyo3(signature = (path, pools_path, spec_json, progress=None))]
pub fn build_upd<'py>(
    py: Python<'py>,
    path: PathBuf,
    pools_path: PathBuf,
    spec_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Spec { seed, size, locales } = config::parse("a user-property database", spec_json)?;
    let visitors = py.detach(|| visitors::read(&pools_path, seed, &locales))?;
    let manifest = run(py, progress, |tell| upd::build(&path, &visitors, size, tell))?;
    config::to_python(py, &manifest)
}

/// The manifest of a UPD: schema_version, seed, size, population, pools and digest. Raises EngineError for
/// another file, another version, or a UPD that is not the expected one.
#[pyfunction]
#[pyo3(signature = (path, expected_json=None))]
pub fn inspect_upd<'py>(
    py: Python<'py>,
    path: PathBuf,
    expected_json: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let expected = expected(expected_json)?;
    let manifest = py.detach(|| upd::inspect(&path, &expected)).map_err(engine_error)?;
    config::to_python(py, &manifest)
}

/// Replaces a UPD by a copy of another UPD, in one step; refuses a UPD that is served. Returns the size in
/// bytes.
#[pyfunction]
pub fn copy_upd(py: Python<'_>, source: PathBuf, target: PathBuf) -> PyResult<u64> {
    let copy = |from: &Path, to: &Path| upd::copy(from, to);
    py.detach(|| copy(&source, &target)).map_err(engine_error)
}

/// Reads the expected properties. Without a text, any database is accepted.
pub fn expected(json: Option<&str>) -> PyResult<upd::Expected> {
    let read = json.map(|json| config::parse("what a user-property database must be", json)).transpose()?;
    let Expected { size, digest } = read.unwrap_or_default();
    Ok(upd::Expected { size, digest })
}
