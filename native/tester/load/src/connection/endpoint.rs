//! Endpoints that lanes connect to: one port of the target, in the clear or over TLS.

use super::security::Security;
use super::source::Sources;

/// A port of one of the target's addresses, with the source addresses and the TLS settings of one thread.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) sources: Sources,
    /// `None` for connections without TLS.
    pub(crate) security: Option<Security>,
}
