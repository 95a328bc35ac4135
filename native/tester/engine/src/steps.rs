//! `PortableUsers` and `Steps`: a scenario handed out step by step.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use load::portable::{self, DirectoryUser, DirectoryUsers, Do, Judged, LdapAnswer, Row, SiteUser, SiteUsers};
use load::{AnyConfig, Tables};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::config;
use crate::engine::People;
use crate::errors::{engine_error, error_of};
use crate::kind::Kind;
use crate::table::Table;

/// What the portable users of a process share.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct PortableUsers(Users);

#[derive(Clone)]
enum Users {
    Site(Arc<Mutex<SiteUsers>>),
    Directory(Arc<Mutex<DirectoryUsers>>),
}

/// One user, whose requests something else sends.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Steps(User);

enum User {
    Site(Arc<Mutex<SiteUsers>>, Box<Mutex<SiteUser>>),
    Directory(Arc<Mutex<DirectoryUsers>>, Box<Mutex<DirectoryUser>>),
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
    http: Option<Py<HttpRequest>>,
    ldap: Option<Py<LdapRequest>>,
}

/// A request of HTTP.
#[pyclass(frozen, get_all, module = "sitebench._engine")]
pub struct HttpRequest {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Py<PyBytes>,
}

type Bytes = Py<PyBytes>;
type Attribute = (String, Vec<Bytes>);

/// A request of LDAP.
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

/// The kind of failure, whether it was an answer, and what to show of it.
type Worth = (Option<String>, bool, Option<String>);

/// Nothing of Python's is called while one is held.
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
        let users = match (config::parse("portable users", config_json)?, people) {
            (AnyConfig::Http(config), None) => SiteUsers::new_http(config, None, &tables).map(Users::site),
            (AnyConfig::Http(config), Some(People::Visitors(visitors))) => {
                SiteUsers::new_http(config, Some(visitors.people()), &tables).map(Users::site)
            }
            (AnyConfig::Ldap(config), None) => {
                DirectoryUsers::new_ldap(config, None, names, &tables).map(Users::directory)
            }
            (AnyConfig::Ldap(config), Some(People::Population(people))) => {
                DirectoryUsers::new_ldap(config, Some(people.people()), names, &tables).map(Users::directory)
            }
            _ => return Err(error_of(Kind::BadInput, "a site has Visitors, a directory a Population")),
        };
        users.map(Self).map_err(engine_error)
    }

    fn lost_rows(&self) -> u64 {
        match &self.0 {
            Users::Site(users) => lock(users).lost_rows(),
            Users::Directory(users) => lock(users).lost_rows(),
        }
    }

    fn steps(&self, program: &str) -> PyResult<Steps> {
        let user = match &self.0 {
            Users::Site(users) => {
                let user = lock(users).user(program);
                user.map(|user| User::Site(users.clone(), Box::new(Mutex::new(user))))
            }
            Users::Directory(users) => {
                let user = lock(users).user(program);
                user.map(|user| User::Directory(users.clone(), Box::new(Mutex::new(user))))
            }
        };
        user.map(Steps).ok_or_else(|| error_of(Kind::BadInput, format!("there is no program {program:?}")))
    }
}

impl Users {
    fn site(users: SiteUsers) -> Self {
        Self::Site(Arc::new(Mutex::new(users)))
    }

    fn directory(users: DirectoryUsers) -> Self {
        Self::Directory(Arc::new(Mutex::new(users)))
    }
}

#[pymethods]
impl Steps {
    fn next(&self, py: Python<'_>) -> PyResult<Option<Step>> {
        let step = match &self.0 {
            User::Site(users, user) => lock(user).next(&mut lock(users)),
            User::Directory(users, user) => lock(user).next(&mut lock(users)),
        };
        let is_http = matches!(self.0, User::Site(..));
        step.map_err(misuse)?.map(|step| Step::new(py, step, is_http)).transpose()
    }

    #[pyo3(signature = (status, headers, body))]
    fn answered_http(&self, status: u16, headers: Vec<(String, String)>, body: &[u8]) -> PyResult<Worth> {
        let User::Site(users, user) = &self.0 else { return Err(misuse("it asks a directory")) };
        worth(lock(user).answered_http(&mut lock(users), status, &headers, body))
    }

    #[pyo3(signature = (code, diagnostic, entries, value=None))]
    fn answered_ldap(
        &self,
        code: u32,
        diagnostic: String,
        entries: Vec<(String, Vec<portable::Values>)>,
        value: Option<Vec<u8>>,
    ) -> PyResult<Worth> {
        let User::Directory(users, user) = &self.0 else { return Err(misuse("it asks a site")) };
        let answer = LdapAnswer { code, diagnostic, entries, value };
        worth(lock(user).answered_ldap(&mut lock(users), &answer))
    }

    fn lost(&self, kind: &str) -> PyResult<Option<String>> {
        let judged = match &self.0 {
            User::Site(users, user) => lock(user).lost(&mut lock(users), kind),
            User::Directory(users, user) => lock(user).lost(&mut lock(users), kind),
        };
        Ok(judged.map_err(misuse)?.shown)
    }

    fn stop(&self) {
        match &self.0 {
            User::Site(_, user) => lock(user).stop(),
            User::Directory(_, user) => lock(user).stop(),
        }
    }
}

impl Step {
    fn new(py: Python<'_>, step: Do, is_http: bool) -> PyResult<Self> {
        let nothing = |does| Self {
            does,
            row: None,
            connection: 0,
            seconds: 0.0,
            kind: None,
            answered: true,
            http: None,
            ldap: None,
        };
        Ok(match step {
            Do::Begin(row) => Self { row: row.as_ref().map(named), ..nothing("begin") },
            Do::Open { row, connection } => Self { row: Some(named(&row)), connection, ..nothing("open") },
            Do::Ask { row, connection, request } => {
                let step = Self { row: Some(named(&row)), connection, ..nothing("ask") };
                if is_http {
                    Self { http: Some(Py::new(py, HttpRequest::new(py, &request))?), ..step }
                } else {
                    let request = LdapRequest::new(py, &request)?;
                    Self { ldap: Some(Py::new(py, request)?), ..step }
                }
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

impl HttpRequest {
    fn new(py: Python<'_>, request: &[u8]) -> Self {
        let portable::HttpRequest { method, path, headers, body } = portable::HttpRequest::of(request);
        Self { method, path, headers, body: PyBytes::new(py, &body).unbind() }
    }
}

impl LdapRequest {
    fn new(py: Python<'_>, request: &[u8]) -> PyResult<Self> {
        let found = portable::LdapRequest::of(request).ok_or_else(|| misuse("this is no request"))?;
        let bytes = |value: &Vec<u8>| PyBytes::new(py, value).unbind();
        let attribute = |(name, values): &portable::Values| -> Attribute {
            (name.clone(), values.iter().map(bytes).collect())
        };
        let controls = found.controls.iter();
        Ok(Self {
            value: found.value.as_ref().map(bytes),
            entry: found.entry.iter().map(attribute).collect(),
            changes: found.changes.iter().map(|(kind, each)| (*kind, attribute(each))).collect(),
            controls: controls
                .map(|(oid, critical, value)| (oid.clone(), *critical, value.as_ref().map(bytes)))
                .collect(),
            verb: found.verb,
            dn: found.dn,
            version: found.version,
            sasl: found.sasl,
            filter: found.filter,
            scope: found.scope,
            dereference: found.dereference,
            size_limit: found.size_limit,
            time_limit_s: found.time_limit_s,
            types_only: found.types_only,
            attributes: found.attributes,
            new_rdn: found.new_rdn,
            delete_old_rdn: found.delete_old_rdn,
            new_superior: found.new_superior,
        })
    }
}

fn named((operation, step): &Row) -> (String, String) {
    (operation.to_string(), step.to_string())
}

fn worth(judged: Result<Judged, portable::TurnError>) -> PyResult<Worth> {
    let Judged { failure, answered, shown } = judged.map_err(misuse)?;
    Ok((failure, answered, shown))
}

fn misuse(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}
