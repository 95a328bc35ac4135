//! The one exception of the face.

use pyo3::exceptions::PyException;

pyo3::create_exception!(
    sitebench._engine,
    EngineError,
    PyException,
    "The engine refused or failed; the message says what, to what, and what to do."
);

/// Turns an engine crate's error into `EngineError` with the same words.
///
/// The crates' messages already say what happened, to what, and what to do: nothing is added.
pub fn engine_error(error: impl std::fmt::Display) -> pyo3::PyErr {
    EngineError::new_err(error.to_string())
}
