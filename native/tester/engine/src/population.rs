//! `Population`: people as a pure function of (seed, i).

use std::path::PathBuf;
use std::sync::Arc;

use people::{ContainersError, Population as People, Spec, contents, ldif};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};
use wire::ber;
use wire::ldap::answer::{Verdict, write_entry, write_result};
use wire::ldap::op;

use crate::config;
use crate::contents::Contents;
use crate::errors::engine_error;
use crate::pools;
use crate::progress::run;

/// People as a pure function of (seed, i). `i` may exceed `size`, which is the number of seeded people.
///
/// `pools_path` is a file of names and words. `spec_json` is a `people::Spec`.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Population(Arc<People>);

impl Population {
    /// The people, for servers and lanes to share.
    pub fn people(&self) -> Arc<People> {
        Arc::clone(&self.0)
    }
}

#[pymethods]
impl Population {
    #[new]
    fn new(py: Python<'_>, pools_path: PathBuf, spec_json: &str) -> PyResult<Self> {
        let spec: Spec = config::parse("a population", spec_json)?;
        py.detach(|| {
            let pools = pools::read(&pools_path)?;
            People::new(&pools, spec).map(Arc::new).map(Population).map_err(engine_error)
        })
    }

    /// The number of seeded people.
    #[getter]
    fn size(&self) -> u64 {
        self.0.spec().size
    }

    /// The attribute in the RDN, by which people are looked up.
    #[getter]
    fn naming(&self) -> &'static str {
        self.0.spec().profile.naming()
    }

    /// Identity of the population: its spec without size and base, and its pools.
    #[getter]
    fn digest(&self) -> String {
        self.0.digest()
    }

    /// The spec as the engine read it.
    #[getter]
    fn spec_json(&self) -> PyResult<String> {
        serde_json::to_string(self.0.spec()).map_err(engine_error)
    }

    /// The name of person `i`: the value in the RDN.
    fn name(&self, i: u64) -> PyResult<String> {
        let mut name = Vec::new();
        self.0.write_name(i, &mut name);
        String::from_utf8(name).map_err(engine_error)
    }

    /// The password of person `i`; empty if the profile has no passwords.
    fn password(&self, i: u64) -> PyResult<String> {
        let mut password = Vec::new();
        self.0.write_password(i, &mut password);
        String::from_utf8(password).map_err(engine_error)
    }

    /// The DN of person `i`, escaped per RFC 4514.
    fn dn(&self, i: u64) -> PyResult<String> {
        let mut dn = Vec::new();
        self.0.write_dn(i, &mut dn);
        String::from_utf8(dn).map_err(engine_error)
    }

    /// The DN and every attribute of person `i`.
    fn entry<'py>(&self, py: Python<'py>, i: u64) -> PyResult<(String, Bound<'py, PyDict>)> {
        Ok((self.dn(i)?, self.0.attributes(i).into_py_dict(py)?))
    }

    /// The number of slow hashes to compute, and the number of computed hashes so far. Hashes are computed in
    /// the order of people.
    #[getter]
    fn slow_hashes(&self) -> (u64, u64) {
        (self.0.slow_hashes(), self.0.hashes().count() as u64)
    }

    /// The slow hashes that are computed, one per line.
    fn hashes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let lines = self.0.hashes().flat_map(|value| [value, b"\n"]);
        PyBytes::new(py, &lines.collect::<Vec<_>>().concat())
    }

    /// Adopts the result of an earlier `hashes`, as far as its values can be hashes of these people.
    fn take_hashes(&self, py: Python<'_>, text: &[u8]) {
        py.detach(|| self.0.take_hashes(text.split(|byte| *byte == b'\n')));
    }

    /// Computes the missing slow hashes.
    #[pyo3(signature = (threads, progress=None))]
    fn make_hashes(&self, py: Python<'_>, threads: usize, progress: Option<Py<PyAny>>) -> PyResult<()> {
        run(py, progress, |tell| self.0.make_hashes(threads, tell))
    }

    /// The bytes of the answers to lookups of people [start, stop), each a SearchResultEntry and a
    /// SearchResultDone, with a message id of one byte.
    fn answer_bytes(&self, py: Python<'_>, start: u64, stop: u64) -> u64 {
        py.detach(|| {
            let (mut entry, mut dn, mut messages) = (Vec::new(), Vec::new(), Vec::new());
            let size = |i| {
                [&mut entry, &mut dn, &mut messages].into_iter().for_each(Vec::clear);
                self.0.write_dn(i, &mut dn);
                ber::write_octets(&mut entry, &dn);
                self.0.write_shown(i, &mut entry);
                write_entry(&mut messages, 1, &entry);
                write_result(&mut messages, 1, op::SEARCH_DONE, &Verdict::SUCCESS);
                messages.len() as u64
            };
            (start..stop).map(size).sum()
        })
    }

    /// People [start, stop) as LDIF (RFC 2849). `with_containers` puts the entries of the base DN first, so
    /// that the text loads into an empty directory.
    #[pyo3(signature = (start, stop, *, with_containers))]
    fn ldif<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        stop: u64,
        with_containers: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let text = py.detach(|| {
            let mut out = Vec::new();
            if with_containers {
                ldif::write_containers(&self.0, &mut out)?;
            }
            (start..stop).for_each(|i| ldif::write_person(&self.0, i, &mut out));
            Ok(out)
        });
        let text = text.map_err(|error: ContainersError| engine_error(error))?;
        Ok(PyBytes::new(py, &text))
    }

    /// The contents of a place that has exactly people [start, stop).
    fn contents(&self, py: Python<'_>, start: u64, stop: u64) -> Contents {
        py.detach(|| Contents(contents::Contents::of(&self.0, start..stop)))
    }

    fn __repr__(&self) -> String {
        let Spec { seed, size, profile, .. } = self.0.spec();
        format!("<Population seed={seed} size={size} profile={}>", profile.as_str())
    }
}
