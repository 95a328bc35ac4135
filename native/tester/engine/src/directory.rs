//! `Directory`: the embedded LDAP directory.

use ::directory::{Clock, Config};
use pyo3::PyClassInitializer;
use pyo3::prelude::*;

use crate::config;
use crate::embedded::EmbeddedServer;
use crate::errors::engine_error;
use crate::groups::Groups;
use crate::population::Population;

/// The embedded LDAP directory, served by threads of this process. `config_json` is a `directory::Config`.
#[pyclass(frozen, extends = EmbeddedServer, module = "sitebench._engine")]
pub struct Directory;

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
        let (addr, made_ca) = (running.addr(), running.made_ca().map(str::to_owned));
        let counts = move || (running.stats().named(), running.unknown_names());
        Ok(PyClassInitializer::from(EmbeddedServer::new("Directory", addr, made_ca, counts))
            .add_subclass(Self))
    }
}
