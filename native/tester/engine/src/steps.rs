//! `PortableUsers` and `Steps`: a scenario, step by step.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use load::portable::{self, DirectoryUser, DirectoryUsers, Do, Judged, LdapAnswer, Row};
use load::{AnyConfig, Tables};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::config;
use crate::engine::People;
use crate::errors::{engine_error, error_of};
use crate::kind::Kind;
use crate::table::Table;

/// The shared state of the portable users of a process.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct PortableUsers(Arc<Mutex<DirectoryUsers>>);

/// A user whose requests another client sends.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Steps {
    users: Arc<Mutex<DirectoryUsers>>,
    user: Mutex<DirectoryUser>,
}

/// The next action of a user.
#[pyclass(frozen, get_all, module = "sitebench._engine")]
pub struct Step {
    does: &'static str,
    row: Option<(String, String)>,
    connection: usize,
    seconds: f64,
    kind: Option<String>,
    answered: bool,
    ldap: Option<Py<LdapRequest>>,
}

type Bytes = Py<PyBytes>;
type Attribute = (String, Vec<Bytes>);

#[pyclass(frozen, get_all, module = "sitebench._engine")]
pub struct LdapRequest {
    verb: &'static str,
    dn: String,
    version: i64,
    sasl: Option<String>,
    value: Option<Bytes>,
    filter: String,
    scope: u8,
    dereference: u8,
    size_limit: u32,
    time_limit_s: u32,
    types_only: bool,
    attributes: Vec<String>,
    entry: Vec<Attribute>,
    changes: Vec<(u8, Attribute)>,
    new_rdn: String,
    delete_old_rdn: bool,
    new_superior: Option<String>,
    controls: Vec<(String, bool, Option<Bytes>)>,
}

/// A judged answer: the kind of failure, whether there was an answer, and request and answer as a text.
type Worth = (Option<String>, bool, Option<String>);

/// No call into Python is allowed while a lock is held.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl PortableUsers {
    #[new]
    #[pyo3(signature = (config_json, people=None, names=None, tables=None))]
    fn new(
        config_json: &str,
        people: Option<People<'_>>,
        names: Option<(PyRef<'_, Table>, usize)>,
        tables: Option<HashMap<String, PyRef<'_, Table>>>,
    ) -> PyResult<Self> {
        let names = names.map(|(table, column)| table.names(column)).transpose()?.map(Arc::new);
        let tables: Tables =
            tables.into_iter().flatten().map(|(name, table)| (name, table.rows_of())).collect();
        let (config, people) = match (config::parse("portable users", config_json)?, people) {
            (AnyConfig::Ldap(config), None) => (config, None),
            (AnyConfig::Ldap(config), Some(People::Population(people))) => (config, Some(people.people())),
            _ => return Err(error_of(Kind::BadInput, "only a directory has portable users")),
        };
        let users = DirectoryUsers::new_ldap(config, people, names, &tables).map_err(engine_error)?;
        Ok(Self(Arc::new(Mutex::new(users))))
    }

    fn lost_rows(&self) -> u64 {
        lock(&self.0).lost_rows()
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

    #[pyo3(signature = (code, diagnostic, entries, value=None))]
    fn answered_ldap(
        &self,
        code: u32,
        diagnostic: String,
        entries: Vec<(String, Vec<portable::Values>)>,
        value: Option<Vec<u8>>,
    ) -> PyResult<Worth> {
        let answer = LdapAnswer { code, diagnostic, entries, value };
        let judged = lock(&self.user).answered_ldap(&mut lock(&self.users), &answer);
        let Judged { failure, answered, shown } = judged.map_err(misuse)?;
        Ok((failure, answered, shown))
    }

    fn lost(&self, kind: &str) -> PyResult<Option<String>> {
        let judged = lock(&self.user).lost(&mut lock(&self.users), kind);
        Ok(judged.map_err(misuse)?.shown)
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
            ldap: None,
        };
        Ok(match step {
            Do::Begin(row) => Self { row: row.as_ref().map(named), ..nothing("begin") },
            Do::BeginPass(row) => Self { row: row.as_ref().map(named), ..nothing("begin pass") },
            Do::Open { row, connection } => Self { row: Some(named(&row)), connection, ..nothing("open") },
            Do::Ask { row, connection, request } => {
                let ldap = Some(Py::new(py, LdapRequest::new(py, &request)?)?);
                Self { row: Some(named(&row)), connection, ldap, ..nothing("ask") }
            }
            Do::Wait(pause) => Self { seconds: pause.as_secs_f64(), ..nothing("wait") },
            Do::AwaitRow(pause) => Self { seconds: pause.as_secs_f64(), ..nothing("await row") },
            Do::Close { row, connection } => {
                Self { row: row.as_ref().map(named), connection, ..nothing("close") }
            }
            Do::End { row, failure, answered } => {
                Self { row: Some(named(&row)), kind: failure, answered, ..nothing("end") }
            }
        })
    }
}

impl LdapRequest {
    fn new(py: Python<'_>, request: &[u8]) -> PyResult<Self> {
        let request = portable::LdapRequest::of(request).ok_or_else(|| misuse("this is no request"))?;
        let bytes = |value: &Vec<u8>| PyBytes::new(py, value).unbind();
        let attribute = |(name, values): &portable::Values| -> Attribute {
            (name.clone(), values.iter().map(bytes).collect())
        };
        let controls = request.controls.iter();
        Ok(Self {
            value: request.value.as_ref().map(bytes),
            entry: request.entry.iter().map(attribute).collect(),
            changes: request.changes.iter().map(|(kind, change)| (*kind, attribute(change))).collect(),
            controls: controls
                .map(|(oid, critical, value)| (oid.clone(), *critical, value.as_ref().map(bytes)))
                .collect(),
            verb: request.verb,
            dn: request.dn,
            version: request.version,
            sasl: request.sasl,
            filter: request.filter,
            scope: request.scope,
            dereference: request.dereference,
            size_limit: request.size_limit,
            time_limit_s: request.time_limit_s,
            types_only: request.types_only,
            attributes: request.attributes,
            new_rdn: request.new_rdn,
            delete_old_rdn: request.delete_old_rdn,
            new_superior: request.new_superior,
        })
    }
}

fn named((operation, step): &Row) -> (String, String) {
    (operation.to_string(), step.to_string())
}

fn misuse(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}
