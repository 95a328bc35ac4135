//! Errors of the raw loops.

use std::io;
use std::net::SocketAddr;

use super::{MAX_BYTES, Sizes};

#[derive(Debug, thiserror::Error)]
pub enum FloorError {
    #[error("{} bytes for {} bytes cannot be traded: both sizes are 1 to {MAX_BYTES}", .0.request, .0.response)]
    Sizes(Sizes),
    #[error("0 connections trade nothing; ask for 1 or more")]
    NoConnections,
    #[error("cannot listen on {address}: {source}; choose another port, or 0 for a free one")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("cannot connect to the responder at {target}: {source}; is it running?")]
    Connect { target: SocketAddr, source: io::Error },
    /// The load generator has no local port left: a limit of its own machine, not of the responder (method
    /// rule 13).
    #[error("no local port left to connect to {0} from; wait a minute until closed connections have expired")]
    OutOfPorts(SocketAddr),
    #[error("the responder at {0} closed a connection; was it stopped, or started with other sizes?")]
    Closed(SocketAddr),
    #[error("the responder at {0} stopped answering; was it started with other sizes?")]
    Silent(SocketAddr),
    #[error("{what}: {source}")]
    Io { what: &'static str, source: io::Error },
}

impl From<hdrhistogram::CreationError> for FloorError {
    fn from(error: hdrhistogram::CreationError) -> Self {
        Self::Io { what: "cannot create a histogram", source: io::Error::other(error) }
    }
}

impl FloorError {
    /// Returns a function for `map_err` that adds `what` to the message.
    pub(super) fn io<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Io { what, source: source.into() }
    }
}
