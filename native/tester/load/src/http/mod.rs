//! HTTP/1.1: encoding requests, reading and judging answers.
//!
//! `ask` turns a step of a scenario into what is sent and looked for, `fill` writes its texts, `jar` keeps cookies,
//! `receive` reads answers, and `judge` looks at them. `file` asks for files of a set, `lower` makes programs of
//! scenarios ([`crate::scripted`]). Nothing is pipelined. Redirects are statuses like others, but for steps that `follow`
//! them.
//!
//! # Verifying updates
//!
//! A lane updates people whom no other lane updates ([`crate::choose::owned_keys`]), and an update is proved by a page
//! of the same operation. People whose update was never answered stay taken: it may still take place. Where all are
//! taken, people are updated all the same and their pages prove nothing: use more people than lanes.

mod ask;
#[cfg(test)]
mod built_in;
mod describe;
mod escape;
mod file;
mod fill;
mod follow;
mod fresh;
mod head;
mod jar;
mod judge;
mod look;
mod lower;
mod receive;
mod request;
mod target;
#[cfg(test)]
mod tests;
mod visitors;
mod way;

use std::cell::Cell;
use std::sync::Arc;

use files::{Copies, FileSet};
use people::visitor::Visitors;
use scenario::Problems;
use wire::http::Body;

use crate::choose::ring::RingCursor;
use crate::config::{Config, KeysConfig};
use crate::fill::{Given, Tables};
use crate::program::{self, Compiled, Connects, MAIN, ProgramError, ProgramSpec, Rules};
use crate::record::failure::Failure;
use crate::scenario_spec::ScenarioSpec;
use crate::scripted::{self, Running, Script};

pub(crate) use lower::{Requests, check as check_scenario};
pub use request::Request;
pub use target::{Target, TargetError};
pub(crate) use visitors::VisitorColumns;

use file::AskedFile;
use head::Heads;
use judge::Visit;
use target::SECURE;
use visitors::PeopleView;

/// Everything about a load on a site.
pub type HttpConfig = Config<Target>;

/// Where a lane is in an answer.
#[derive(Debug, Default)]
enum Stage {
    #[default]
    Head,
    /// The whole body, in one piece.
    Whole { length: u64 },
    /// A body that is not looked at, or a file's, compared as it comes.
    Pass { left: u64, length: u64 },
    /// A body of unknown length.
    Stream { body: Body, length: u64 },
    /// That of a redirect, which is not looked at, and what is wrong with the redirect.
    Redirect { body: Body, failure: Option<Failure> },
}

/// What a lane remembers between requests.
#[derive(Debug, Default)]
pub struct LaneState {
    stage: Stage,
    status: u16,
    keeps: bool,
    /// A body that came in pieces.
    body: Vec<u8>,
    file: AskedFile,
    visit: Visit,
}

/// What the protocols of all threads share.
#[derive(Clone)]
pub(crate) struct Shared {
    visitors: Option<Arc<Visitors>>,
    files: Option<Arc<FileSet>>,
    copies: Option<Arc<Copies>>,
    target: Arc<Target>,
    verify: bool,
    scripts: Vec<Script>,
    /// How many requests its scenarios have so far.
    requests: usize,
}

/// HTTP as one thread speaks it.
pub struct Http {
    shared: Shared,
    ring: Option<RingCursor>,
    rng: fastrand::Rng,
    people: PeopleView,
    heads: Heads,
    scripts: Vec<Running>,
    /// Room for texts to look for, and for bodies to send.
    scratch: Vec<u8>,
    /// Room for what is still to be escaped.
    raw: Vec<u8>,
}

impl Shared {
    pub(crate) fn new(
        target: &Target,
        visitors: Option<Arc<Visitors>>,
        verify: bool,
    ) -> Result<Self, TargetError> {
        target.check()?;
        let files = target.files.clone().map(FileSet::new).transpose()?.map(Arc::new);
        let copies = files.as_deref().filter(|_| verify).map(|set| Arc::new(Copies::of(set)));
        let target = Arc::new(target.clone());
        Ok(Self { visitors, files, copies, target, verify, scripts: Vec::new(), requests: 0 })
    }

    /// Takes a scenario, and returns its program.
    pub(crate) fn take(
        &mut self,
        spec: &ScenarioSpec,
        tables: &Tables,
        keys: KeysConfig,
        threads: usize,
    ) -> Result<ProgramSpec<Request>, Problems> {
        let people = Arc::new(VisitorColumns::new(self.visitors.clone(), self.target.size));
        let given = Given { tables: spec.own(tables), people: Some(people), keys: keys.choice, owns: true };
        let lower = Requests {
            target: &self.target,
            files: self.files.as_deref(),
            has_visitors: self.visitors.is_some(),
            is_any: false,
            next: Cell::new(self.requests),
        };
        let seeds = (threads, keys.seed);
        let (program, script) = scripted::convert(&lower, spec, self.scripts.len(), "", &given, seeds)?;
        self.requests = lower.next.get();
        self.scripts.push(script);
        Ok(program)
    }

    /// Compiles programs for this target.
    pub(crate) fn compile(
        &self,
        programs: Vec<ProgramSpec<Request>>,
        open: bool,
    ) -> Result<Compiled<Request>, ProgramError> {
        let connects = if self.target.keepalive { Connects::WhenDown } else { Connects::Always };
        let endpoint = |request: &Request| if request.is_secure() { SECURE } else { MAIN };
        program::compile(programs, Rules { open, connects, endpoint, phases: self.target.phases })
    }
}

impl Http {
    pub(crate) fn new(shared: Shared, ring: Option<RingCursor>, seed: u64, thread: usize) -> Self {
        let scripts = shared.scripts.iter().map(|script| Running::new(script, thread)).collect();
        Self {
            ring,
            rng: fastrand::Rng::with_seed(seed),
            people: PeopleView::new(shared.visitors.clone()),
            heads: Heads::default(),
            scripts,
            shared,
            scratch: Vec::new(),
            raw: Vec::new(),
        }
    }
}
