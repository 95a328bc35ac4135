//! `Engine`: lanes that run programs against one target.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use load::{AnyConfig, Tables};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::config;
use crate::errors::{engine_error, error_of};
use crate::kind::Kind;
use crate::population::Population;
use crate::snapshot::Snapshot;
use crate::table::Table;
use crate::visitors::Visitors;

/// Lanes that run programs against one target, on their own threads.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Engine(Mutex<load::Engine>);

/// The people of a load.
#[derive(FromPyObject)]
pub enum People<'py> {
    Population(PyRef<'py, Population>),
    Visitors(PyRef<'py, Visitors>),
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
        let names = names.map(|(table, column)| table.names(column)).transpose()?.map(Arc::new);
        let tables: Tables =
            tables.into_iter().flatten().map(|(name, table)| (name, table.rows_of())).collect();
        let started = match (config, population) {
            (AnyConfig::Ldap(config), None) => {
                py.detach(|| load::Engine::start(config, None, names, &tables))
            }
            (AnyConfig::Ldap(config), Some(People::Population(population))) => {
                let people = population.people();
                py.detach(|| load::Engine::start(config, Some(people), names, &tables))
            }
            (AnyConfig::Http(config), None) => py.detach(|| load::Engine::start_http(config, None, &tables)),
            (AnyConfig::Http(config), Some(People::Visitors(visitors))) => {
                let people = visitors.people();
                py.detach(|| load::Engine::start_http(config, Some(people), &tables))
            }
            (AnyConfig::Ldap(_), Some(_)) => {
                let message = "a directory's people are a Population, not Visitors";
                return Err(error_of(Kind::BadInput, message));
            }
            (AnyConfig::Http(_), Some(_)) => {
                let message = "a site's people are Visitors, not a Population";
                return Err(error_of(Kind::BadInput, message));
            }
        };
        started.map(Mutex::new).map(Engine).map_err(engine_error)
    }

    fn start_lanes(&self, py: Python<'_>, program: &str, n: u64) -> PyResult<()> {
        py.detach(|| self.lock().start_lanes(program, n)).map_err(engine_error)
    }

    fn stop_lanes(&self, py: Python<'_>, program: &str, n: u64) -> PyResult<()> {
        py.detach(|| self.lock().stop_lanes(program, n)).map_err(engine_error)
    }

    fn drain(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let drained = py.detach(|| self.lock().drain()).map_err(engine_error)?;
        Snapshot::new(py, drained)
    }

    fn cut(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let drained = py.detach(|| self.lock().cut()).map_err(engine_error)?;
        Snapshot::new(py, drained)
    }

    #[pyo3(signature = (timeout_s=5.0))]
    fn stop(&self, py: Python<'_>, timeout_s: f64) -> PyResult<Snapshot> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|error| PyValueError::new_err(format!("timeout_s is {timeout_s}: {error}")))?;
        let drained = py.detach(|| self.lock().stop(timeout)).map_err(engine_error)?;
        Snapshot::new(py, drained)
    }
}
