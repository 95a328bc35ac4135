//! `FileSet` and `FileChecker`: a web server's files as a pure function of (spec, i).

use std::path::PathBuf;

use ::files::{Checker, File, FileSet as Files, Spec, fill, write};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::config;
use crate::errors::{engine_error, error_of};
use crate::kind::Kind;
use crate::progress::run;

/// Path, size and content of a web server's files, by number. Nothing is stored per file. `spec_json` is a
/// `files::Spec`.
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

    /// The number of files.
    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    /// The sum of the sizes.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// The spec as the engine read it.
    #[getter]
    fn spec_json(&self) -> PyResult<String> {
        serde_json::to_string(self.0.spec()).map_err(engine_error)
    }

    /// The path of file `i`, which begins with a slash.
    fn path(&self, i: u64) -> PyResult<String> {
        Ok(self.file(i)?.path())
    }

    /// The size of file `i` in bytes.
    fn size(&self, i: u64) -> PyResult<u64> {
        Ok(self.file(i)?.size())
    }

    /// SHA-256 of the content of file `i`, in hexadecimal digits.
    fn digest(&self, py: Python<'_>, i: u64) -> PyResult<String> {
        let file = self.file(i)?;
        let digest = py.detach(|| file.digest());
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The whole content of file `i`.
    fn content<'py>(&self, py: Python<'py>, i: u64) -> PyResult<Bound<'py, PyBytes>> {
        let file = self.file(i)?;
        let size = usize::try_from(file.size())?;
        PyBytes::new_with(py, size, |content| {
            fill(file.key(), 0, content);
            Ok(())
        })
    }

    /// A checker that compares a body with the content of file `i`.
    fn checker(&self, i: u64) -> PyResult<FileChecker> {
        Ok(FileChecker(self.file(i)?.checker()))
    }

    /// Writes the files below a folder, and `<name>.manifest` with their sizes and digests.
    /// Existing files are kept, so another call resumes an interrupted writing. `progress` gets the
    /// number of bytes of complete files so far.
    #[pyo3(signature = (docroot, progress=None))]
    fn write(&self, py: Python<'_>, docroot: PathBuf, progress: Option<Py<PyAny>>) -> PyResult<()> {
        run(py, progress, |tell| write(&self.0, &docroot, tell))
    }

    fn __repr__(&self) -> String {
        let (name, seed) = (&self.0.spec().name, self.0.spec().seed);
        format!("<FileSet {name} seed={seed} count={} bytes={}>", self.0.count(), self.0.bytes())
    }
}

/// Compares a body with a file of a `FileSet`, piece by piece.
#[pyclass(module = "sitebench._engine")]
pub struct FileChecker(Checker);

#[pymethods]
impl FileChecker {
    /// Takes the next bytes, cut anywhere; returns whether all bytes so far are right.
    fn feed(&mut self, py: Python<'_>, piece: &[u8]) -> bool {
        py.detach(|| self.0.feed(piece))
    }

    /// The number of bytes so far.
    #[getter]
    fn fed(&self) -> u64 {
        self.0.fed()
    }

    /// The first byte at which the ended body differs from the file; None if they are equal. This
    /// index is the body's length if only the file's end is missing, and the file's size if the
    /// body is longer than the file.
    fn finish(&self) -> Option<u64> {
        self.0.finish()
    }
}
