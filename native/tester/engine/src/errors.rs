//! The only exception of the module.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::kind::{Kind, Kinded};

pyo3::create_exception!(
    sitebench._engine,
    EngineError,
    PyException,
    "The engine refused or failed. The message names the problem, its place and the remedy.\n\n\
     `kind` is the name of the error's class in `sitebench.errors`."
);

/// Turns an engine crate's error into `EngineError` with the same message.
///
/// The message already names the problem, its place and the remedy.
pub fn engine_error(error: impl Kinded) -> PyErr {
    error_of(error.kind(), error.to_string())
}

pub fn error_of(kind: Kind, message: impl Into<String>) -> PyErr {
    let error = EngineError::new_err(message.into());
    let marked = Python::attach(|py| error.value(py).setattr("kind", format!("{kind:?}")));
    marked.err().unwrap_or(error)
}
