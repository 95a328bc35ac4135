//! The interface between the socket layer and a protocol.

use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::sync::mpsc::Receiver;

use crate::gate::Full;
use crate::slice::TimeSlice;

/// A connection of a server. Slots are reused, serial numbers are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionId {
    /// The index of the thread that serves the connection.
    pub thread: usize,
    pub(crate) slot: usize,
    pub(crate) serial: u64,
}

/// The outcomes for the connections of one thread.
pub type Outcomes<T> = Receiver<(ConnectionId, T)>;

/// The next step of a connection after received bytes were consumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Reads the next message.
    Next,
    /// Waits for more bytes: the message is incomplete.
    More,
    /// Reads no further message until [`Service::poll_output`] or [`Service::resume`] returns another step: answers
    /// keep the order of their requests.
    Wait,
    /// Calls [`Service::feed`] again with the same bytes, none of which was consumed, in a turn for long
    /// requests ([`TimeSlice::may_take_long`]). After [`Service::poll_output`], calls `poll_output` again in
    /// such a turn.
    Later,
    /// Begins TLS when all answers are sent. A service returns this step only if no received byte is left,
    /// because plaintext must not be treated as sent under TLS.
    Upgrade,
    /// Closes when all answers are sent.
    Close,
    /// Closes with bytes of the client unread. An immediate close would reset the connection, and the client
    /// could lose the answer (RFC 9112 section 9.6). So further bytes are read and dropped for a moment.
    Linger,
    /// Lingers, because the client violates the protocol or exceeds a limit. The connection counts as
    /// aborted.
    Abort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejection {
    Full(Full),
    /// The client began without TLS on a port that requires TLS from the first byte on.
    NotTls,
}

/// Bytes of a file to be sent.
#[derive(Debug)]
pub struct FilePiece<'f> {
    pub file: BorrowedFd<'f>,
    /// The offset of the first unsent byte; the sender advances it.
    pub at: &'f mut u64,
    pub end: u64,
}

/// A protocol. Each thread has its own service.
///
/// The socket layer reads, writes, closes and counts. A service turns bytes into answers, which it appends to
/// [`out`](Self::out). The worker is compiled once per service, so that no call on the hot path is indirect.
pub trait Service {
    /// The protocol's state of one connection.
    type Session;

    /// The result of another thread's work for a connection, such as a database's commit;
    /// [`Infallible`](std::convert::Infallible) if there is no such work.
    type Outcome;

    /// The maximum number of connections that are read, answered and written as a group. Groups keep each of
    /// these three paths in the instruction cache and take a lock of the service once. The number is 1 if
    /// answers are so long that a group's answers would not fit in the cache.
    const GROUP: usize;

    /// Reads the clock. Returns milliseconds since any fixed point.
    fn begin_turn(&mut self) -> u64;

    /// Does periodic work, releases locks and publishes the counters. Returns whether periodic work has to
    /// continue at once.
    fn end_turn(&mut self) -> bool;

    /// The buffer of answers that have not been written to a socket.
    fn out(&mut self) -> &mut Vec<u8>;

    fn slice(&mut self) -> &mut TimeSlice;

    /// Begins the session of a new connection.
    fn connect(&mut self, id: ConnectionId, from: IpAddr) -> Self::Session;

    /// Called when the TLS handshake is complete; `peer` is the client's certificate (DER), if it presented
    /// one.
    fn secured(_session: &mut Self::Session, _peer: Option<&[u8]>) {}

    /// Appends to `notice` the message for a refused client.
    fn reject(&self, why: Rejection, notice: &mut Vec<u8>);

    /// Gets the received bytes of a group's connections before any request is answered, to prefetch the
    /// memory of all lookups at the same time. Not called for a group of one connection.
    fn prefetch<'m>(&mut self, _received: impl Iterator<Item = &'m [u8]>) {}

    /// Answers the message at the start of `bytes`, or begins the answer. Returns the number of consumed
    /// bytes and the next step. A long request waits for its turn ([`Step::Later`]).
    fn feed(&mut self, session: &mut Self::Session, bytes: &[u8]) -> (usize, Step);

    /// Whether the session has consumed the first part of a message and waits for the rest; a client that
    /// stalls then is disconnected. (The socket layer knows about bytes that are not consumed.)
    fn is_receiving(_session: &Self::Session) -> bool {
        false
    }

    /// Whether an answer is unfinished and [`poll_output`](Self::poll_output) continues the answer.
    fn has_output(_session: &Self::Session) -> bool {
        false
    }

    /// Continues an answer, for about one write or until the time slice is over. Not called while earlier output is
    /// unsent, so that the server holds one piece of an answer for a slow reader.
    fn poll_output(&mut self, _session: &mut Self::Session) -> Step {
        Step::Next
    }

    /// Bytes of a file with which an answer continues. sendfile(2) sends them from the page cache, without
    /// copies to and from [`out`](Self::out). For a 5 MB file over loopback on a busy machine, three runs:
    /// 3.1 to 7.1 GB per second of the sender's CPU, compared with 2.2 to 3.0 GB for reads and writes of 64
    /// KiB pieces. With `None`, after the last of these bytes, after an early end of the file, and under TLS,
    /// [`poll_output`](Self::poll_output) continues the answer.
    fn file_output(_session: &mut Self::Session) -> Option<FilePiece<'_>> {
        None
    }

    /// Answers the request that waited for this outcome.
    fn resume(&mut self, session: &mut Self::Session, outcome: Self::Outcome) -> Step;

    /// Called when the client has sent its last byte, or has disconnected, while its request waits for
    /// another thread.
    fn client_ended(_session: &mut Self::Session) {}

    /// Called when no further message of this session will be read: drops unfinished requests.
    fn close(_session: &mut Self::Session) {}

    /// Releases locks before a write to a socket, which takes longer than any work under a lock.
    fn release_locks(&mut self) {}
}
