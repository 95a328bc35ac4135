//! `PortableUsers` and `Steps`: a scenario, step by step.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use load::AnyConfig;
use load::portable::{DirectoryUser, DirectoryUsers, Do, Judged, LdapAnswer, Row, Values};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use wire::ldap::attributes::Values as AttributeValues;
use wire::ldap::control::Control;
use wire::ldap::{Change, Credentials, Operation, Request};

use crate::config;
use crate::engine::People;
use crate::errors::{engine_error, error_of};
use crate::kind::Kind;
use crate::table::{Table, tables as tables_of};

/// The users of one process whose requests to a directory a client in Python sends. The arguments
/// are those of `Engine`. These users share decks, data and random numbers like the lanes of one
/// thread: the same seed gives the same requests. A key that no such client supports is refused by
/// its name.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct PortableUsers(Arc<Mutex<DirectoryUsers>>);

/// The actions of one user, in turn.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Steps {
    users: Arc<Mutex<DirectoryUsers>>,
    user: Mutex<DirectoryUser>,
}

/// The next action of a user.
#[pyclass(frozen, get_all, module = "sitebench._engine")]
pub struct Step {
    /// begin, begin pass, open, ask, wait, await row, close or end.
    does: &'static str,
    /// The operation and the step under which the action is recorded. At "end" this is the row of
    /// the whole operation; so it is at "begin", but only if the whole operation is counted. At
    /// "begin pass" it is always set: a pass is an operation whose time includes its think times.
    row: Option<(String, String)>,
    /// Index of the user's connection.
    connection: usize,
    /// The seconds of a "wait", or of an "await row": a pause while other users hold all rows of
    /// the data.
    seconds: f64,
    /// The first failure of the operation, at its "end".
    kind: Option<String>,
    /// Whether the operation came to its "end", and was not aborted.
    answered: bool,
    /// The request of "ask".
    ldap: Option<Py<LdapRequest>>,
}

/// A request of LDAP. Fields that its verb does not have are empty.
#[derive(Default)]
#[pyclass(frozen, get_all, module = "sitebench._engine")]
pub struct LdapRequest {
    /// The verb as in scenario files, but `extended` for all extended operations.
    verb: &'static str,
    /// The entry, a search's base, a bind's name, or the OID of an extended operation.
    dn: String,
    /// The LDAP version of a bind.
    version: i64,
    /// The SASL mechanism of a bind.
    sasl: Option<String>,
    /// The password of a bind, its SASL credentials, or the value of an extended operation.
    value: Option<Vec<u8>>,
    /// A search's filter as text.
    filter: String,
    /// 0 base, 1 one level, 2 subtree, 3 all below the base.
    scope: u8,
    /// 0 never, 1 in searching, 2 finding the base, 3 always.
    dereference: u8,
    /// A search's limit of entries; 0 for none.
    size_limit: u32,
    /// A search's limit of time; 0 for none.
    time_limit_s: u32,
    /// Whether a search requests attributes without values.
    types_only: bool,
    /// The requested attributes of a search.
    attributes: Vec<String>,
    /// The attributes of an added entry, or the assertion of a compare.
    entry: Vec<Values>,
    /// 0 add, 1 delete, 2 replace, 3 increment, each of an attribute with values.
    changes: Vec<(u8, Values)>,
    /// The RDN after a modify_dn.
    new_rdn: String,
    /// Whether a modify_dn deletes the values of the former RDN.
    delete_old_rdn: bool,
    /// The parent after a modify_dn, if it moves the entry.
    new_superior: Option<String>,
    /// OID, whether it is critical, value.
    controls: Vec<(String, bool, Option<Vec<u8>>)>,
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
        let names = names.map(|(table, column)| table.names(column)).transpose()?;
        let tables = tables_of(tables);
        let AnyConfig::Ldap(config) = config::parse("portable users", config_json)? else {
            return Err(error_of(Kind::BadInput, "only a directory has portable users"));
        };
        let people = people.map(People::of_directory).transpose()?;
        let users = DirectoryUsers::new_ldap(config, people, names, &tables).map_err(engine_error)?;
        Ok(Self(Arc::new(Mutex::new(users))))
    }

    /// Exclusive rows that are lost: a change to them was never answered.
    fn lost_rows(&self) -> u64 {
        lock(&self.0).lost_rows()
    }

    /// Makes another user of a program.
    fn steps(&self, program: &str) -> PyResult<Steps> {
        let user = lock(&self.0).user(program);
        let user =
            user.ok_or_else(|| error_of(Kind::BadInput, format!("there is no program {program:?}")))?;
        Ok(Steps { users: self.0.clone(), user: Mutex::new(user) })
    }
}

#[pymethods]
impl Steps {
    /// The next action; None after the last action of a stopped user.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Step>> {
        let step = lock(&self.user).next(&mut lock(&self.users)).map_err(misuse)?;
        step.map(|step| Step::new(py, step)).transpose()
    }

    /// Judges an answer with its entries, their names and attributes; `value` is the value of an extended
    /// answer. Returns the kind of failure, whether there was an answer, and request and answer for output.
    #[pyo3(signature = (code, diagnostic, entries, value=None))]
    fn answered_ldap(
        &self,
        code: u32,
        diagnostic: String,
        entries: Vec<(String, Vec<Values>)>,
        value: Option<Vec<u8>>,
    ) -> PyResult<Worth> {
        let answer = LdapAnswer { code, diagnostic, entries, value };
        let judged = lock(&self.user).answered_ldap(&mut lock(&self.users), &answer);
        let Judged { failure, answered, shown } = judged.map_err(misuse)?;
        Ok((failure, answered, shown))
    }

    /// Tells that no answer came, and the kind of failure. Returns the request for output.
    fn lost(&self, kind: &str) -> PyResult<Option<String>> {
        let judged = lock(&self.user).lost(&mut lock(&self.users), kind);
        Ok(judged.map_err(misuse)?.shown)
    }

    /// Ends the user after its current operation, which has no pauses any more.
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
                let ldap = LdapRequest::of(&request).ok_or_else(|| misuse("this is no request"))?;
                let ldap = Some(Py::new(py, ldap)?);
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
    /// Decodes a request; `None` for a message that portable clients do not send.
    fn of(request: &[u8]) -> Option<Self> {
        let Request { operation, controls, .. } = Request::decode(request).ok()?;
        let control =
            |Control { oid, critical, value }: Control<'_>| (text(oid), critical, value.map(<[u8]>::to_vec));
        let of = |verb, dn: &[u8]| Self {
            verb,
            dn: text(dn),
            controls: controls.iter().map(control).collect(),
            ..Self::default()
        };
        Some(match operation {
            Operation::Bind(bind) => {
                let (sasl, value) = match bind.credentials {
                    Credentials::Simple(password) => (None, Some(password)),
                    Credentials::Sasl(mechanism, credentials) => (Some(text(mechanism)), credentials),
                    Credentials::Other(_) => return None,
                };
                let value = value.map(<[u8]>::to_vec);
                Self { version: bind.version, sasl, value, ..of("bind", bind.name) }
            }
            Operation::Search(search) => Self {
                filter: search.filter.to_string(),
                scope: search.scope as u8,
                dereference: search.dereference,
                size_limit: search.size_limit,
                time_limit_s: search.time_limit_s,
                types_only: search.types_only,
                attributes: search.attributes.iter().map(text).collect(),
                ..of("search", search.base)
            },
            Operation::Modify(modify) => {
                let change = |change: Change<'_>| {
                    (change.operation, values(change.attribute.name, &change.attribute.values))
                };
                Self { changes: modify.changes().map(change).collect(), ..of("modify", modify.dn) }
            }
            Operation::Add(add) => {
                let attributes = add.attributes.iter().flatten();
                let entry = attributes.map(|attribute| values(attribute.name, &attribute.values)).collect();
                Self { entry, ..of("add", add.dn) }
            }
            Operation::Delete(dn) => of("delete", dn),
            Operation::ModifyDn(rename) => Self {
                new_rdn: text(rename.new_rdn),
                delete_old_rdn: rename.delete_old_rdn,
                new_superior: rename.new_superior.map(text),
                ..of("modify_dn", rename.dn)
            },
            Operation::Compare(compare) => Self {
                entry: vec![(text(compare.attribute), vec![compare.value.to_vec()])],
                ..of("compare", compare.dn)
            },
            Operation::Extended(extended) => {
                Self { value: extended.value.map(<[u8]>::to_vec), ..of("extended", extended.name) }
            }
            Operation::Unbind | Operation::Abandon(_) => return None,
        })
    }
}

fn named((operation, step): &Row) -> (String, String) {
    (operation.to_string(), step.to_string())
}

fn misuse(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn values(name: &[u8], of: &AttributeValues<'_>) -> Values {
    (text(name), of.iter().flatten().map(<[u8]>::to_vec).collect())
}
