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
use wire::http::Body;

use crate::choose::ring::RingCursor;
use crate::config::{Config, Verify};
use crate::scripted::{Running, Script};

pub(crate) use lower::check as check_scenario;
pub use target::{Target, TargetError};

use file::AskedFile;
use head::Heads;
use judge::Visit;
use lower::Requests;
use visitors::{PeopleView, VisitorColumns};

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
    /// A body of unknown length, or the body of a redirect, which is skipped.
    Stream { body: Body, length: u64, is_redirect: bool },
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
    pub(crate) scripts: Vec<Script>,
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
    pub(crate) fn new(config: &HttpConfig, visitors: Option<Arc<Visitors>>) -> Result<Self, TargetError> {
        let (target, verify) = (&config.target, config.verify != Verify::None);
        target.check()?;
        let files = target.files.clone().map(FileSet::new).transpose()?.map(Arc::new);
        let copies = files.as_deref().filter(|_| verify).map(|set| Arc::new(Copies::of(set)));
        let target = Arc::new(target.clone());
        Ok(Self { visitors, files, copies, target, verify, scripts: Vec::new() })
    }

    pub(crate) fn requests(&self) -> Requests<'_> {
        Requests {
            target: &self.target,
            files: self.files.as_deref(),
            people: Arc::new(VisitorColumns::new(self.visitors.clone(), self.target.size)),
            has_visitors: self.visitors.is_some(),
            is_any: false,
            next: Cell::default(),
        }
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
