//! Why programs are refused.

use super::SEQUENCE;

/// The most cards of a deck.
pub(super) const MAX_CARDS: u64 = 10_000;

/// How deep repeats nest.
pub(super) const MAX_DEPTH: usize = 16;

/// Why a program cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// Nothing to run.
    #[error("no programs: list at least one under \"programs\"")]
    NoPrograms,
    /// Two of the same name.
    #[error("two programs are called {0:?}: give each a name of its own")]
    DuplicateProgram(String),
    /// Too many to number.
    #[error("more than 65,536 steps in all programs together: use \"repeat\"")]
    TooManySteps,
    /// Something about one program.
    #[error("program {program:?}: {problem}")]
    Program {
        /// Its name.
        program: String,
        /// The problem.
        problem: Problem,
    },
}

/// The problem of a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Requests need a connection.
    #[error("step {0:?} needs a connection: put {{\"op\": \"connect\"}} before it")]
    NotConnected(String),
    /// Nothing is ever done.
    #[error("it has no steps: begin with {{\"op\": \"connect\"}}")]
    Empty,
    /// Requests after a farewell.
    #[error("step {0:?} follows \"unbind\" without a \"connect\" between them")]
    AfterClose(String),
    /// A loop that does nothing.
    #[error("\"repeat\" needs \"times\" of at least 1 and at least one step")]
    EmptyRepeat,
    /// A deck that deals nothing.
    #[error("\"deck\" needs branches with at least one step each, and 1 to {MAX_CARDS} cards in all")]
    BadDeck,
    /// Too deep.
    #[error("\"repeat\" and \"deck\" nest more than {MAX_DEPTH} deep")]
    TooDeep,
    /// The step to count does not exist.
    #[error("it counts {counts:?}, which is not one of its steps: use one of {steps}, or \"{SEQUENCE}\"")]
    NothingCounted {
        /// The step to count.
        counts: String,
        /// The names of its steps.
        steps: String,
    },
    /// The name is taken.
    #[error("a step is called \"{SEQUENCE}\", which is the name of the whole pass: call it otherwise")]
    ReservedName,
    /// The name is taken where phases are recorded.
    #[error("a step is called {0:?}, which is the name of a phase of every request: call it otherwise")]
    PhaseName(String),
    /// A request that makes no sense.
    #[error("step {step:?}: {problem}")]
    Request {
        /// Its name.
        step: String,
        /// The problem.
        problem: String,
    },
}
