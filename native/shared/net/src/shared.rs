//! The shared state of a server's threads, for every protocol.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tls::Acceptor;

use crate::gate::Gate;
use crate::limits::SocketLimits;
use crate::long::LongWork;
use crate::stats::PublishedTraffic;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) limits: SocketLimits,
    pub(crate) tls: Option<Acceptor>,
    /// Whether connections begin without TLS, and begin TLS at [`Step::Upgrade`](crate::Step::Upgrade).
    pub(crate) upgrades: bool,
    pub(crate) gate: Arc<Gate>,
    pub(crate) long: LongWork,
    pub(crate) stopping: AtomicBool,
    pub(crate) traffic: Box<[PublishedTraffic]>,
}

impl Shared {
    pub(crate) fn new(limits: SocketLimits, tls: Option<Acceptor>, upgrades: bool, threads: usize) -> Self {
        Self {
            limits,
            tls,
            upgrades,
            gate: Gate::new(limits.connections, limits.connections_per_address),
            long: LongWork::default(),
            stopping: AtomicBool::new(false),
            traffic: (0..threads).map(|_| PublishedTraffic::default()).collect(),
        }
    }

    /// The TLS with which every connection begins, if any.
    pub(crate) fn greeter(&self) -> Option<&Acceptor> {
        self.tls.as_ref().filter(|_| !self.upgrades)
    }
}
