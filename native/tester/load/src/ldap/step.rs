//! The steps of LDAP programs as they are described.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::scripted::Ask;
use crate::connection::sasl::Mechanism;
use crate::scripted::Preparation;

/// The person a step is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PersonSelector {
    /// Drawn by the configured key choice.
    Random,
    /// The one the step before was about.
    Current,
    /// In an add: the next of the run's own people. Elsewhere: the one this lane added last.
    New,
    /// This user: one of the population, drawn once for each lane.
    Own,
}

/// A request step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Bind; without fields, anonymously.
    Bind {
        #[serde(default)]
        dn: String,
        #[serde(default)]
        password: String,
        /// The protocol version, 2 or 3.
        #[serde(default = "three")]
        version: u8,
        /// By which mechanism; a simple bind without.
        #[serde(default)]
        sasl: Option<Mechanism>,
    },
    /// Find one person by name; the answer must be exactly that person.
    Lookup {
        person: PersonSelector,
        /// What of them; empty for everything.
        #[serde(default)]
        attributes: Vec<String>,
        /// Keep them online for so many minutes by looking (ILS only).
        #[serde(default)]
        refresh_minutes: Option<u32>,
    },
    Add {
        person: PersonSelector,
    },
    Delete {
        person: PersonSelector,
    },
    /// Change a person.
    Modify {
        person: PersonSelector,
        changes: Vec<Change>,
    },
    /// Keep a person online (RFC 2589).
    Refresh {
        person: PersonSelector,
        /// How long, in seconds.
        ttl_s: u32,
    },
    /// Asks whether a person's attribute has the value it should have.
    Compare {
        person: PersonSelector,
        attribute: String,
    },
    Retrieve {
        /// What of them; empty for everything.
        #[serde(default)]
        attributes: Vec<String>,
        /// At most so many; 0 for all.
        #[serde(default)]
        size_limit: u32,
    },
    Search {
        base: String,
        #[serde(default)]
        scope: Scope,
        /// What (RFC 4515).
        filter: String,
        /// What of it; empty for everything.
        #[serde(default)]
        attributes: Vec<String>,
        /// How many there must be.
        #[serde(default)]
        expect_entries: Option<u64>,
    },
    /// Adds the one that was taken, who is removed first where they were added before.
    #[serde(skip)]
    AddTaken(Arc<Ask>),
    /// A step of a scenario.
    #[serde(skip)]
    Ask(Arc<Ask>),
    /// What a scenario chooses before its steps.
    #[serde(skip)]
    Prepare(Arc<Preparation>),
}

/// One change of a modify.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub op: ChangeOp,
    pub attribute: String,
    #[serde(default)]
    pub values: Vec<String>,
}

/// RFC 4511 section 4.6, and RFC 4525.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "named after RFC 4511 section 4.6")]
pub enum ChangeOp {
    Add = 0,
    Delete = 1,
    Replace = 2,
    Increment = 3,
}

/// RFC 4511 section 4.5.1.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "named after RFC 4511 section 4.5.1.2")]
pub enum Scope {
    Base,
    One,
    #[default]
    #[serde(alias = "subtree")]
    Sub,
}

impl From<Scope> for wire::ldap::Scope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Base => Self::Base,
            Scope::One => Self::One,
            Scope::Sub => Self::Subtree,
        }
    }
}

const fn three() -> u8 {
    3
}

impl Step {
    /// The person the step is about, if any.
    pub const fn person(&self) -> Option<PersonSelector> {
        match self {
            Self::Lookup { person, .. }
            | Self::Add { person }
            | Self::Delete { person }
            | Self::Modify { person, .. }
            | Self::Refresh { person, .. }
            | Self::Compare { person, .. } => Some(*person),
            Self::Bind { .. }
            | Self::Retrieve { .. }
            | Self::Search { .. }
            | Self::AddTaken(_)
            | Self::Ask(_)
            | Self::Prepare(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Step {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_bare_bind_is_anonymous_and_version_3() {
        let anonymous = Step::Bind { dn: String::new(), password: String::new(), version: 3, sasl: None };
        assert_eq!(read(r#"{"bind": {}}"#), anonymous);
    }

    #[test]
    fn a_bind_may_name_a_mechanism() {
        let Step::Bind { sasl, .. } = read(r#"{"bind": {"sasl": "external"}}"#) else { panic!("a bind") };
        assert_eq!(sasl, Some(Mechanism::External));
    }

    #[test]
    fn a_search_covers_the_subtree_unless_told_otherwise() {
        let Step::Search { scope, .. } = read(r#"{"search": {"base": "", "filter": "(cn=*)"}}"#) else {
            panic!("a search");
        };
        assert_eq!(scope, Scope::Sub);
    }

    #[test]
    fn changes_read() {
        let text = r#"{"modify": {"person": "new", "changes": [{"op": "replace", "attribute": "l", "values": ["x"]}]}}"#;
        let Step::Modify { person: PersonSelector::New, changes } = read(text) else { panic!("a modify") };
        assert_eq!((changes[0].op, changes[0].values.len()), (ChangeOp::Replace, 1));
    }
}
