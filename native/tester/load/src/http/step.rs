//! Steps of programs for a site, and what lanes ask for them.

use std::sync::Arc;

use super::ask::Ask;
use super::file::{FileRequest, FileSpec};
use crate::scripted::Preparation;

/// A step of a program.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Ask for something.
    Ask(Arc<Ask>),
    /// Ask for a file of the target's set, and look at every byte of it.
    File(FileSpec),
    /// What a scenario chooses before its steps.
    Prepare(Arc<Preparation>),
}

impl Step {
    /// Whether it goes to the target's secure endpoint.
    pub(super) fn is_secure(&self) -> bool {
        match self {
            Self::Ask(ask) => ask.is_secure(),
            Self::File(file) => file.secure,
            Self::Prepare(_) => false,
        }
    }
}

/// A compiled step. What is asked for has a number among all requests of the engine.
#[derive(Debug)]
pub enum Request {
    /// See [`Step::Ask`].
    Ask(usize, Arc<Ask>),
    /// See [`Step::File`].
    File(usize, FileRequest),
    /// See [`Step::Prepare`].
    Prepare(Arc<Preparation>),
}

impl Request {
    /// Its number.
    pub(super) fn id(&self) -> usize {
        match self {
            Self::Ask(id, _) | Self::File(id, _) => *id,
            Self::Prepare(_) => 0,
        }
    }

    /// Whether the answer has no body, whatever it says.
    pub(super) fn head_only(&self) -> bool {
        matches!(self, Self::Ask(_, ask) if ask.head_only())
    }

    /// Whether the answer's body is of interest as a whole.
    pub(super) fn reads_body(&self, verify: bool) -> bool {
        matches!(self, Self::Ask(_, ask) if ask.reads_body(verify))
    }

    /// Whether redirects are followed, and not answers like others.
    pub(super) fn follows(&self) -> bool {
        matches!(self, Self::Ask(_, ask) if ask.follows.is_some())
    }

    /// Whether it is for a file of a set.
    pub(super) const fn is_for_file(&self) -> bool {
        matches!(self, Self::File(..))
    }
}
