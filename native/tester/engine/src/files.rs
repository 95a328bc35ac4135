//! `FileSet` and `FileChecker`: a web server's files as a pure function of (spec, i).

use std::ops::ControlFlow;
use std::path::PathBuf;

use ::files::{Checker, File, FileSet as Files, Spec, fill, write};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::config;
use crate::errors::{engine_error, error_of};
use crate::kind::Kind;
use crate::progress::tell;

/// Path, size and content of a web server's files. Nothing is stored per file.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct FileSet(Files);

impl FileSet {
    fn file(&self, i: u64) -> PyResult<File<'_>> {
        self.0.file(i).ok_or_else(|| {
            let (name, count) = (&self.0.spec().name, self.0.count());
            error_of(Kind::BadInput, format!("file set {name} has {count} files, and no file {i}"))
        })
    }
}

#[pymethods]
impl FileSet {
    #[new]
    fn new(py: Python<'_>, spec_json: &str) -> PyResult<Self> {
        let spec: Spec = config::parse("a file set", spec_json)?;
        py.detach(|| Files::new(spec)).map(Self).map_err(engine_error)
    }

    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    #[getter]
    fn spec_json(&self) -> PyResult<String> {
        serde_json::to_string(self.0.spec()).map_err(engine_error)
    }

    fn path(&self, i: u64) -> PyResult<String> {
        Ok(self.file(i)?.path())
    }

    fn size(&self, i: u64) -> PyResult<u64> {
        Ok(self.file(i)?.size())
    }

    fn digest(&self, py: Python<'_>, i: u64) -> PyResult<String> {
        let file = self.file(i)?;
        let digest = py.detach(|| file.digest());
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn content<'py>(&self, py: Python<'py>, i: u64) -> PyResult<Bound<'py, PyBytes>> {
        let file = self.file(i)?;
        let size = usize::try_from(file.size())?;
        PyBytes::new_with(py, size, |content| {
            fill(file.key(), 0, content);
            Ok(())
        })
    }

    fn index_of(&self, path: &str) -> Option<u64> {
        self.0.index_of(path.as_bytes())
    }

    fn checker(&self, i: u64) -> PyResult<FileChecker> {
        Ok(FileChecker(self.file(i)?.checker()))
    }

    #[pyo3(signature = (docroot, progress=None))]
    fn write(&self, py: Python<'_>, docroot: PathBuf, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let mut raised = None;
        let written = py.detach(|| {
            write(&self.0, &docroot, &mut |done| match tell(progress.as_ref(), done) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            })
        });
        match raised {
            Some(error) => Err(error),
            None => written.map_err(engine_error),
        }
    }

    fn __repr__(&self) -> String {
        let (name, seed) = (&self.0.spec().name, self.0.spec().seed);
        format!("<FileSet {name} seed={seed} count={} bytes={}>", self.0.count(), self.0.bytes())
    }
}

/// Compares a body with its file piece by piece.
#[pyclass(module = "sitebench._engine")]
pub struct FileChecker(Checker);

#[pymethods]
impl FileChecker {
    fn feed(&mut self, py: Python<'_>, piece: &[u8]) -> bool {
        py.detach(|| self.0.feed(piece))
    }

    #[getter]
    fn fed(&self) -> u64 {
        self.0.fed()
    }

    fn finish(&self) -> Option<u64> {
        self.0.finish()
    }
}
