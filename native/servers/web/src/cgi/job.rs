//! Requests for programs, and the rules for running them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use net::ConnectionId;

use super::variables::Variables;
use crate::files::Root;

pub(crate) struct Job {
    /// The connection of the request.
    pub(crate) ticket: ConnectionId,
    pub(crate) program: String,
    pub(crate) variables: Variables,
    pub(crate) body: Vec<u8>,
    /// Whether the client has sent its last byte.
    pub(crate) ended: Arc<AtomicBool>,
    pub(crate) since: Instant,
}

/// The time after which a waiting request of a client that has sent its last byte is abandoned. A client that
/// has closed only its own direction of the connection still reads.
const PATIENCE: Duration = Duration::from_secs(1);

impl Job {
    /// Whether the client has probably disconnected and will not read the program's output. Clients that send
    /// a request and disconnect at once would otherwise occupy all programs.
    pub(crate) fn is_abandoned(&self) -> bool {
        // Relaxed: if the flag is read late, one more program runs.
        self.ended.load(Relaxed) && self.since.elapsed() > PATIENCE
    }
}

#[derive(Debug)]
pub(crate) struct Rules {
    /// The folder of the programs.
    pub(crate) folder: PathBuf,
    pub(crate) root: Root,
    pub(crate) most_ms: u64,
    pub(crate) most_bytes: usize,
}
