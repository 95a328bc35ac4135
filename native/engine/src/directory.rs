//! `Directory`: the embedded LDAP directory.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use ::directory::{Config, Running};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::config;
use crate::errors::{engine_error, error_of};
use crate::kind::Kind;
use crate::population::Population;

/// The embedded LDAP directory, served by threads of this process.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Directory {
    addr: SocketAddr,
    /// Nothing once it is stopped.
    running: Mutex<Option<Running>>,
}

#[pymethods]
impl Directory {
    #[new]
    #[pyo3(signature = (config_json, population=None))]
    fn new(py: Python<'_>, config_json: &str, population: Option<&Population>) -> PyResult<Self> {
        let config: Config = config::parse("a directory", config_json)?;
        let people = population.map(Population::people);
        let running = py.detach(|| ::directory::start(config, people)).map_err(engine_error)?;
        Ok(Self { addr: running.addr(), running: Mutex::new(Some(running)) })
    }

    #[getter]
    fn port(&self) -> u16 {
        self.addr.port()
    }

    #[getter]
    fn address(&self) -> String {
        self.addr.to_string()
    }

    #[getter]
    fn made_ca(&self) -> Option<String> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.as_ref().and_then(Running::made_ca).map(str::to_owned)
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = py.detach(|| {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.as_ref().map(Running::stats)
        });
        let stopped = || error_of(Kind::BadInput, "the directory is stopped; start a new one");
        let stats = stats.ok_or_else(stopped)?;
        stats.named().into_py_dict(py)
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(running) = running {
                running.stop();
            }
        });
    }

    fn __repr__(&self) -> String {
        format!("<Directory {}>", self.addr)
    }
}
