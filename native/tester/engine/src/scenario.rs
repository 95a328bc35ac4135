//! `Scenario`: a parsed scenario file.

use std::collections::HashMap;

use load::ScenarioSpec;
use pyo3::prelude::*;
use scenario::Data;

use crate::config;
use crate::errors::error_of;
use crate::kind::Kind;
use crate::table::{Table, tables as tables_of};

/// A scenario file, read and checked. An `EngineError` has a line for each problem.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Scenario {
    /// The facts of the scenario that commands need, as JSON.
    #[pyo3(get)]
    facts: String,
}

#[pymethods]
impl Scenario {
    #[new]
    #[pyo3(signature = (text, columns=None))]
    fn new(py: Python<'_>, text: &str, columns: Option<HashMap<String, Vec<String>>>) -> PyResult<Self> {
        let columns = columns.unwrap_or_default();
        let columns_of = |data: &Data| columns.get(&data.name).cloned();
        // Detached, so that other threads and signal handlers can run.
        let facts = py.detach(|| Ok(scenario::read_with(text, &columns_of)?.facts().to_string()));
        facts
            .map(|facts| Self { facts })
            .map_err(|problems: scenario::Problems| error_of(Kind::BadFile, problems.to_string()))
    }
}

/// Raises if no lane could run the scenario. Returns the step that counts as an operation; None if the
/// scenario's operations have counted steps of their own. `spec_json` is a `load::ScenarioSpec`, and `tables`
/// have its data.
#[pyfunction]
pub fn check_scenario(
    py: Python<'_>,
    spec_json: &str,
    tables: HashMap<String, PyRef<'_, Table>>,
) -> PyResult<Option<String>> {
    let spec: ScenarioSpec = config::parse("a scenario", spec_json)?;
    let tables = tables_of(Some(tables));
    let counts = py.detach(|| load::check_scenario(&spec, &tables));
    counts.map_err(|problems| error_of(Kind::BadFile, problems.to_string()))
}

/// The JSON Schema of scenario files.
#[pyfunction]
pub fn scenario_schema() -> String {
    format!("{:#}", scenario::schema())
}
