//! The steps of HTTP programs as they are described.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::scripted::Ask;
use crate::scripted::Preparation;

/// A request step.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Ask for something.
    Request(Box<RequestSpec>),
    /// Ask for a file of the target's set, and look at every byte of it.
    File(FileSpec),
    /// A step of a scenario.
    #[serde(skip)]
    Ask(Arc<Ask>),
    /// What a scenario chooses before its steps.
    #[serde(skip)]
    Prepare(Arc<Preparation>),
    /// One of the people whom a run adds is taken.
    #[serde(skip)]
    Take,
}

impl Step {
    /// Whether it goes to the target's secure endpoint.
    pub(super) fn tls(&self) -> bool {
        match self {
            Self::Request(spec) => spec.tls,
            Self::File(spec) => spec.tls,
            Self::Ask(ask) => ask.is_secure(),
            Self::Prepare(_) | Self::Take => false,
        }
    }
}

/// A file of a class, drawn anew for each request, each with the same probability.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// The name of the class.
    pub class: String,
    /// Whether it goes to the target's secure endpoint.
    #[serde(default)]
    pub tls: bool,
    /// Header lines of a scenario, as they are sent.
    #[serde(skip)]
    pub lines: String,
}

/// The person a step is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PersonSelector {
    /// Drawn by the configured key choice.
    Random,
    /// Drawn likewise among those that no other lane updates.
    Own,
    /// The person of the step before.
    Current,
    /// In a create: the next of the run's own people. Elsewhere: the one this lane created last.
    New,
}

/// The effect of a step on the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Changes nothing.
    #[default]
    Read,
    /// Creates a person.
    Create,
    /// Changes a person.
    Update,
}

/// How texts are written in answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// With HTML's character references.
    #[default]
    Html,
    /// With JSON's escapes.
    Json,
    /// As they are.
    Plain,
}

/// One request; all texts but the method are templates.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestSpec {
    /// GET, POST, ...
    #[serde(default = "get")]
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Header lines in addition to those of the target.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub body: Option<String>,
    /// The body's media type; that of a form by default.
    #[serde(default)]
    pub content_type: Option<String>,
    /// The person it is about; the default depends on `does`.
    #[serde(default)]
    pub person: Option<PersonSelector>,
    /// Its effect on the site.
    #[serde(default, rename = "does")]
    pub effect: Effect,
    /// How texts stand in the answer.
    #[serde(default, rename = "match")]
    pub matching: Match,
    /// What the answer must be.
    #[serde(default)]
    pub expect: Expect,
    /// What is remembered of the answer.
    #[serde(default)]
    pub capture: Option<Capture>,
    /// Whether it goes to the target's secure endpoint.
    #[serde(default)]
    pub tls: bool,
}

/// What an answer must be.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// Its status.
    pub status: Statuses,
    /// Bytes of its body.
    pub length: Option<u64>,
    /// What must be in it.
    pub contains: Vec<String>,
    /// The person it must be about.
    pub identity: Option<Identity>,
    /// What must be in it after an update of its person.
    pub fresh: Vec<String>,
}

/// One status or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Statuses {
    /// This one.
    One(u16),
    /// Any of these.
    Many(Vec<u16>),
}

impl Default for Statuses {
    /// As docs/scenarios.md says. A range like 200 to 299 would count an answer without the content (202, 204) as a
    /// page.
    fn default() -> Self {
        Self::One(200)
    }
}

/// Where an answer names the person it is about.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// What stands before it; no template.
    pub before: String,
    /// What it must be.
    pub value: String,
    /// What stands behind it; no template.
    #[serde(default = "quote")]
    pub until: String,
}

/// Where an answer says what is to be remembered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Capture {
    /// The value of a cookie it sets.
    Cookie {
        /// The cookie's name.
        cookie: String,
    },
    /// A part of the body.
    Text {
        /// What stands before it.
        before: String,
        /// What stands behind it.
        until: String,
    },
}

fn get() -> String {
    "GET".to_owned()
}

fn quote() -> String {
    "\"".to_owned()
}
