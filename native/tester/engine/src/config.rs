//! Configurations from Python as JSON texts.

use serde::de::DeserializeOwned;

use crate::errors::error_of;
use crate::kind::Kind;

/// Reads a configuration; `what` names it in the message.
///
/// A program wrote the text in one line, so the position of an error would only mislead.
pub fn parse<T: DeserializeOwned>(what: &str, json: &str) -> pyo3::PyResult<T> {
    serde_json::from_str(json).map_err(|error| {
        let text = error.to_string();
        let problem = text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem);
        error_of(Kind::BadInput, format!("not the configuration of {what}: {problem}"))
    })
}
