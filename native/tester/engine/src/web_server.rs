//! `WebServer`, which serves files, generated pages and CGI programs, and the CGI program of the workloads.

use ::web::{Config, Running};
use pyo3::PyClassInitializer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::config;
use crate::embedded::{EmbeddedServer, Serving};
use crate::errors::engine_error;

/// The embedded web server, served by threads of this process.
#[pyclass(frozen, extends = EmbeddedServer, module = "sitebench._engine")]
pub struct WebServer;

impl Serving for Running {
    fn made_ca(&self) -> Option<&str> {
        Running::made_ca(self)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.stats().named()
    }
}

#[pymethods]
impl WebServer {
    #[new]
    fn new(py: Python<'_>, config_json: &str) -> PyResult<PyClassInitializer<Self>> {
        let config: Config = config::parse("a web server", config_json)?;
        let running = py.detach(|| ::web::start(config)).map_err(engine_error)?;
        Ok(PyClassInitializer::from(EmbeddedServer::new("Web server", running.addr(), running))
            .add_subclass(Self))
    }
}

/// The program of the CGI workloads, built with the engine.
#[pyfunction]
pub fn cgi_program(py: Python<'_>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, include_bytes!(concat!(env!("OUT_DIR"), "/sitebench-cgi")))
}
