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
mod step;
mod target;
#[cfg(test)]
mod tests;
mod visitors;
mod way;

use std::sync::Arc;

use files::{Copies, FileSet};
use people::visitor::Visitors;
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use wire::http::Body;

use crate::choose::ring::RingCursor;
use crate::config::Config;
use crate::program::{self, Compiled, Connects, MAIN, Op, ProgramError, ProgramSpec, Rules};
use crate::record::failure::Failure;
use crate::scripted::{Running, Script};

pub(crate) use lower::{Requests, check as check_scenario};
pub use step::Request;
pub(crate) use step::Step;
pub use target::{Target, TargetError};
pub(crate) use visitors::VisitorColumns;

use file::{AskedFile, FileRequest};
use head::Heads;
use judge::Visit;
use target::SECURE;
use visitors::PeopleView;

/// Everything about a load on a site.
pub type HttpConfig = Config<Target, NoProgram>;

/// A program in JSON, which a site has none of: its lanes run scenarios.
#[derive(Debug, Clone)]
pub enum NoProgram {}

impl<'de> Deserialize<'de> for NoProgram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Err(D::Error::custom("a site has no programs: give scenarios"))
    }
}

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
    /// Where files are verified.
    copies: Option<Arc<Copies>>,
    target: Arc<Target>,
    verify: bool,
    scripts: Vec<Script>,
}

/// HTTP as one thread speaks it.
pub struct Http {
    keepalive: bool,
    verify: bool,
    ring: Option<RingCursor>,
    rng: fastrand::Rng,
    people: PeopleView,
    heads: Heads,
    files: Option<Arc<FileSet>>,
    copies: Option<Arc<Copies>>,
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
        let files = target.files.clone().map(FileSet::new).transpose()?.map(Arc::new);
        let copies = files.as_deref().filter(|_| config.verify).map(|set| Arc::new(Copies::of(set)));
        Ok(Self { visitors, files, copies, target, verify: config.verify, scripts })
    }

    /// Compiles programs for this target.
    pub(crate) fn compile(
        &self,
        programs: &[ProgramSpec<Step>],
        open: bool,
    ) -> Result<Compiled<Request>, ProgramError> {
        let connects = if self.target.keepalive { Connects::WhenDown } else { Connects::Always };
        let mut id = 0;
        let endpoint = |step: &Step| if step.is_secure() { SECURE } else { MAIN };
        let rules = Rules { open, connects, endpoint, phases: self.target.phases };
        program::compile(programs, rules, |name, step| {
            let request = match step {
                Step::Ask(ask) => Request::Ask(id, ask.clone()),
                Step::File(spec) => {
                    Request::File(id, FileRequest::new(spec, &self.target, self.files.as_deref())?)
                }
                Step::Prepare(preparation) => Request::Prepare(preparation.clone()),
            };
            id += 1;
            Ok(vec![(name.to_owned(), request)])
        })
    }
}

impl Http {
    pub(crate) fn new(shared: Shared, ring: Option<RingCursor>, seed: u64, thread: usize) -> Self {
        let scripts = shared.scripts.iter().map(|script| Running::new(script, thread)).collect();
        Self {
            keepalive: shared.target.keepalive,
            verify: shared.verify,
            ring,
            rng: fastrand::Rng::with_seed(seed),
            people: PeopleView::new(shared.visitors),
            heads: Heads::default(),
            files: shared.files,
            copies: shared.copies,
            scripts,
            scratch: Vec::new(),
            raw: Vec::new(),
        }
    }
}

/// Whether any program takes people to create.
pub(crate) fn creates_people(compiled: &Compiled<Request>) -> bool {
    let takes = |op: &Op<Request>| matches!(op, Op::Exchange { request: Request::Prepare(preparation), .. } if preparation.takes);
    compiled.programs.iter().flat_map(|program| &program.ops).any(takes)
}
