//! `PortableUsers` and `Steps`: a scenario handed out step by step.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use load::portable::{Do, HttpRequest, Judged, Row, SiteUser, SiteUsers, TurnError};
use load::{AnyConfig, Tables};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::config;
use crate::errors::{engine_error, error_of};
use crate::kind::Kind;
use crate::table::Table;
use crate::visitors::Visitors;

/// What the portable users of a process share.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct PortableUsers(Arc<Mutex<SiteUsers>>);

/// One user, whose requests something else sends.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Steps {
    users: Arc<Mutex<SiteUsers>>,
    user: Mutex<SiteUser>,
}

/// What a user does next.
#[pyclass(frozen, get_all, module = "sitebench._engine")]
pub struct Step {
    does: &'static str,
    row: Option<(String, String)>,
    connection: usize,
    seconds: f64,
    kind: Option<String>,
    answered: bool,
    request: Option<Py<StepRequest>>,
}

/// A request of HTTP.
#[pyclass(frozen, get_all, module = "sitebench._engine")]
pub struct StepRequest {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Py<PyBytes>,
}

/// The kind of failure, whether it was an answer, and what to show of it.
type Worth = (Option<String>, bool, Option<String>);

/// Nothing of Python's is called while one is held.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl PortableUsers {
    #[new]
    #[pyo3(signature = (config_json, visitors=None, tables=None))]
    fn new(
        config_json: &str,
        visitors: Option<PyRef<'_, Visitors>>,
        tables: Option<HashMap<String, PyRef<'_, Table>>>,
    ) -> PyResult<Self> {
        let AnyConfig::Http(config) = config::parse("portable users", config_json)? else {
            return Err(error_of(Kind::BadInput, "a portable client of files speaks HTTP"));
        };
        let tables: Tables =
            tables.into_iter().flatten().map(|(name, table)| (name, table.rows_of())).collect();
        let people = visitors.map(|visitors| visitors.people());
        let users = SiteUsers::new_http(config, people, &tables).map_err(engine_error)?;
        Ok(Self(Arc::new(Mutex::new(users))))
    }

    fn steps(&self, program: &str) -> PyResult<Steps> {
        let user = lock(&self.0).user(program);
        let user =
            user.ok_or_else(|| error_of(Kind::BadInput, format!("there is no program {program:?}")))?;
        Ok(Steps { users: self.0.clone(), user: Mutex::new(user) })
    }
}

#[pymethods]
impl Steps {
    fn next(&self, py: Python<'_>) -> PyResult<Option<Step>> {
        let step = lock(&self.user).next(&mut lock(&self.users)).map_err(misuse)?;
        step.map(|step| Step::new(py, step)).transpose()
    }

    #[pyo3(signature = (status, headers, body))]
    fn answered(&self, status: u16, headers: Vec<(String, String)>, body: &[u8]) -> PyResult<Worth> {
        let judged =
            lock(&self.user).answered_http(&mut lock(&self.users), status, &headers, body).map_err(misuse)?;
        let Judged { failure, answered, shown } = judged;
        Ok((failure, answered, shown))
    }

    fn lost(&self, kind: &str) -> PyResult<Option<String>> {
        let judged = lock(&self.user).lost(&mut lock(&self.users), kind).map_err(misuse)?;
        Ok(judged.shown)
    }

    fn stop(&self) {
        lock(&self.user).stop();
    }
}

impl Step {
    fn new(py: Python<'_>, step: Do) -> PyResult<Self> {
        let nothing = |does| Self {
            does,
            row: None,
            connection: 0,
            seconds: 0.0,
            kind: None,
            answered: true,
            request: None,
        };
        Ok(match step {
            Do::Begin => nothing("begin"),
            Do::Ask { row, connection, request } => {
                let request = StepRequest::new(py, &request);
                Self {
                    row: Some(named(&row)),
                    connection,
                    request: Some(Py::new(py, request)?),
                    ..nothing("ask")
                }
            }
            Do::Wait(pause) => Self { seconds: pause.as_secs_f64(), ..nothing("wait") },
            Do::Close { row, connection } => {
                Self { row: row.as_ref().map(named), connection, ..nothing("close") }
            }
            Do::End { row, failure, answered } => {
                Self { row: Some(named(&row)), kind: failure, answered, ..nothing("end") }
            }
        })
    }
}

impl StepRequest {
    fn new(py: Python<'_>, request: &[u8]) -> Self {
        let HttpRequest { method, path, headers, body } = HttpRequest::of(request);
        Self { method, path, headers, body: PyBytes::new(py, &body).unbind() }
    }
}

fn named((operation, step): &Row) -> (String, String) {
    (operation.to_string(), step.to_string())
}

fn misuse(error: TurnError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
