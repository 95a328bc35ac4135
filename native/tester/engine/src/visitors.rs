//! `Visitors`: people as visitors of a site, a pure function of (seed, i).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use people::visitor::Visitors as People;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::config;
use crate::errors::engine_error;
use crate::pools;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    seed: u64,
    locales: Vec<String>,
}

/// People as visitors of a personalized site: the same people, with more properties. Their number is
/// unlimited. `spec_json` has "seed" and "locales".
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Visitors(Arc<People>);

impl Visitors {
    pub fn people(&self) -> Arc<People> {
        Arc::clone(&self.0)
    }
}

/// Makes visitors of a pools file.
pub fn read(pools_path: &Path, seed: u64, locales: &[String]) -> PyResult<People> {
    let pools = pools::read(pools_path)?;
    People::new(&pools, seed, locales).map_err(engine_error)
}

#[pymethods]
impl Visitors {
    #[new]
    fn new(py: Python<'_>, pools_path: PathBuf, spec_json: &str) -> PyResult<Self> {
        let Spec { seed, locales } = config::parse("visitors", spec_json)?;
        py.detach(|| read(&pools_path, seed, &locales)).map(Arc::new).map(Visitors)
    }

    /// Identity of the visitors: seed, locales, pools and lists.
    #[getter]
    fn digest(&self) -> String {
        self.0.digest()
    }

    /// Every property of visitor `i`, `id` among them, as the database has them.
    fn visitor<'py>(&self, py: Python<'py>, i: u64) -> PyResult<Bound<'py, PyAny>> {
        let mut visitor = serde_json::to_value(self.0.visitor(i)).map_err(engine_error)?;
        for list in ["sections", "interests", "stocks"] {
            if let Some(json) = visitor[list].as_str() {
                visitor[list] = serde_json::from_str(json).map_err(engine_error)?;
            }
        }
        config::to_python(py, &visitor)
    }

    fn __repr__(&self) -> String {
        format!("<Visitors seed={}>", self.0.seed())
    }
}
