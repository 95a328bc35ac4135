//! Hashes of passwords, by their names.

use ::hashes::Hash;
use pyo3::prelude::*;

use crate::errors::engine_error;

/// The canonical name of a hash, the prefix of its stored values, whether it is slow, and its memory in
/// bytes.
#[pyfunction]
pub fn hash_facts(hash: &str) -> PyResult<(String, &'static str, bool, u64)> {
    let hash: Hash = hash.parse().map_err(engine_error)?;
    Ok((hash.to_string(), hash.scheme(), hash.is_slow(), hash.memory_bytes()))
}

/// The embedded directory's upper estimate of the CPU time for checking a password of this length;
/// 0 for a hash that is not slow.
#[pyfunction]
pub fn hash_nanoseconds(hash: &str, password: usize) -> PyResult<u64> {
    let hash: Hash = hash.parse().map_err(engine_error)?;
    Ok(hash.nanoseconds(password))
}
