//! Scenarios as an engine is given them.

use std::collections::HashMap;

use serde::Deserialize;

use crate::connection::sasl::Mechanism;

/// A scenario that lanes run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioSpec {
    /// What the program is called: the file, mostly.
    pub(crate) name: String,
    /// The file's text.
    pub(crate) text: String,
    /// The operation that is done alone; all of them where none is named.
    #[serde(default)]
    pub(crate) operation: Option<String>,
    /// The DN that `{base}` stands for, whatever the file says.
    #[serde(default)]
    pub(crate) base: Option<String>,
    /// Variables of the environment.
    #[serde(default)]
    pub(crate) env: HashMap<String, String>,
    /// Who binds, unless the scenario says.
    #[serde(default)]
    pub(crate) bind: Identity,
    /// The mean pause after each operation.
    #[serde(default)]
    pub(crate) think_ms: f64,
    /// Which of a test's engines this is, and of how many.
    #[serde(default)]
    pub(crate) worker: u64,
    #[serde(default = "one")]
    pub(crate) of: u64,
}

const fn one() -> u64 {
    1
}

/// Who binds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    #[serde(default)]
    pub(crate) dn: String,
    #[serde(default)]
    pub(crate) password: String,
    #[serde(default)]
    pub(crate) sasl: Option<Mechanism>,
}
