//! What the threads of a server share.

use std::sync::Arc;

use tls::Acceptor;

use crate::dynamic::Templates;
use crate::files::Root;
use crate::limits::Limits;
use crate::stats::Published;

/// See the module.
#[derive(Debug)]
pub(super) struct Shared {
    /// Where it listens, for the variables of programs.
    pub(super) host: String,
    pub(super) port: u16,
    /// Present where TLS is spoken.
    pub(super) tls: Option<Acceptor>,
    /// The folder of the files.
    pub(super) root: Option<Arc<Root>>,
    pub(super) templates: Templates,
    /// One for each thread.
    pub(super) published: Box<[Published]>,
    pub(super) limits: Limits,
}
