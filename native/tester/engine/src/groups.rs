//! `Groups`: groups of people as a pure function of their number, and groups in a live directory.

use people::{GroupSpec, Groups as Known, ldif};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seeding::groups::{check, remove, seed};

use crate::config;
use crate::errors::engine_error;
use crate::population::Population;
use crate::progress::run;

/// Groups of a population's people. A group is a pure function of its number. `spec_json` is a
/// `people::GroupSpec`.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Groups(Known);

impl Groups {
    pub const fn groups(&self) -> &Known {
        &self.0
    }
}

#[pymethods]
impl Groups {
    #[new]
    fn new(population: &Population, spec_json: &str) -> PyResult<Self> {
        let spec: GroupSpec = config::parse("groups", spec_json)?;
        Known::new(population.people(), spec).map(Self).map_err(engine_error)
    }

    /// The number of groups.
    #[getter]
    fn count(&self) -> u64 {
        self.0.spec().count
    }

    /// The DN of group `g`.
    fn dn(&self, g: u64) -> PyResult<String> {
        let mut dn = Vec::new();
        self.0.write_dn(g, &mut dn);
        String::from_utf8(dn).map_err(engine_error)
    }

    /// The members of group `g`: DNs, or logins in a posixGroup.
    fn members(&self, py: Python<'_>, g: u64) -> PyResult<Vec<String>> {
        let mut values = Vec::new();
        py.detach(|| {
            let list = self.0.spec().class.lists()[0];
            self.0.each(g, list, 0, |value| {
                values.push(value.to_vec());
                true
            });
        });
        values.into_iter().map(|value| String::from_utf8(value).map_err(engine_error)).collect()
    }

    /// Groups [start, stop) as LDIF (RFC 2849).
    fn ldif<'py>(&self, py: Python<'py>, start: u64, stop: u64) -> Bound<'py, PyBytes> {
        let text = py.detach(|| {
            let mut out = Vec::new();
            (start..stop).for_each(|g| ldif::write_group(&self.0, g, &mut out));
            out
        });
        PyBytes::new(py, &text)
    }

    fn __repr__(&self) -> String {
        format!("<Groups count={} class={}>", self.0.spec().count, self.0.spec().class.object_class())
    }
}

/// Adds missing groups to a live directory, with the configuration of `seed_directory`. Returns the number of
/// added groups, and the bytes of members per message if the server refused a whole group in one message.
#[pyfunction]
#[pyo3(signature = (config_json, groups, progress=None))]
pub fn seed_groups(
    py: Python<'_>,
    config_json: &str,
    groups: &Groups,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, Option<usize>)> {
    let config = config::parse("a live directory", config_json)?;
    let done = run(py, progress, |tell| seed(&config, &groups.0, tell))?;
    Ok((done.added, done.piece))
}

/// Deletes the groups of a live directory, with the configuration of `seed_directory`. Returns their number.
#[pyfunction]
#[pyo3(signature = (config_json, groups, progress=None))]
pub fn remove_groups(
    py: Python<'_>,
    config_json: &str,
    groups: &Groups,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let config = config::parse("a live directory", config_json)?;
    run(py, progress, |tell| remove(&config, &groups.0, tell))
}

/// Raises unless a live directory has exactly these groups with all of their members, with the configuration
/// of `seed_directory`. Returns the number of members, and whether people's entries show their groups
/// (memberOf).
#[pyfunction]
#[pyo3(signature = (config_json, groups, progress=None))]
pub fn check_groups(
    py: Python<'_>,
    config_json: &str,
    groups: &Groups,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, bool)> {
    let config = config::parse("a live directory", config_json)?;
    let checked = run(py, progress, |tell| check(&config, &groups.0, tell))?;
    Ok((checked.members, checked.member_of))
}
