//! `Site`: the personalized site.

use ::site::Config;
use ::site::upd::Manifest;
use pyo3::PyClassInitializer;
use pyo3::prelude::*;

use crate::config;
use crate::embedded::EmbeddedServer;
use crate::errors::engine_error;
use crate::upd::expected;

/// The personalized site, served by threads of this process from a user-property database (UPD).
///
/// `config_json` is a `site::Config`. `expected_json` has "size" and "digest", both optional: the
/// expected manifest of the UPD. `stop` also stores pending changes; afterwards the database is a
/// single file again.
#[pyclass(frozen, extends = EmbeddedServer, module = "sitebench._engine")]
pub struct Site {
    manifest: Manifest,
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
        let (addr, made_ca) = (running.addr(), running.made_ca().map(str::to_owned));
        let counts = move || (running.stats().named(), Vec::new());
        Ok(PyClassInitializer::from(EmbeddedServer::new("Site", addr, made_ca, counts))
            .add_subclass(Self { manifest }))
    }

    /// The manifest of the UPD, as `inspect_upd` returns it.
    fn manifest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        config::to_python(py, &self.manifest)
    }
}
