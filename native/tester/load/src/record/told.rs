//! A request and its answer in words.

use std::fmt;

/// A request and its answer, for people who look into a failure: with names in place of secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// What was asked, in one line.
    pub asked: String,
    pub rest: String,
    /// What was answered, in words; empty without an answer.
    pub said: String,
    /// The answer's code, by its name or its number.
    pub code: Option<String>,
    /// What the target says to it.
    pub diagnostic: Option<String>,
    /// Whose request it was: the user's number and that of the iteration, from 1.
    pub user: Option<u64>,
    pub iteration: Option<u64>,
    /// The rows that it was about, from 1, by their data.
    pub rows: Vec<(String, u64)>,
    /// What was captured; nothing of what is secret.
    pub captured: Vec<(String, Option<String>)>,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, said, .. } = self;
        if said.is_empty() { f.write_str(asked) } else { write!(f, "{asked}: {said}") }
    }
}
