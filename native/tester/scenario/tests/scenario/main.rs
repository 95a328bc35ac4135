//! Valid scenarios, and refused scenarios.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "only tests are in here")]

mod any_text;
mod examples;
mod refusals;
mod schema;
mod secrets;
mod types;

use std::fs;
use std::path::PathBuf;

use scenario::{Data, Rows};

/// The folder of the examples and their data files.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/files")
}

/// Returns the first line of a data file, like the caller of the reader.
fn header(data: &Data) -> Option<Vec<String>> {
    let Rows::File { path, separator, header: true } = &data.rows else { return None };
    let text = fs::read_to_string(folder().join(path)).ok()?;
    Some(text.lines().next()?.split(*separator).map(str::to_owned).collect())
}
