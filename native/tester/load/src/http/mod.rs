//! HTTP/1.1: encoding requests, reading and verifying answers.
//!
//! A step is one request made from templates; the answer is compared with the known properties of the
//! person it is about. Nothing is pipelined, and redirects are not followed (they are statuses like others).
//!
//! # Verifying updates
//!
//! A lane updates only people whom no other lane updates: of those a thread owns (a residue class of
//! their numbers) each lane holds one from the draw to the page that proves the update. That page is the
//! lane's next one with `fresh` texts to look for, whatever person its step names. People whose update
//! was never answered stay taken: it may still take place. Where all are taken, people are updated all
//! the same and their pages prove nothing: use more people than lanes.

mod asked;
mod describe;
mod encode;
mod escape;
mod field;
mod file;
mod head;
mod look;
mod people_view;
mod receive;
mod request;
mod scripted;
mod spec;
mod target;
mod template;
#[cfg(test)]
mod tests;
mod verify;

use std::sync::Arc;

use files::{Checker, FileSet};
use people::visitor::Visitors;
use wire::http::Body;

use crate::choose::keys::Keys;
use crate::choose::owned_keys::OwnedKeys;
use crate::choose::ring::RingCursor;
use crate::config::Config;
use crate::program::{self, Compiled, Connects, MAIN, ProgramError, ProgramSpec, Rules};
use crate::scripted::{Running, Script};

pub use asked::Request;
pub(crate) use scripted::check as check_scenario;
pub(crate) use scripted::{Requests, VisitorColumns};
pub use spec::{Effect, Step};
pub use target::{Target, TargetError};

use head::Heads;
use people_view::{PeopleView, Person};
use request::Described;
use scripted::Visit;
use target::SECURE;

/// Everything about a load on a site.
pub type HttpConfig = Config<Target, Step>;

/// Where a lane is in an answer.
#[derive(Debug, Default)]
enum Stage {
    #[default]
    Head,
    /// The whole body, in one piece.
    Whole { length: u64 },
    /// A body that is not looked at.
    Skip { left: u64, length: u64 },
    /// A file's body, compared as it comes.
    Check { left: u64, length: u64 },
    /// A body of unknown length.
    Stream { body: Body, length: u64 },
}

/// What a lane remembers between requests.
#[derive(Debug, Default)]
pub struct LaneState {
    stage: Stage,
    status: u16,
    keeps: bool,
    /// The person that the request in flight is about.
    asked: Person,
    current: Option<Person>,
    /// The person this lane created last.
    new: Option<Person>,
    /// The person this lane holds for updates.
    held: Option<u64>,
    /// An update is in flight.
    updating: bool,
    /// The person whose next page must show the update.
    pending: Option<Person>,
    /// What the last update's values are made of.
    draw: u64,
    captured: Vec<u8>,
    /// A body that came in pieces.
    body: Vec<u8>,
    /// What the file in flight must be.
    file: Option<Checker>,
    file_number: u64,
    /// What it remembers for a scenario.
    memory: Option<Box<Visit>>,
}

/// What the protocols of all threads share.
#[derive(Clone)]
pub(crate) struct Shared {
    visitors: Option<Arc<Visitors>>,
    files: Option<Arc<FileSet>>,
    target: Arc<Target>,
    verify: bool,
    threads: u64,
    scripts: Vec<Script>,
}

/// HTTP as one thread speaks it.
pub struct Http {
    keepalive: bool,
    verify: bool,
    keys: Keys,
    ring: Option<RingCursor>,
    rng: fastrand::Rng,
    people_view: PeopleView,
    owned_keys: OwnedKeys,
    heads: Heads,
    files: Option<Arc<FileSet>>,
    scripts: Vec<Running>,
    /// Room for texts to look for, and for bodies to send.
    scratch: Vec<u8>,
    /// Room for what is still to be escaped.
    raw: Vec<u8>,
}

impl Shared {
    pub(crate) fn new(
        config: &HttpConfig,
        visitors: Option<Arc<Visitors>>,
        scripts: Vec<Script>,
    ) -> Result<Self, TargetError> {
        config.target.check()?;
        let target = Arc::new(config.target.clone());
        let (size, threads, of) = (target.size, config.threads as u64, target.share.of);
        if size < threads * of && any_has(&config.programs, &|step| has(step, Effect::Update)) {
            return Err(TargetError::TooFew { size, threads, of });
        }
        let files = target.files.clone().map(FileSet::new).transpose()?.map(Arc::new);
        Ok(Self { visitors, files, target, verify: config.verify, threads: config.threads as u64, scripts })
    }

    /// Compiles programs for this target.
    pub(crate) fn compile(
        &self,
        programs: &[ProgramSpec<Step>],
        open: bool,
    ) -> Result<Compiled<Request>, ProgramError> {
        let connects = if self.target.keepalive { Connects::WhenDown } else { Connects::Always };
        let mut id = 0;
        let endpoint = |step: &Step| if step.tls() { SECURE } else { MAIN };
        let rules = Rules { open, connects, endpoint, phases: self.target.phases };
        program::compile(programs, rules, |name, step| {
            if step.tls() {
                self.target.check_secure_step()?;
            }
            let request = match step {
                Step::Request(spec) => {
                    let made = Described::new(id, spec, &self.target, self.visitors.is_some())?;
                    Request::Described(Box::new(made))
                }
                Step::File(spec) => Request::Described(Box::new(Described::file(
                    id,
                    spec,
                    &self.target,
                    self.files.as_deref(),
                )?)),
                Step::Ask(ask) => Request::Ask(id, ask.clone()),
                Step::Prepare(preparation) => Request::Prepare(preparation.clone()),
                Step::Take => Request::Take,
            };
            id += 1;
            Ok(vec![(name.to_owned(), request)])
        })
    }
}

impl Http {
    pub(crate) fn new(
        shared: Shared,
        keys: Keys,
        ring: Option<RingCursor>,
        seed: u64,
        thread: usize,
    ) -> Self {
        let scripts = shared.scripts.iter().map(|script| Running::new(script, thread)).collect();
        let (place, stride) = shared.target.share.of_thread(thread as u64, shared.threads);
        Self {
            keepalive: shared.target.keepalive,
            verify: shared.verify,
            keys,
            ring,
            rng: fastrand::Rng::with_seed(seed),
            owned_keys: OwnedKeys::new(shared.target.size, place, stride),
            people_view: PeopleView::new(shared.visitors, shared.target.size),
            heads: Heads::default(),
            files: shared.files,
            scripts,
            scratch: Vec::new(),
            raw: Vec::new(),
        }
    }
}

/// Whether any program creates people.
pub(crate) fn creates_people(programs: &[ProgramSpec<Step>]) -> bool {
    any_has(programs, &|step| matches!(step, Step::Take) || has(step, Effect::Create))
}

fn has(step: &Step, effect: Effect) -> bool {
    matches!(step, Step::Request(spec) if spec.effect == effect)
}

fn any_has(programs: &[ProgramSpec<Step>], is: &dyn Fn(&Step) -> bool) -> bool {
    programs.iter().any(|program| any_step_has(&program.steps, is))
}

fn any_step_has(steps: &[program::Step<Step>], is: &dyn Fn(&Step) -> bool) -> bool {
    steps.iter().any(|step| match step {
        program::Step::Repeat { steps, .. }
        | program::Step::WhenDown { steps }
        | program::Step::Once { steps, .. } => any_step_has(steps, is),
        program::Step::Operation(operation) => any_step_has(&operation.steps, is),
        program::Step::Deck { branches } => branches.iter().any(|branch| any_step_has(&branch.steps, is)),
        program::Step::Request { request, .. } | program::Step::Prepare(request) => is(request),
        _ => false,
    })
}
