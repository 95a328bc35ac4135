//! `Contents` and `LdifCount`: the number of people, and a digest of their attributes.

use people::contents;
use pyo3::prelude::*;

use crate::errors::engine_error;
use crate::profile::profile_named;

/// The number of people, and a digest that is equal for equal people.
#[pyclass(frozen, eq, module = "sitebench._engine")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Contents(pub contents::Contents);

#[pymethods]
impl Contents {
    #[getter]
    fn people(&self) -> u64 {
        self.0.people
    }

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

/// Counts the people of an LDIF file piece by piece.
#[pyclass(module = "sitebench._engine")]
pub struct LdifCount(contents::LdifCount);

#[pymethods]
impl LdifCount {
    #[new]
    #[pyo3(signature = (profile="paper"))]
    fn new(profile: &str) -> PyResult<Self> {
        profile_named(profile).map(contents::LdifCount::of).map(Self)
    }

    fn feed(&mut self, py: Python<'_>, piece: &[u8]) -> PyResult<()> {
        py.detach(|| self.0.feed(piece)).map_err(engine_error)
    }

    #[getter]
    fn people(&self) -> u64 {
        self.0.people()
    }

    fn finish(&mut self) -> PyResult<Contents> {
        self.0.finish().map(Contents).map_err(engine_error)
    }
}
