//! `Visitors`: people as visitors of a site, a pure function of (seed, i).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use people::visitor::{Visitor, Visitors as People};
use pyo3::prelude::*;
use pyo3::types::PyDict;
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
    fn visitor<'py>(&self, py: Python<'py>, i: u64) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.0.visitor(i))
    }

    fn __repr__(&self) -> String {
        format!("<Visitors seed={}>", self.0.seed())
    }
}

fn dict<'py>(py: Python<'py>, visitor: &Visitor) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("id", visitor.id)?;
    for (name, text) in [
        ("name", &visitor.name),
        ("given", &visitor.given),
        ("family", &visitor.family),
        ("mail", &visitor.mail),
        ("city", &visitor.city),
        ("country", &visitor.country),
        ("language", &visitor.language),
        ("occupation", &visitor.occupation),
        ("company", &visitor.company),
        ("background", &visitor.background),
        ("accent", &visitor.accent),
    ] {
        dict.set_item(name, text)?;
    }
    for (name, json) in
        [("sections", &visitor.sections), ("interests", &visitor.interests), ("stocks", &visitor.stocks)]
    {
        let items: Vec<String> = serde_json::from_str(json).map_err(engine_error)?;
        dict.set_item(name, items)?;
    }
    dict.set_item("birth_year", visitor.birth_year)?;
    dict.set_item("newsletter", visitor.newsletter)?;
    dict.set_item("visits", visitor.visits)?;
    dict.set_item("last_visit", visitor.last_visit)?;
    Ok(dict)
}
