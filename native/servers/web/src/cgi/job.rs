//! What a program is run for, and by which rules.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use net::ConnectionId;

use super::variables::Variables;
use crate::files::Root;

/// A request for a program.
pub(crate) struct Job {
    /// The connection whose request this is.
    pub(crate) ticket: ConnectionId,
    pub(crate) program: String,
    pub(crate) variables: Variables,
    pub(crate) body: Vec<u8>,
    /// Whether the client has sent its last byte.
    pub(crate) ended: Arc<AtomicBool>,
    pub(crate) since: Instant,
}

/// How long a request waits for whose client nothing more came: one that only closed its own half still reads.
const PATIENCE: Duration = Duration::from_secs(1);

impl Job {
    /// Whether the client has probably gone, and will not read what the program writes. Requests that are sent and
    /// closed at once would keep the programs from everybody else.
    pub(crate) fn is_abandoned(&self) -> bool {
        // Nothing is handed over with the flag; seen late, it lets one more program run.
        self.ended.load(Relaxed) && self.since.elapsed() > PATIENCE
    }
}

/// What programs are run by.
#[derive(Debug)]
pub(crate) struct Rules {
    /// The folder that programs are in.
    pub(crate) folder: PathBuf,
    pub(crate) root: Root,
    pub(crate) most_ms: u64,
    pub(crate) most_bytes: usize,
}
