//! `Contents` and `LdifCount`: the number of people, and a digest of their attributes.

use people::contents;
use pyo3::prelude::*;

use crate::errors::engine_error;
use crate::profile::profile_named;

/// The number of people, and a digest that is equal for equal people, whatever place, order and spelling they
/// have. The digest is the sum modulo 2^256 of each person's SHA-256; docs/test-directories.md defines it.
#[pyclass(frozen, eq, module = "sitebench._engine")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Contents(pub contents::Contents);

#[pymethods]
impl Contents {
    /// The number of people.
    #[getter]
    fn people(&self) -> u64 {
        self.0.people
    }

    /// 64 hexadecimal digits.
    #[getter]
    fn digest(&self) -> String {
        self.0.to_string()
    }

    fn __add__(&self, other: &Self) -> Self {
        let mut sum = self.0;
        sum.merge(&other.0);
        Self(sum)
    }

    fn __repr__(&self) -> String {
        format!("<Contents people={} digest={}>", self.0.people, self.0)
    }
}

/// Counts the people of a profile in an LDIF file of any origin, piece by piece.
#[pyclass(module = "sitebench._engine")]
pub struct LdifCount(contents::LdifCount);

#[pymethods]
impl LdifCount {
    #[new]
    #[pyo3(signature = (profile="paper"))]
    fn new(profile: &str) -> PyResult<Self> {
        profile_named(profile).map(contents::LdifCount::of).map(Self)
    }

    /// Takes the next bytes, cut anywhere. Raises EngineError that names the line.
    fn feed(&mut self, py: Python<'_>, piece: &[u8]) -> PyResult<()> {
        py.detach(|| self.0.feed(piece)).map_err(engine_error)
    }

    /// The number of people so far.
    #[getter]
    fn people(&self) -> u64 {
        self.0.people()
    }

    /// The contents of the file, after its last byte.
    fn finish(&mut self) -> PyResult<Contents> {
        self.0.finish().map(Contents).map_err(engine_error)
    }
}
