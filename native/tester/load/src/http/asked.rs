//! What a lane asks a site.

use std::sync::Arc;

use super::request::Described;
use super::scripted::Ask;
use crate::scripted::Preparation;

/// A compiled request.
#[derive(Debug)]
pub enum Request {
    /// One that is described by its templates.
    Described(Box<Described>),
    /// A step of a scenario, with its number among all requests of the engine.
    Ask(usize, Arc<Ask>),
    /// What a scenario chooses before its steps.
    Prepare(Arc<Preparation>),
    /// One of the people whom a run adds is taken.
    Take,
}

impl Request {
    /// Its number among all requests of the engine.
    pub(super) fn id(&self) -> usize {
        match self {
            Self::Described(request) => request.id,
            Self::Ask(id, _) => *id,
            Self::Prepare(_) | Self::Take => 0,
        }
    }

    /// Whether the answer has no body, whatever it says.
    pub(super) fn head_only(&self) -> bool {
        match self {
            Self::Described(request) => request.line.head_only,
            Self::Ask(_, ask) => ask.head_only(),
            Self::Prepare(_) | Self::Take => false,
        }
    }

    /// Whether the answer's body is of interest.
    pub(super) fn reads_body(&self, verify: bool) -> bool {
        match self {
            Self::Described(request) => request.reads_body(verify),
            Self::Ask(_, ask) => ask.reads_body(verify),
            Self::Prepare(_) | Self::Take => false,
        }
    }

    /// Whether it is for a file of a set.
    pub(super) fn is_for_file(&self) -> bool {
        matches!(self, Self::Described(request) if request.file.is_some())
    }
}
