//! `WebServer`, which serves files, generated pages and CGI programs, and the CGI program of the workloads.

use ::web::Config;
use pyo3::PyClassInitializer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::config;
use crate::embedded::EmbeddedServer;
use crate::errors::engine_error;

/// The embedded web server, served by threads of this process. `config_json` is a `web::Config`.
#[pyclass(frozen, extends = EmbeddedServer, module = "sitebench._engine")]
pub struct WebServer;

#[pymethods]
impl WebServer {
    #[new]
    fn new(py: Python<'_>, config_json: &str) -> PyResult<PyClassInitializer<Self>> {
        let config: Config = config::parse("a web server", config_json)?;
        let running = py.detach(|| ::web::start(config)).map_err(engine_error)?;
        let (addr, made_ca) = (running.addr(), running.made_ca().map(str::to_owned));
        let counts = move || (running.stats().named(), Vec::new());
        Ok(PyClassInitializer::from(EmbeddedServer::new("Web server", addr, made_ca, counts))
            .add_subclass(Self))
    }
}

/// The program of the CGI workloads, an executable for this machine. Its query decides the answer:
/// `size` bytes of `kind=constant|random`, or the environment.
#[pyfunction]
pub fn cgi_program(py: Python<'_>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, include_bytes!(concat!(env!("OUT_DIR"), "/sitebench-cgi")))
}
