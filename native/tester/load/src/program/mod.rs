//! Programs, which lanes repeat: from their specification to a flat list of ops.
//!
//! A specification ([`ProgramSpec`]) is a tree of steps with the protocol's requests, made from a scenario
//! ([`crate::scripted`]). The compiler flattens repeats into jumps with counters and gives each step its
//! recorder, so that running a program neither allocates nor searches.

mod compile;
mod cursor;
mod deck;
mod spec;

pub use compile::ProgramError;
pub(crate) use compile::{Compiled, Connects, Op, PHASES, Phases, PoolPlan, Program, Rules, Share, compile};
pub(crate) use cursor::{Backoff, Cursor, SILENT_PAUSE_NS, Walker, start_over, walk};
pub(crate) use deck::Deck;
pub(crate) use spec::{Branch, MAIN, Operation, PoolSpec, ProgramSpec, Step};

/// The name of the whole pass among a program's steps.
pub const SEQUENCE: &str = "sequence";

/// The result row of arrivals that no lane has taken, in a program with operations.
pub const NOT_BEGUN: &str = "not begun";
