//! Why programs are refused.

use super::SEQUENCE;

/// How deep repeats nest.
pub(super) const MAX_DEPTH: usize = 16;

/// Why a program cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// Nothing to run.
    #[error("no scenario: give at least one under \"scenarios\"")]
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
    /// Too deep.
    #[error("\"repeat\" and \"deck\" nest more than {MAX_DEPTH} deep")]
    TooDeep,
    /// The name is taken.
    #[error("a step is called \"{SEQUENCE}\", which is the name of the whole pass: call it otherwise")]
    ReservedName,
    /// The name is taken where phases are recorded.
    #[error("a step is called {0:?}, which is the name of a phase of every request: call it otherwise")]
    PhaseName(String),
}
