//! Scenarios in the configuration of an engine.

use std::collections::HashMap;

use scenario::{Operation, Sasl, Scenario, thinking_ns};
use serde::Deserialize;

use crate::fill::Tables;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScenarioSpec {
    /// The program's name, usually the file's.
    pub(crate) name: String,
    pub(crate) text: String,
    /// The only operation to run; `None` for all operations.
    pub(crate) operation: Option<String>,
    /// The DN that replaces `{base}`, whatever the file says.
    pub(crate) base: Option<String>,
    /// Variables of the environment.
    pub(crate) env: HashMap<String, String>,
    /// The contents of files that fields read, in base64.
    pub(crate) files: HashMap<String, String>,
    /// The identity of binds, unless the scenario names an identity.
    pub(crate) bind: Identity,
    /// Paths of the target's programs by kind, with `{size}`, `{content}` and `{copy}`.
    pub(crate) programs: HashMap<String, String>,
    /// Whether results have one row for each class of requests, under the scenario's name. All operations
    /// must be single requests without fields.
    pub(crate) classes: bool,
    /// Whether connections are kept and use HTTP/1.1, whatever the file says.
    pub(crate) keepalive: bool,
    /// The mean pause after each operation.
    pub(crate) think_ms: f64,
    /// The sum to which think times within an operation are scaled, whatever the file says; 0 omits them.
    pub(crate) session_ms: Option<f64>,
    /// The index of this engine in the test, and the number of engines.
    pub(crate) worker: u64,
    pub(crate) of: u64,
}

impl ScenarioSpec {
    /// The scenario's tables: several scenarios may use the same name for data.
    pub(crate) fn own(&self, tables: &Tables) -> Tables {
        let own = |name: &str| Some(name.strip_prefix(&self.name)?.strip_prefix('/')?.to_owned());
        tables.iter().filter_map(|(name, table)| Some((own(name)?, table.clone()))).collect()
    }

    /// The operations to run, with their numbers.
    pub(crate) fn chosen<'s>(&self, scenario: &'s Scenario) -> impl Iterator<Item = (usize, &'s Operation)> {
        let operations = scenario.operations.iter().enumerate();
        operations.filter(|(_, operation)| self.operation.as_ref().is_none_or(|name| *name == operation.name))
    }

    /// The factor for the think times of an operation.
    pub(crate) fn scale(&self, scenario: &Scenario, operation: &Operation) -> f64 {
        let session_s = match (self.session_ms, scenario.load.session) {
            (Some(session_ms), _) => session_ms / 1e3,
            (None, Some(session)) => session,
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

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Identity {
    pub(crate) dn: String,
    pub(crate) password: String,
    pub(crate) sasl: Option<Sasl>,
}
