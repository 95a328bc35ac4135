//! Programs before they are flattened: a tree of steps, of which the protocol gives the requests `R`.

use crate::choose::schedule::Think;
use crate::fill::Preparation;

/// The endpoint of steps that do not say otherwise.
pub(crate) const MAIN: usize = 0;

/// What the lanes of a scenario do, over and over.
#[derive(Debug)]
pub(crate) struct ProgramSpec<R> {
    pub(crate) name: String,
    /// The step that is "an operation", or `sequence`: what an open schedule's rate is the rate of. `None` where its
    /// operations say so.
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
    /// What their rows are called after.
    pub(crate) name: String,
    /// How many there are, of all threads together; else as many as give each lane a place.
    pub(crate) connections: Option<u32>,
    /// Requests in flight on one at a time.
    pub(crate) places: u8,
    pub(crate) steps: Vec<Step<R>>,
}

/// A step of it.
#[derive(Debug)]
pub(crate) enum Step<R> {
    /// Open a connection, after closing the one there is.
    Connect { name: String, endpoint: usize },
    /// Go on with this one of the lane's connections.
    Switch(usize),
    /// Ask over one of these shared connections from here on; over the lane's own without.
    Over(Option<usize>),
    /// Wait until one of these shared connections stands.
    AwaitPool(usize),
    /// Count an operation that the connection was used for, and close it after so many.
    Used { name: String, times: u64 },
    /// Send the farewell and close.
    Close { name: String },
    /// Do some steps over and over.
    Repeat { times: u64, steps: Vec<Step<R>> },
    /// Do some steps once for each value of a list, by the place of the list.
    Each { list: usize, steps: Vec<Step<R>> },
    /// Wait as a person would.
    Think(Think),
    /// Do one of several things, as often as its weight says.
    Deck { branches: Vec<Branch<R>> },
    /// Ask the target something.
    Request { name: String, request: R },
    /// Do some steps where there is no connection, for it to be there from then on.
    WhenDown { steps: Vec<Step<R>> },
    /// Do some steps where this side has closed the connection.
    WhenClosed { steps: Vec<Step<R>> },
    /// Do some steps in a lane's first pass alone, with rows under a name of their own.
    Once { name: String, steps: Vec<Step<R>> },
    /// Choose what the steps after it are about; nothing is sent.
    Prepare(Preparation),
    /// Do some steps that are an operation of their own, with rows under its name.
    Operation(Operation<R>),
}

/// One of the operations of a program that has several.
#[derive(Debug)]
pub(crate) struct Operation<R> {
    /// What its rows are under.
    pub(crate) name: String,
    /// The step that is counted, or `sequence`.
    pub(crate) counts: String,
    pub(crate) steps: Vec<Step<R>>,
}

/// One of several things to do.
#[derive(Debug)]
pub(crate) struct Branch<R> {
    /// How many cards of the deck it has.
    pub(crate) weight: u64,
    pub(crate) steps: Vec<Step<R>>,
}
