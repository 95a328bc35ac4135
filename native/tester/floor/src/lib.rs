//! The floor: the rate at which two raw loops exchange bytes on this machine, an upper bound for every server and
//! client.
//!
//! Nothing is parsed, looked up, verified or stored. Each side has one thread with edge-triggered epoll, and
//! one read and one write per operation. A read that leaves room in its buffer has emptied the socket, so
//! there is no second read. The server ([`NullResponder`]) should run in its own process; otherwise its CPU
//! time counts as the client's.
//!
//! [`exchange`] uses open connections, or opens a connection for each operation.
//!
//! # Accuracy
//!
//! All operations are counted, but only operations of the first connection are timed (one of 64 with 64
//! connections), which costs less than a nanosecond per operation. CPU time is the time of the calling thread
//! (the scheduler's clock, in nanoseconds). It includes connecting only if each operation opens a connection.

mod client;
mod error;
pub mod queue;
mod responder;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hdrhistogram::Histogram;
use mio::{Events, Poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use socket2::Socket;

pub use client::exchange;
pub use error::FloorError;
pub use responder::NullResponder;

#[derive(Debug, Clone)]
pub struct Load {
    pub target: SocketAddr,
    /// The number of open connections.
    pub connections: usize,
    pub duration: Duration,
    /// The bytes of a request, as many as the responder expects.
    pub request: Vec<u8>,
    /// The length of a response, as the responder sends it.
    pub response: usize,
    /// Whether each operation opens a connection.
    pub reconnects: bool,
}

/// The bytes of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    pub request: usize,
    pub response: usize,
}

#[derive(Debug, Clone)]
pub struct Measured {
    /// Operations that were completed in time.
    pub operations: u64,
    pub elapsed_ns: u64,
    /// CPU time of the calling thread.
    pub cpu_ns: u64,
    /// Durations of the first connection's operations, in nanoseconds.
    pub latency: Histogram<u64>,
}

/// The longest request or response. It exceeds every page and entry of the workloads, and fits in a socket's
/// buffer, so that one write always suffices.
const MAX_BYTES: usize = 64 << 10;

/// Bytes that a client sends before closing: the length of an LDAP unbind.
const FAREWELL_BYTES: usize = 7;

/// The most time without a response.
const SILENCE_LIMIT: Duration = Duration::from_secs(5);

const EVENTS: usize = 1024;

impl Sizes {
    fn check(self) -> Result<Self, FloorError> {
        let fits = |size| (1..=MAX_BYTES).contains(&size);
        if fits(self.request) && fits(self.response) { Ok(self) } else { Err(FloorError::Sizes(self)) }
    }
}

impl Load {
    fn check(&self) -> Result<(), FloorError> {
        Sizes { request: self.request.len(), response: self.response }.check()?;
        if self.connections == 0 {
            return Err(FloorError::NoConnections);
        }
        Ok(())
    }
}

#[inline]
fn wait(poll: &mut Poll, events: &mut Events, target: SocketAddr) -> Result<(), FloorError> {
    match poll.poll(events, Some(SILENCE_LIMIT)) {
        Ok(()) if events.is_empty() => Err(FloorError::Silent(target)),
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        Err(source) => Err(FloorError::Io { what: "cannot wait for events", source }),
    }
}

/// Writes bytes for which the socket's buffer has room.
#[inline]
fn write(socket: &Socket, bytes: &[u8], target: SocketAddr) -> Result<(), FloorError> {
    match send(socket, bytes, SendFlags::NOSIGNAL) {
        Ok(_) => Ok(()),
        Err(Errno::PIPE | Errno::CONNRESET) => Err(FloorError::Closed(target)),
        Err(error) => Err(FloorError::Connect { target, source: error.into() }),
    }
}
