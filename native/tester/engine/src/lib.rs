//! `sitebench._engine`: the native engine's Python module, without logic of its own.
//!
//! One Python class per file. A class translates arguments, errors and results. The work is in other crates,
//! where it is tested without Python. Calls that wait or work for long are detached from the interpreter, so
//! that Locust's hub keeps running.
//!
//! `sitebench/_engine.pyi` has the signatures; stubtest compares the two. The documentation comments of this crate
//! are the documentation in Python.

mod config;
mod contents;
mod directory;
mod embedded;
mod engine;
mod errors;
mod files;
mod floor;
mod groups;
mod hashes;
mod histogram;
mod kind;
mod pools;
mod population;
mod profile;
mod progress;
mod queue;
mod scenario;
mod seeding;
mod site;
mod snapshot;
mod steps;
mod table;
mod upd;
mod visitors;
mod web_server;

/// The native engine of sitebench.
///
/// Calls that wait or work for long release the GIL. Times are nanoseconds unless a name has another unit.
/// Instants are on the clock of `time.monotonic_ns`. Configurations and specifications are JSON texts. Their
/// fields are described at the Rust types that read them. An unknown or missing field is an `EngineError`
/// that names the field.
///
/// A `progress` is called in the calling thread, about ten times a second, with the amount of
/// finished work. An exception of `progress`, or Ctrl-C, stops the work and is raised again.
#[pyo3::pymodule(name = "_engine")]
mod module {
    #[pymodule_export]
    use crate::contents::{Contents, LdifCount};
    #[pymodule_export]
    use crate::directory::Directory;
    #[pymodule_export]
    use crate::embedded::EmbeddedServer;
    #[pymodule_export]
    use crate::engine::Engine;
    #[pymodule_export]
    use crate::errors::EngineError;
    #[pymodule_export]
    use crate::files::{FileChecker, FileSet};
    #[pymodule_export]
    use crate::floor::{NullResponder, floor_exchange};
    #[pymodule_export]
    use crate::groups::{Groups, check_groups, remove_groups, seed_groups};
    #[pymodule_export]
    use crate::hashes::{hash_facts, hash_nanoseconds};
    #[pymodule_export]
    use crate::histogram::Histogram;
    #[pymodule_export]
    use crate::population::Population;
    #[pymodule_export]
    use crate::profile::profile_facts;
    #[pymodule_export]
    use crate::queue::busy_limit;
    #[pymodule_export]
    use crate::scenario::{Scenario, check_scenario, scenario_schema};
    #[pymodule_export]
    use crate::seeding::{count_people, first_person, read_people, remove_people, seed_directory};
    #[pymodule_export]
    use crate::site::Site;
    #[pymodule_export]
    use crate::snapshot::{Snapshot, StepStats, metrics};
    #[pymodule_export]
    use crate::steps::{LdapRequest, PortableUsers, Step, Steps};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::upd::{build_upd, copy_upd, inspect_upd};
    #[pymodule_export]
    use crate::visitors::Visitors;
    #[pymodule_export]
    use crate::web_server::{WebServer, cgi_program};
}
