//! `Engine`: lanes that run programs against one target.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use load::AnyConfig;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::config;
use crate::errors::{engine_error, error_of};
use crate::kind::Kind;
use crate::population::Population;
use crate::snapshot::Snapshot;
use crate::table::{Table, tables as tables_of};
use crate::visitors::Visitors;

/// Lanes that run programs against one target, on their own threads. Each operation is in exactly one
/// snapshot.
///
/// `config_json` is a `load::AnyConfig`, whose scenarios are the programs. An LDAP target takes people from a
/// `Population`, an HTTP target from `Visitors`. `names` is a column of a table: the names that `{i}` stands
/// for at an LDAP target. `tables` have the data of scenarios, as "name/data".
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Engine(Mutex<load::Engine>);

/// The people of a load.
#[derive(FromPyObject)]
pub enum People<'py> {
    Population(PyRef<'py, Population>),
    Visitors(PyRef<'py, Visitors>),
}

impl People<'_> {
    pub fn of_directory(self) -> PyResult<Arc<people::Population>> {
        match self {
            Self::Population(population) => Ok(population.people()),
            Self::Visitors(_) => {
                Err(error_of(Kind::BadInput, "a directory's people are a Population, not Visitors"))
            }
        }
    }

    fn of_site(self) -> PyResult<Arc<people::visitor::Visitors>> {
        match self {
            Self::Visitors(visitors) => Ok(visitors.people()),
            Self::Population(_) => {
                Err(error_of(Kind::BadInput, "a site's people are Visitors, not a Population"))
            }
        }
    }
}

impl Engine {
    /// Locks the engine. Callers are detached from the interpreter, because the thread that has the lock may
    /// need the interpreter.
    fn lock(&self) -> MutexGuard<'_, load::Engine> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (config_json, population=None, names=None, tables=None))]
    fn new(
        py: Python<'_>,
        config_json: &str,
        population: Option<People<'_>>,
        names: Option<(PyRef<'_, Table>, usize)>,
        tables: Option<HashMap<String, PyRef<'_, Table>>>,
    ) -> PyResult<Self> {
        let config = config::parse("an engine", config_json)?;
        let names = names.map(|(table, column)| table.names(column)).transpose()?;
        let tables = tables_of(tables);
        let started = match config {
            AnyConfig::Ldap(config) => {
                let people = population.map(People::of_directory).transpose()?;
                py.detach(|| load::Engine::start(config, people, names, &tables))
            }
            AnyConfig::Http(config) => {
                let people = population.map(People::of_site).transpose()?;
                py.detach(|| load::Engine::start_http(config, people, &tables))
            }
        };
        started.map(Mutex::new).map(Engine).map_err(engine_error)
    }

    /// Starts `n` more lanes of `program`.
    fn start_lanes(&self, py: Python<'_>, program: &str, n: u64) -> PyResult<()> {
        py.detach(|| self.lock().start_lanes(program, n)).map_err(engine_error)
    }

    /// Stops `n` lanes of `program`. Each ends after its current operation.
    fn stop_lanes(&self, py: Python<'_>, program: &str, n: u64) -> PyResult<()> {
        py.detach(|| self.lock().stop_lanes(program, n)).map_err(engine_error)
    }

    /// The records since the last drain.
    fn drain(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let drained = py.detach(|| self.lock().drain()).map_err(engine_error)?;
        Snapshot::new(py, drained)
    }

    /// Drains at the edge of a window. Later snapshots keep operations apart that were due before
    /// this cut.
    fn cut(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let drained = py.detach(|| self.lock().cut()).map_err(engine_error)?;
        Snapshot::new(py, drained)
    }

    /// Stops every lane, waits at most `timeout_s` for answers, and returns the last snapshot. Any later call
    /// raises EngineError.
    #[pyo3(signature = (timeout_s=5.0))]
    fn stop(&self, py: Python<'_>, timeout_s: f64) -> PyResult<Snapshot> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|error| PyValueError::new_err(format!("timeout_s is {timeout_s}: {error}")))?;
        let drained = py.detach(|| self.lock().stop(timeout)).map_err(engine_error)?;
        Snapshot::new(py, drained)
    }
}
