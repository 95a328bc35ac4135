//! Hashes of passwords, by their names.

use ::hashes::Hash;
use pyo3::prelude::*;

use crate::errors::engine_error;

/// A hash as it is always written, what stored values of it begin with, whether it is slow, and its memory in bytes.
#[pyfunction]
pub fn hash_facts(hash: &str) -> PyResult<(String, &'static str, bool, u64)> {
    let hash: Hash = hash.parse().map_err(engine_error)?;
    Ok((hash.to_string(), hash.scheme(), hash.is_slow(), hash.memory_bytes()))
}

/// CPU that a check of a password of so many bytes takes at most, as the embedded directory estimates it.
#[pyfunction]
pub fn hash_nanoseconds(hash: &str, password: usize) -> PyResult<u64> {
    let hash: Hash = hash.parse().map_err(engine_error)?;
    Ok(hash.nanoseconds(password))
}
