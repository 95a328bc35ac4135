//! What a program is run for, and by which rules.

use std::path::PathBuf;

use net::ConnectionId;

use super::variables::Variables;
use crate::files::Root;

/// A request for a program.
pub(crate) struct Job {
    /// The connection whose request this is.
    pub(crate) ticket: ConnectionId,
    /// A plain name.
    pub(crate) program: String,
    pub(crate) variables: Variables,
    pub(crate) body: Vec<u8>,
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
