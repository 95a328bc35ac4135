//! HTTP/1.1: encodes requests, reads and verifies answers.
//!
//! `ask` compiles a step of a scenario to its request and expectations, `fill` writes its texts, `jar` keeps
//! cookies, `receive` reads answers, and `judge` verifies them. `file` requests files of a set, and `lower`
//! compiles scenarios to programs ([`crate::scripted`]). Nothing is pipelined. A redirect is an ordinary
//! answer, except in steps that `follow` redirects.
//!
//! # Verifying updates
//!
//! A lane updates people whom no other lane updates ([`crate::choose::owned_keys`]), and a page of the same
//! operation proves an update. People whose update was never answered stay taken, as the update may still
//! take place. If all people are taken, lanes update taken people, whose pages prove nothing: use more people
//! than lanes.

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
mod lower;
mod receive;
mod redirects;
mod request;
mod search;
mod target;
#[cfg(test)]
mod tests;
mod visitors;

use std::cell::Cell;
use std::sync::Arc;

use files::{Copies, FileSet};
use people::visitor::Visitors;
use scenario::Problems;
use wire::http::Body;

use crate::choose::ring::RingCursor;
use crate::config::{Config, KeysConfig};
use crate::fill::{DataSources, Tables};
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

/// The configuration of a load on a site.
pub type HttpConfig = Config<Target>;

/// The part of an answer that a lane reads next.
#[derive(Debug, Default)]
enum Stage {
    #[default]
    Head,
    /// A body that is read in one piece.
    Whole { length: u64 },
    /// A body that is skipped, or the body of a file, which is compared while it is received.
    Pass { left: u64, length: u64 },
    /// A body of unknown length.
    Stream { body: Body, length: u64 },
    /// The body of a redirect, which is skipped, and the failure of the redirect.
    Redirect { body: Body, failure: Option<Failure> },
}

/// A lane's state between requests.
#[derive(Debug, Default)]
pub struct LaneState {
    stage: Stage,
    status: u16,
    keeps: bool,
    /// The received part of a body.
    body: Vec<u8>,
    file: AskedFile,
    visit: Visit,
}

/// The state that the protocols of all threads share.
#[derive(Clone)]
pub(crate) struct Shared {
    visitors: Option<Arc<Visitors>>,
    files: Option<Arc<FileSet>>,
    copies: Option<Arc<Copies>>,
    target: Arc<Target>,
    verify: bool,
    scripts: Vec<Script>,
    /// The number of requests in the scenarios so far.
    requests: usize,
}

/// The HTTP protocol of one thread.
pub struct Http {
    shared: Shared,
    ring: Option<RingCursor>,
    rng: fastrand::Rng,
    people: PeopleView,
    heads: Heads,
    scripts: Vec<Running>,
    /// Buffer for texts to search for, and for bodies.
    scratch: Vec<u8>,
    /// Buffer for a value before its escape.
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
        let sources =
            DataSources { tables: spec.own(tables), people: Some(people), keys: keys.choice, owns: true };
        let lower = Requests {
            target: &self.target,
            files: self.files.as_deref(),
            has_visitors: self.visitors.is_some(),
            is_any: false,
            next: Cell::new(self.requests),
        };
        let seeds = (threads, keys.seed);
        let (program, script) = scripted::convert(&lower, spec, self.scripts.len(), "", &sources, seeds)?;
        self.requests = lower.next.get();
        self.scripts.push(script);
        Ok(program)
    }

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
