//! Work that reports its progress to Python, which may stop the work.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use seeding::Progress;

use crate::errors::engine_error;
use crate::kind::Kinded;

/// Works detached from the interpreter. A report runs Python's signal handlers (Ctrl-C among them) and calls
/// `progress`; an exception of either ends the work and is raised.
pub fn run<T: Send, E: Kinded + Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(Progress<'_>) -> Result<T, E> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let result = py.detach(|| {
        work(&mut |done| {
            let reported = Python::attach(|py| {
                py.check_signals()?;
                progress.as_ref().map(|progress| progress.call1(py, (done,))).transpose()
            });
            match reported {
                Ok(_) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    });
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Ok(result)) => Ok(result),
        (None, Err(error)) => {
            // A signal may have ended the work after the last report, so its handler has not run yet.
            py.check_signals()?;
            Err(engine_error(error))
        }
    }
}
