//! JSON texts from Python and to Python.

use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::errors::{engine_error, error_of};
use crate::kind::Kind;

/// Reads a configuration; `what` names it in the message.
///
/// A program wrote the text in one line, so the position of an error would only mislead.
pub fn parse<T: DeserializeOwned>(what: &str, json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| {
        let text = error.to_string();
        let problem = text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem);
        error_of(Kind::BadInput, format!("not the configuration of {what}: {problem}"))
    })
}

/// A value as Python reads its JSON.
pub fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(engine_error)?;
    py.import("json")?.call_method1("loads", (text,))
}
