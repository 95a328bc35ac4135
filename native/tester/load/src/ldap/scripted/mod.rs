//! Requests of scenario files: whatever LDAP can ask, filled in from data.
//!
//! `convert` makes a program of a scenario, `ask` turns a step into a frame and what fills it, and
//! `judge` looks at answers. Rows and values are `values`'s.

mod ask;
mod convert;
mod judge;

pub use ask::Ask;
pub use convert::check;
pub(crate) use convert::convert;

use std::sync::Arc;

use crate::choose::deal::Sharer;
use crate::values::{Draw, Drawers, Kept, Plan};

/// One scenario of an engine, as all its threads have it.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) plan: Arc<Plan>,
    pub(crate) sharer: Sharer,
}

/// The same, as one thread runs it.
pub(super) struct Running {
    pub(super) plan: Arc<Plan>,
    pub(super) drawers: Drawers,
}

impl Running {
    pub(super) fn new(script: &Script, thread: usize) -> Self {
        let drawers = Drawers::new(&script.plan, script.sharer, thread);
        Self { plan: script.plan.clone(), drawers }
    }
}

/// What is chosen before steps are done.
#[derive(Debug, PartialEq)]
pub struct Preparation {
    /// Which of the engine's scenarios it is for.
    pub(super) script: usize,
    pub(super) draws: Vec<Draw>,
}

/// What a lane remembers for its scenario.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) kept: Kept,
    /// Captures of the answer at hand that were found.
    pub(super) found: u64,
}
