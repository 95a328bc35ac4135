//! Programs before they are flattened: a tree of steps, with requests `R` of the protocol.

use crate::choose::schedule::Think;
use crate::fill::Preparation;

/// The default endpoint of steps.
pub(crate) const MAIN: usize = 0;

/// The program of a scenario's lanes, which repeat it.
#[derive(Debug)]
pub(crate) struct ProgramSpec<R> {
    pub(crate) name: String,
    /// The step that counts as an operation, or `sequence`: the rate of an open schedule is the rate of this step.
    /// `None` if the program has operations, which name their own.
    pub(crate) counts: Option<String>,
    pub(crate) steps: Vec<Step<R>>,
    /// Whether an arrival starts a whole pass, also where the counted step is in a repeat.
    pub(crate) arrives_whole: bool,
    /// Connections that its lanes share.
    pub(crate) pools: Vec<PoolSpec<R>>,
}

/// Connections that lanes share.
#[derive(Debug)]
pub(crate) struct PoolSpec<R> {
    /// The name in their rows.
    pub(crate) name: String,
    /// The number of connections of all threads together; `None`: as many as give each lane a place.
    pub(crate) connections: Option<u32>,
    /// Maximum of requests in flight on one connection.
    pub(crate) places: u8,
    pub(crate) steps: Vec<Step<R>>,
}

/// A step of a program.
#[derive(Debug)]
pub(crate) enum Step<R> {
    /// Open a connection, after closing the current one.
    Connect { name: String, endpoint: usize },
    /// Make this one of the lane's connections the current one.
    Switch(usize),
    /// Send further requests over this pool; `None`: over the lane's own connection.
    Over(Option<usize>),
    /// Wait until a connection of this pool is open.
    AwaitPool(usize),
    /// Count an operation over the connection, and close the connection after `times` operations.
    Used { name: String, times: u64 },
    /// Send the farewell and close.
    Close { name: String },
    /// Repeat some steps.
    Repeat { times: u64, steps: Vec<Step<R>> },
    /// Repeat some steps once per value of a list, given by its place.
    Each { list: usize, steps: Vec<Step<R>> },
    /// Wait as a person would.
    Think(Think),
    /// Perform one of several branches, by their weights.
    Deck { branches: Vec<Branch<R>> },
    /// Send a request to the target.
    Request { name: String, request: R },
    /// Perform some steps if the connection is down; they open it.
    WhenDown { steps: Vec<Step<R>> },
    /// Perform some steps if this side has closed the connection.
    WhenClosed { steps: Vec<Step<R>> },
    /// Perform some steps only in a lane's first pass, with rows under this name.
    Once { name: String, steps: Vec<Step<R>> },
    /// Draw rows and values for the next steps; nothing is sent.
    Prepare(Preparation),
    /// Perform an operation, with rows under its own name.
    Operation(Operation<R>),
}

/// One of the operations of a program that has several.
#[derive(Debug)]
pub(crate) struct Operation<R> {
    /// The name in its rows.
    pub(crate) name: String,
    /// The step that is counted, or `sequence`.
    pub(crate) counts: String,
    pub(crate) steps: Vec<Step<R>>,
}

/// A branch of a deck.
#[derive(Debug)]
pub(crate) struct Branch<R> {
    /// The number of its cards in the deck.
    pub(crate) weight: u64,
    pub(crate) steps: Vec<Step<R>>,
}
