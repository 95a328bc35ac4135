//! `EmbeddedServer`: the common part of the embedded servers in Python.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::errors::error_of;
use crate::kind::Kind;

/// A running server; dropping it closes every connection and ends the threads.
pub trait Serving: Send {
    /// The CA certificate in PEM, if the server made its own certificate authority at its start.
    fn made_ca(&self) -> Option<&str>;
    /// The counters with their names.
    fn counters(&self) -> Vec<(&'static str, u64)>;
    /// Names that clients have requested and the server does not have.
    fn unknown_names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A server, served by threads of this process: the base of `Directory`, `Site` and `WebServer`.
#[pyclass(frozen, subclass, module = "sitebench._engine")]
pub struct EmbeddedServer {
    name: &'static str,
    addr: SocketAddr,
    /// `None` once the server is stopped.
    running: Mutex<Option<Box<dyn Serving>>>,
}

impl EmbeddedServer {
    pub fn new(name: &'static str, addr: SocketAddr, running: impl Serving + 'static) -> Self {
        Self { name, addr, running: Mutex::new(Some(Box::new(running))) }
    }

    fn running(&self) -> MutexGuard<'_, Option<Box<dyn Serving>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl EmbeddedServer {
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
        self.running().as_ref().and_then(|running| running.made_ca()).map(str::to_owned)
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        // Detached from the interpreter, because this call may have to wait for the store's lock.
        let counters = py.detach(|| self.running().as_ref().map(|running| running.counters()));
        let stopped = || {
            let name = self.name.to_lowercase();
            error_of(Kind::BadInput, format!("the {name} is stopped; start a new one"))
        };
        counters.ok_or_else(stopped)?.into_py_dict(py)
    }

    fn unknown_names(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.running().as_ref().map(|running| running.unknown_names())).unwrap_or_default()
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| {
            let running = self.running().take();
            drop(running);
        });
    }

    fn __repr__(&self) -> String {
        format!("<{} {}>", self.name, self.addr)
    }
}
