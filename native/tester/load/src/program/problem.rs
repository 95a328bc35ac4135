//! Why programs are refused.

use super::SEQUENCE;

/// How deep repeats nest.
pub(super) const MAX_DEPTH: usize = 16;

/// Why a program cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum ProgramError {
    #[error("no scenario: give at least one under \"scenarios\"")]
    NoPrograms,
    #[error("two programs are called {0:?}: give each a name of its own")]
    DuplicateProgram(String),
    #[error("more than 65,536 steps in all programs together: use \"repeat\"")]
    TooManySteps,
    #[error("program {program:?}: {problem}")]
    Program { program: String, problem: Problem },
}

/// The problem of a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum Problem {
    #[error("\"repeat\" and \"deck\" nest more than {MAX_DEPTH} deep")]
    TooDeep,
    #[error("a step is called \"{SEQUENCE}\", which is the name of the whole pass: call it otherwise")]
    ReservedName,
    /// The name is taken where phases are recorded.
    #[error("a step is called {0:?}, which is the name of a phase of every request: call it otherwise")]
    PhaseName(String),
}
