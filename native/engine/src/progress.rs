//! Python hears how far something is, and may stop it.

use pyo3::prelude::*;

/// Tells Python; each time is a moment for its signal handlers, Ctrl-C among them.
pub fn tell(progress: Option<&Py<PyAny>>, done: u64) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        if let Some(progress) = progress {
            progress.call1(py, (done,))?;
        }
        Ok(())
    })
}
