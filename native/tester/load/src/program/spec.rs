//! Programs before they are flattened: a tree of steps, with requests `R` of the protocol.

use crate::choose::schedule::Think;
use crate::fill::Preparation;

/// The default endpoint of steps.
pub(crate) const MAIN: usize = 0;

/// The program of a scenario's lanes, which repeat it.
#[derive(Debug)]
pub(crate) struct ProgramSpec<R> {
    pub(crate) name: String,
    /// The step that counts as an operation, or `sequence`. The rate of an open schedule is the rate of this
    /// step. `None` if the program has operations, which name their own counted steps.
    pub(crate) counts: Option<String>,
    pub(crate) steps: Vec<Step<R>>,
    /// Whether an arrival starts a whole pass, even if the counted step is in a repeat.
    pub(crate) arrives_whole: bool,
    pub(crate) pools: Vec<PoolSpec<R>>,
}

#[derive(Debug)]
pub(crate) struct PoolSpec<R> {
    /// The pool's name in its result rows.
    pub(crate) name: String,
    /// The number of connections of all threads together; `None` for as many connections as the lanes need.
    pub(crate) connections: Option<u32>,
    /// The maximum of requests in flight on one connection.
    pub(crate) places: u8,
    pub(crate) steps: Vec<Step<R>>,
}

#[derive(Debug)]
pub(crate) enum Step<R> {
    /// Opens a connection, after closing the current connection.
    Connect { name: String, endpoint: usize },
    /// Makes this one of the lane's connections the current one.
    Switch(usize),
    /// Sends further requests over this pool; with `None` over the lane's own connection.
    Over(Option<usize>),
    /// Waits until a connection of this pool is open.
    AwaitPool(usize),
    /// Counts an operation over the connection, and closes the connection after `times` operations.
    Used { name: String, times: u64 },
    /// Sends the farewell and closes.
    Close { name: String },
    /// Repeats steps this many times.
    Repeat { times: u64, steps: Vec<Step<R>> },
    /// Repeats steps once per value of a list.
    Each { list: usize, steps: Vec<Step<R>> },
    /// Pauses as a user thinks.
    Think(Think),
    /// Performs one of several branches, according to their weights.
    Deck { branches: Vec<Branch<R>> },
    /// Sends a request to the target.
    Request { name: String, request: R },
    /// Performs steps if the connection is down; the steps open it.
    WhenDown { steps: Vec<Step<R>> },
    /// Performs steps if this side has closed the connection.
    WhenClosed { steps: Vec<Step<R>> },
    /// Performs steps only in a lane's first pass, with result rows under this name.
    Once { name: String, steps: Vec<Step<R>> },
    /// Draws rows and values for the next steps; nothing is sent.
    Prepare(Preparation),
    /// Performs an operation, with result rows under the operation's name.
    Operation(Operation<R>),
}

/// An operation of a program with several operations.
#[derive(Debug)]
pub(crate) struct Operation<R> {
    pub(crate) name: String,
    /// The counted step, or `sequence`.
    pub(crate) counts: String,
    pub(crate) steps: Vec<Step<R>>,
}

#[derive(Debug)]
pub(crate) struct Branch<R> {
    /// The number of its cards in the deck.
    pub(crate) weight: u64,
    pub(crate) steps: Vec<Step<R>>,
}
