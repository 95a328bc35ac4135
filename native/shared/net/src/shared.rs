//! The shared state of a server's threads, for every protocol.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::gate::Gate;
use crate::limits::SocketLimits;
use crate::long::LongWork;
use crate::stats::PublishedTraffic;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) limits: SocketLimits,
    pub(crate) gate: Arc<Gate>,
    pub(crate) long: LongWork,
    pub(crate) stopping: AtomicBool,
    pub(crate) traffic: Box<[PublishedTraffic]>,
}

impl Shared {
    pub(crate) fn new(limits: SocketLimits, threads: usize) -> Self {
        Self {
            limits,
            gate: Gate::new(limits.connections, limits.connections_per_address),
            long: LongWork::default(),
            stopping: AtomicBool::new(false),
            traffic: (0..threads).map(|_| PublishedTraffic::default()).collect(),
        }
    }
}
