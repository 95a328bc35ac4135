//! Scenarios as an engine is given them.

use std::collections::HashMap;

use scenario::{Operation, Scenario, thinking_ns};
use serde::Deserialize;

use crate::connection::sasl::Mechanism;
use crate::fill::Tables;

/// A scenario that lanes run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScenarioSpec {
    /// What the program is called: the file, mostly.
    pub(crate) name: String,
    pub(crate) text: String,
    /// The operation that is done alone; all of them where none is named.
    pub(crate) operation: Option<String>,
    /// The DN that `{base}` stands for, whatever the file says.
    pub(crate) base: Option<String>,
    /// Variables of the environment.
    pub(crate) env: HashMap<String, String>,
    /// What is in files that values are taken from, in base64.
    pub(crate) files: HashMap<String, String>,
    /// Who binds, unless the scenario says.
    pub(crate) bind: Identity,
    /// The target's programs by their kinds: paths with `{size}`, `{content}` and `{copy}`.
    pub(crate) programs: HashMap<String, String>,
    /// Whether operations of one request are kinds of requests, with rows under the scenario's name, where all of them
    /// are and nothing is filled in.
    pub(crate) classes: bool,
    /// Whether connections are kept and speak HTTP/1.1, whatever the file says.
    pub(crate) keepalive: bool,
    /// The mean pause after each operation.
    pub(crate) think_ms: f64,
    /// What think times within an operation are scaled to fill, whatever the file says; 0 leaves them out.
    pub(crate) session_ms: Option<f64>,
    /// Which of a test's engines this is, and of how many.
    pub(crate) worker: u64,
    pub(crate) of: u64,
}

impl ScenarioSpec {
    /// Its tables: several scenarios may call their data alike.
    pub(crate) fn own(&self, tables: &Tables) -> Tables {
        let own = |name: &str| Some(name.strip_prefix(&self.name)?.strip_prefix('/')?.to_owned());
        tables.iter().filter_map(|(name, table)| Some((own(name)?, table.clone()))).collect()
    }

    /// What the think times of an operation are multiplied by.
    pub(crate) fn scale(&self, scenario: &Scenario, operation: &Operation) -> f64 {
        let session_s = match (self.session_ms, scenario.load.session) {
            (Some(session_ms), _) => session_ms / 1e3,
            (None, Some(session)) => session.as_secs_f64(),
            (None, None) => return 1.0,
        };
        if session_s <= 0.0 {
            return 0.0;
        }
        match thinking_ns(&operation.steps, false) {
            0 => 1.0,
            thinking_ns => session_s * 1e9 / thinking_ns as f64,
        }
    }
}

/// Who binds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Identity {
    pub(crate) dn: String,
    pub(crate) password: String,
    pub(crate) sasl: Option<Mechanism>,
}
