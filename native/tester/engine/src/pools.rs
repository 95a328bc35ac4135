//! Reading a pools file.

use std::path::Path;

use people::Pools;
use pyo3::PyResult;

use crate::errors::{engine_error, error_of};
use crate::kind::Kind;

pub fn read(path: &Path) -> PyResult<Pools> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let path = path.display();
        error_of(
            Kind::BadFile,
            format!("cannot read the pools file {path}: {error}; remove it, and it is made again"),
        )
    })?;
    Pools::parse(&text).map_err(engine_error)
}
