//! `Site`: the personalized site.

use ::site::upd::Manifest;
use ::site::{Config, Running};
use pyo3::PyClassInitializer;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::config;
use crate::embedded::{EmbeddedServer, Serving};
use crate::errors::engine_error;
use crate::upd::{expected, manifest_dict};

/// The personalized site, served by threads of this process from a UPD.
#[pyclass(frozen, extends = EmbeddedServer, module = "sitebench._engine")]
pub struct Site {
    manifest: Manifest,
}

impl Serving for Running {
    fn made_ca(&self) -> Option<&str> {
        Running::made_ca(self)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.stats().named()
    }
}

#[pymethods]
impl Site {
    #[new]
    #[pyo3(signature = (config_json, expected_json=None))]
    fn new(
        py: Python<'_>,
        config_json: &str,
        expected_json: Option<&str>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let config: Config = config::parse("a site", config_json)?;
        let expected = expected(expected_json)?;
        let running = py.detach(|| ::site::start(config, &expected)).map_err(engine_error)?;
        let manifest = running.manifest().clone();
        Ok(PyClassInitializer::from(EmbeddedServer::new("Site", running.addr(), running))
            .add_subclass(Self { manifest }))
    }

    fn manifest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        manifest_dict(py, &self.manifest)
    }
}
