//! A request and its answer in words.

use std::fmt;

/// A request and its answer for readers, with names in place of secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The request in one line.
    pub request: String,
    pub rest: String,
    /// The answer in words; empty without an answer.
    pub answer: String,
    /// The answer's code, by its name or its number.
    pub code: Option<String>,
    /// The target's message with the code.
    pub diagnostic: Option<String>,
    /// The user's number and the number of its iteration, from 1.
    pub user: Option<u64>,
    pub iteration: Option<u64>,
    /// The rows of the request, counted from 1, with the names of their data.
    pub rows: Vec<(String, u64)>,
    /// The captured values by name; secret values are omitted.
    pub captured: Vec<(String, Option<String>)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { request, answer, .. } = self;
        if answer.is_empty() { f.write_str(request) } else { write!(f, "{request}: {answer}") }
    }
}
