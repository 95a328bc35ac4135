//! `EmbeddedServer`: the common part of the embedded servers in Python.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::errors::error_of;
use crate::kind::Kind;

/// The counters of a server with their names, and names that clients have requested and the server does not have.
type Counts = (Vec<(&'static str, u64)>, Vec<String>);

/// A server, served by threads of this process: the base of `Directory`, `Site` and `WebServer`.
#[pyclass(frozen, subclass, module = "sitebench._engine")]
pub struct EmbeddedServer {
    name: &'static str,
    addr: SocketAddr,
    made_ca: Option<String>,
    /// Owns the running server; `None` once the server is stopped.
    counts: Mutex<Option<Box<dyn Fn() -> Counts + Send>>>,
}

impl EmbeddedServer {
    /// `counts` owns the running server. Dropping it closes every connection and ends the threads.
    pub fn new(
        name: &'static str,
        addr: SocketAddr,
        made_ca: Option<String>,
        counts: impl Fn() -> Counts + Send + 'static,
    ) -> Self {
        Self { name, addr, made_ca, counts: Mutex::new(Some(Box::new(counts))) }
    }

    fn counts(&self) -> Option<Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|counts| counts())
    }
}

#[pymethods]
impl EmbeddedServer {
    /// The port that the server listens on.
    #[getter]
    fn port(&self) -> u16 {
        self.addr.port()
    }

    /// Host and port, with a colon between them.
    #[getter]
    fn address(&self) -> String {
        self.addr.to_string()
    }

    /// The CA certificate in PEM, if the server made its own certificate authority at its start.
    #[getter]
    fn made_ca(&self) -> Option<&str> {
        self.made_ca.as_deref()
    }

    /// The counters: connections, bytes_in, and the counters of the protocol.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        // Detached from the interpreter, because this call may have to wait for the store's lock.
        let counts = py.detach(|| self.counts());
        let stopped = || {
            let name = self.name.to_lowercase();
            error_of(Kind::BadInput, format!("the {name} is stopped; start a new one"))
        };
        counts.ok_or_else(stopped)?.0.into_py_dict(py)
    }

    /// Names that clients have requested from a domain of Active Directory and that it does not have.
    fn unknown_names(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.counts()).unwrap_or_default().1
    }

    /// Closes every connection and ends the threads. Another call does nothing.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| {
            let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner).take();
            drop(counts);
        });
    }

    fn __repr__(&self) -> String {
        format!("<{} {}>", self.name, self.addr)
    }
}
