//! `Scenario`: a scenario file, read.

use std::collections::HashMap;

use pyo3::prelude::*;
use scenario::Data;

use crate::errors::error_of;
use crate::kind::Kind;

/// A scenario file, read and checked; what commands have to know of it is JSON.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Scenario {
    #[pyo3(get)]
    facts: String,
}

#[pymethods]
impl Scenario {
    #[new]
    #[pyo3(signature = (text, columns=None))]
    fn new(text: &str, columns: Option<HashMap<String, Vec<String>>>) -> PyResult<Self> {
        let columns = columns.unwrap_or_default();
        let known = |data: &Data| columns.get(&data.name).cloned();
        let scenario = scenario::read_with(text, &known)
            .map_err(|problems| error_of(Kind::BadFile, problems.to_string()))?;
        Ok(Self { facts: scenario.facts().to_string() })
    }
}

/// The JSON Schema of scenario files.
#[pyfunction]
pub fn scenario_schema() -> String {
    format!("{:#}", scenario::schema())
}
