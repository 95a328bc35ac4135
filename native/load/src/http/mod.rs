//! What lanes say when they speak HTTP/1.1, and what they make of the answers.
//!
//! A step is one request made from templates; the answer is compared with what is known of the person it
//! is about. Nothing is pipelined, and redirects are not followed (they are statuses like others).
//!
//! # Updates and what has to be seen of them
//!
//! A lane updates only people whom no other lane updates: of those a thread calls its own (a residue
//! class of their numbers) each lane holds one from the draw to the page that proves the update. That
//! page is the lane's next one that knows how to tell (`fresh`), whatever person its step names. People
//! whose update was never answered stay taken: it may still take place. Where nobody is left to take,
//! people are updated all the same and what their pages show proves nothing: have more people than lanes.

mod cast;
mod encode;
mod escape;
mod field;
mod head;
mod ours;
mod receive;
mod request;
mod spec;
mod target;
mod template;
#[cfg(test)]
mod tests;
mod verify;

use std::sync::Arc;

use people::visitor::Visitors;
use wire::http::Body;

use crate::choose::keys::Keys;
use crate::choose::ring::Hand;
use crate::config::Config;
use crate::program::{self, Compiled, Connects, ProgramError, ProgramSpec};

pub use request::Request;
pub use spec::{Does, Step};
pub(crate) use target::security;
pub use target::{Target, TargetError};

use cast::{Cast, Person};
use head::Heads;
use ours::Ours;

/// Everything about a load on a site.
pub type HttpConfig = Config<Target, Step>;

/// Where a lane is in an answer.
#[derive(Debug, Default)]
enum Stage {
    #[default]
    Head,
    /// The whole body, in one piece.
    Whole { length: u64 },
    /// So many bytes nobody wants to look at.
    Skip { left: u64, length: u64 },
    /// A body whose length is not known in advance.
    Stream { body: Body, length: u64 },
}

/// What a lane remembers between requests.
#[derive(Debug, Default)]
pub struct LaneState {
    stage: Stage,
    status: u16,
    keeps: bool,
    /// Whom the request in flight is about.
    asked: Person,
    current: Option<Person>,
    /// The one this lane created last.
    new: Option<Person>,
    /// The one nobody else updates.
    held: Option<u64>,
    /// An update is in flight.
    updating: bool,
    /// The one whose next page must show what was updated.
    pending: Option<Person>,
    /// What the last update's values are made of.
    draw: u64,
    captured: Vec<u8>,
    /// A body that came in pieces.
    body: Vec<u8>,
}

/// What all threads' protocols have in common.
#[derive(Clone)]
pub(crate) struct Shared {
    visitors: Option<Arc<Visitors>>,
    target: Arc<Target>,
    verify: bool,
    threads: u64,
}

/// HTTP as one thread speaks it.
pub(crate) struct Http {
    keepalive: bool,
    verify: bool,
    keys: Keys,
    hand: Option<Hand>,
    rng: fastrand::Rng,
    cast: Cast,
    ours: Ours,
    heads: Heads,
    /// Room for texts to look for, and for bodies to send.
    scratch: Vec<u8>,
}

impl Shared {
    pub(crate) fn new(config: &HttpConfig, visitors: Option<Arc<Visitors>>) -> Result<Self, TargetError> {
        config.target.check()?;
        let target = Arc::new(config.target.clone());
        let (size, threads, of) = (target.size, config.threads as u64, target.share.of);
        if size < threads * of && does(&config.programs, Does::Update) {
            return Err(TargetError::TooFew { size, threads, of });
        }
        Ok(Self { visitors, target, verify: config.verify, threads: config.threads as u64 })
    }

    /// Compiles programs for this target.
    pub(crate) fn compile(
        &self,
        programs: &[ProgramSpec<Step>],
        open: bool,
    ) -> Result<Compiled<Request>, ProgramError> {
        let connects = if self.target.keepalive { Connects::WhenDown } else { Connects::Always };
        let mut id = 0;
        program::compile(programs, open, connects, |name, Step::Request(spec)| {
            let request = Request::new(id, spec, &self.target, self.visitors.is_some())?;
            id += 1;
            Ok(vec![(name.to_owned(), request)])
        })
    }
}

impl Http {
    pub(crate) fn new(shared: Shared, keys: Keys, hand: Option<Hand>, seed: u64, thread: usize) -> Self {
        let (place, stride) = shared.target.share.of_thread(thread as u64, shared.threads);
        Self {
            keepalive: shared.target.keepalive,
            verify: shared.verify,
            keys,
            hand,
            rng: fastrand::Rng::with_seed(seed),
            ours: Ours::new(shared.target.size, place, stride),
            cast: Cast::new(shared.visitors, shared.target.size),
            heads: Heads::default(),
            scratch: Vec::new(),
        }
    }
}

/// Whether any program creates people.
pub(crate) fn creates_people(programs: &[ProgramSpec<Step>]) -> bool {
    does(programs, Does::Create)
}

fn does(programs: &[ProgramSpec<Step>], what: Does) -> bool {
    programs.iter().any(|program| any_does(&program.steps, what))
}

fn any_does(steps: &[program::Step<Step>], what: Does) -> bool {
    steps.iter().any(|step| match step {
        program::Step::Repeat { steps, .. } => any_does(steps, what),
        program::Step::Deck { branches } => branches.iter().any(|branch| any_does(&branch.steps, what)),
        program::Step::Request { request: Step::Request(spec), .. } => spec.does == what,
        _ => false,
    })
}
