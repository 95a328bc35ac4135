//! The floor: the exchange rate of two raw loops on this machine (method rule 8).

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use floor::{Load, Sizes};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::errors::engine_error;

/// The floor's server: answers every `request_bytes` bytes with `response_bytes` bytes, without reading the
/// content of requests. Run it in its own process. Otherwise its CPU time counts as the load generator's.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct NullResponder {
    address: SocketAddr,
    /// `None` once the server is stopped.
    running: Mutex<Option<floor::NullResponder>>,
}

#[pymethods]
impl NullResponder {
    #[new]
    #[pyo3(signature = (request_bytes, response_bytes, port=0))]
    fn new(request_bytes: usize, response_bytes: usize, port: u16) -> PyResult<Self> {
        let sizes = Sizes { request: request_bytes, response: response_bytes };
        let running = floor::NullResponder::start(sizes, port).map_err(engine_error)?;
        Ok(Self { address: running.address(), running: Mutex::new(Some(running)) })
    }

    /// The port on 127.0.0.1.
    #[getter]
    fn port(&self) -> u16 {
        self.address.port()
    }

    /// Stops answering and ends the thread. Another call does nothing.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(running) = running {
                running.stop();
            }
        });
    }

    fn __repr__(&self) -> String {
        format!("<NullResponder {}>", self.address)
    }
}

/// Exchanges bytes with a `NullResponder` as fast as one thread can, over open connections, or with
/// `reconnects` over a new connection for each operation. In place of a `NullResponder`, any server
/// can be used that answers this request with `response_bytes` bytes.
///
/// Returns operations, seconds, cpu_ns of this side's thread, and p50_ns, p99_ns and max_ns of the first
/// connection's operations.
#[pyfunction]
#[pyo3(signature = (port, connections, seconds, request, response_bytes, *, reconnects=false))]
pub fn floor_exchange(
    py: Python<'_>,
    port: u16,
    connections: usize,
    seconds: f64,
    request: Vec<u8>,
    response_bytes: usize,
    reconnects: bool,
) -> PyResult<Bound<'_, PyDict>> {
    let duration = Duration::try_from_secs_f64(seconds)
        .map_err(|error| PyValueError::new_err(format!("seconds is {seconds}: {error}")))?;
    let target = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let load = Load { target, connections, duration, request, response: response_bytes, reconnects };
    let measured = py.detach(|| floor::exchange(&load)).map_err(engine_error)?;
    let at = |q| measured.latency.value_at_quantile(q) as f64;
    [
        ("operations", measured.operations as f64),
        ("seconds", measured.elapsed_ns as f64 / 1e9),
        ("cpu_ns", measured.cpu_ns as f64),
        ("p50_ns", at(0.5)),
        ("p99_ns", at(0.99)),
        ("max_ns", measured.latency.max() as f64),
    ]
    .into_py_dict(py)
}
