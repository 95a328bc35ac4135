//! `Site`: the personalized site.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::site::{Config, Running};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::config;
use crate::errors::{engine_error, error_of};
use crate::kind::Kind;
use crate::upd::{expected, manifest_dict};

/// The personalized site, served by threads of this process from a UPD.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Site {
    addr: SocketAddr,
    manifest: ::site::upd::Manifest,
    /// Nothing once it is stopped.
    running: Mutex<Option<Running>>,
}

impl Site {
    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Site {
    #[new]
    #[pyo3(signature = (config_json, expected_json=None))]
    fn new(py: Python<'_>, config_json: &str, expected_json: Option<&str>) -> PyResult<Self> {
        let config: Config = config::parse("a site", config_json)?;
        let expected = expected(expected_json)?;
        let running = py.detach(|| ::site::start(config, &expected)).map_err(engine_error)?;
        let (addr, manifest) = (running.addr(), running.manifest().clone());
        Ok(Self { addr, manifest, running: Mutex::new(Some(running)) })
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
        self.running().as_ref().and_then(Running::made_ca).map(str::to_owned)
    }

    fn manifest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        manifest_dict(py, &self.manifest)
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = py.detach(|| self.running().as_ref().map(Running::stats));
        let stopped = || error_of(Kind::BadInput, "the site is stopped; start a new one");
        let stats = stats.ok_or_else(stopped)?;
        stats.named().into_py_dict(py)
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| {
            let running = self.running().take();
            if let Some(running) = running {
                running.stop();
            }
        });
    }

    fn __repr__(&self) -> String {
        format!("<Site {}>", self.addr)
    }
}
