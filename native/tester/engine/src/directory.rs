//! `Directory`: the embedded LDAP directory.

use ::directory::{Clock, Config, Running};
use pyo3::PyClassInitializer;
use pyo3::prelude::*;

use crate::config;
use crate::embedded::{EmbeddedServer, Serving};
use crate::errors::engine_error;
use crate::groups::Groups;
use crate::population::Population;

/// The embedded LDAP directory, served by threads of this process.
#[pyclass(frozen, extends = EmbeddedServer, module = "sitebench._engine")]
pub struct Directory;

impl Serving for Running {
    fn made_ca(&self) -> Option<&str> {
        Running::made_ca(self)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.stats().named()
    }

    fn unknown_names(&self) -> Vec<String> {
        Running::unknown_names(self)
    }
}

#[pymethods]
impl Directory {
    #[new]
    #[pyo3(signature = (config_json, population=None, groups=None))]
    fn new(
        py: Python<'_>,
        config_json: &str,
        population: Option<&Population>,
        groups: Option<&Groups>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let config: Config = config::parse("a directory", config_json)?;
        let people = population.map(Population::people);
        let groups = groups.map(Groups::groups);
        let running = py
            .detach(|| ::directory::start_with(config, people, groups, Clock::system()))
            .map_err(engine_error)?;
        Ok(PyClassInitializer::from(EmbeddedServer::new("Directory", running.addr(), running))
            .add_subclass(Self))
    }
}
