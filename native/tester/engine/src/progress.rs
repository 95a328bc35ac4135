//! Reports progress to Python, which may stop the work.

use pyo3::prelude::*;

/// Calls `progress`, after running Python's signal handlers (Ctrl-C among them).
pub fn tell(progress: Option<&Py<PyAny>>, done: u64) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        if let Some(progress) = progress {
            progress.call1(py, (done,))?;
        }
        Ok(())
    })
}
