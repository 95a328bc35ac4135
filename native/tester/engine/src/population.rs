//! `Population`: people as a pure function of (seed, i).

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use people::{ContainersError, Population as People, Spec, contents, ldif};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};

use crate::answer::Answers;
use crate::config;
use crate::contents::Contents;
use crate::errors::engine_error;
use crate::pools;
use crate::progress::tell;

/// People as a pure function of (seed, i). `i` may exceed `size`, which is the number of seeded people.
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

    #[getter]
    fn size(&self) -> u64 {
        self.0.spec().size
    }

    #[getter]
    fn naming(&self) -> &'static str {
        self.0.spec().profile.naming()
    }

    #[getter]
    fn digest(&self) -> String {
        self.0.digest()
    }

    #[getter]
    fn spec_json(&self) -> PyResult<String> {
        serde_json::to_string(self.0.spec()).map_err(engine_error)
    }

    fn name(&self, i: u64) -> PyResult<String> {
        let mut name = Vec::new();
        self.0.write_name(i, &mut name);
        String::from_utf8(name).map_err(engine_error)
    }

    fn password(&self, i: u64) -> PyResult<String> {
        let mut password = Vec::new();
        self.0.write_password(i, &mut password);
        String::from_utf8(password).map_err(engine_error)
    }

    fn dn(&self, i: u64) -> PyResult<String> {
        let mut dn = Vec::new();
        self.0.write_dn(i, &mut dn);
        String::from_utf8(dn).map_err(engine_error)
    }

    fn entry<'py>(&self, py: Python<'py>, i: u64) -> PyResult<(String, Bound<'py, PyDict>)> {
        Ok((self.dn(i)?, self.0.attributes(i).into_py_dict(py)?))
    }

    /// The number of slow hashes to compute, and the number of computed hashes so far. Hashes are computed in
    /// the order of people.
    #[getter]
    fn slow_hashes(&self) -> (u64, u64) {
        (self.0.slow_hashes(), self.0.hashes().count() as u64)
    }

    fn hashes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let lines = self.0.hashes().flat_map(|value| [value, b"\n"]);
        PyBytes::new(py, &lines.collect::<Vec<_>>().concat())
    }

    fn take_hashes(&self, py: Python<'_>, text: &[u8]) {
        py.detach(|| self.0.take_hashes(text.split(|byte| *byte == b'\n')));
    }

    #[pyo3(signature = (threads, progress=None))]
    fn make_hashes(&self, py: Python<'_>, threads: usize, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let mut raised = None;
        let result = py.detach(|| {
            self.0.make_hashes(threads, |done| match tell(progress.as_ref(), done) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            })
        });
        match raised {
            Some(error) => Err(error),
            None => result.map_err(engine_error),
        }
    }

    fn index_of(&self, name: &str) -> Option<u64> {
        self.0.index_of(name.as_bytes())
    }

    fn answer_bytes(&self, i: u64) -> u64 {
        Answers::default().size(&self.0, i)
    }

    fn encoded_answer_bytes(&self, py: Python<'_>, start: u64, stop: u64) -> u64 {
        py.detach(|| {
            let mut answers = Answers::default();
            (start..stop).map(|i| answers.size(&self.0, i)).sum()
        })
    }

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

    fn contents(&self, py: Python<'_>, start: u64, stop: u64) -> Contents {
        py.detach(|| Contents(contents::Contents::of(&self.0, start..stop)))
    }

    fn __repr__(&self) -> String {
        let Spec { seed, size, profile, .. } = self.0.spec();
        format!("<Population seed={seed} size={size} profile={}>", profile.as_str())
    }
}
