//! The seam between sockets and a protocol.

use std::net::IpAddr;
use std::os::fd::BorrowedFd;

use tls::Acceptor;

use crate::gate::Full;
use crate::slice::TimeSlice;

/// One connection of a server. Slots are used again, serial numbers are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionId {
    /// The number of the thread that serves it.
    pub thread: usize,
    pub(crate) slot: usize,
    pub(crate) serial: u64,
}

/// What a connection does after some of its bytes were consumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Looks for the next message.
    Next,
    /// Waits for more bytes: no whole message is there.
    More,
    /// Looks at no further message until [`Service::poll_output`] or [`Service::resume`] says so: answers
    /// keep the order of their requests.
    Wait,
    /// Asks again with the same bytes, of which none was consumed, when a request may take long
    /// ([`TimeSlice::may_take_long`]). Returned by [`Service::poll_output`], it means the same for the next
    /// piece.
    Later,
    /// Begins with TLS when the answers are out. Only after the last byte that has been received: what was
    /// sent in the clear must not pass for protected.
    Upgrade,
    /// Closes when the answers are out.
    Close,
    /// The same, with bytes of the client unread. To close then would reset the connection, and the client
    /// could lose the answer (RFC 9112 section 9.6): they are read and dropped for a moment.
    Linger,
    /// The same, because the client does not speak the protocol or goes beyond a limit; it is counted.
    Abort,
}

/// Why a client is sent away before its first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejection {
    /// There are too many connections.
    Full(Full),
    /// It has begun without TLS where TLS is spoken from the first byte on.
    NotTls,
}

/// Bytes of a file that are to be sent.
#[derive(Debug)]
pub struct FilePiece<'f> {
    pub file: BorrowedFd<'f>,
    /// Where they begin; moved on by what has been sent.
    pub at: &'f mut u64,
    pub end: u64,
}

/// A protocol, served by one thread: one value for each.
///
/// The socket layer reads, writes, closes and counts; a service turns bytes into answers, which it appends
/// to [`out`](Self::out). The worker is compiled once for each service, so that no call on the hot path is
/// indirect.
pub trait Service {
    /// What the protocol keeps of one connection.
    type Session;

    /// What a connection waits for that another thread does, such as a database's commit;
    /// [`Infallible`](std::convert::Infallible) where there is nothing of the kind.
    type Outcome;

    /// Connections that are read, answered and written to together. Reading several, then answering several,
    /// then writing to several keeps each of the three paths in the instruction cache and takes a lock of the
    /// service's once; 1 where an answer is so long that the answers of a group would not stay in the cache.
    const GROUP: usize;

    /// Notes the time. Returns it in milliseconds since any fixed point.
    fn begin_turn(&mut self) -> u64;

    /// Does what is due by the clock, lets go of locks and publishes the counters; says whether there is
    /// more to do at once.
    fn end_turn(&mut self) -> bool;

    /// Answers that have not been handed to the kernel.
    fn out(&mut self) -> &mut Vec<u8>;

    /// What is left of the turn for work that takes long.
    fn slice(&mut self) -> &mut TimeSlice;

    /// What every connection begins with, where TLS is spoken from the first byte on.
    fn acceptor(&self) -> Option<&Acceptor>;

    /// What a connection goes on with after [`Step::Upgrade`].
    fn upgrade(&self) -> Option<&Acceptor> {
        None
    }

    /// Begins the session of a new connection.
    fn connect(&mut self, id: ConnectionId, from: IpAddr) -> Self::Session;

    /// TLS protects the session from now on; `peer` is the client's certificate (DER), if it has shown one.
    fn secured(_session: &mut Self::Session, _peer: Option<&[u8]>) {}

    /// Appends to `notice` what a client receives when it is sent away.
    fn reject(&self, why: Rejection, notice: &mut Vec<u8>);

    /// Looks at what the connections of a group have sent before any of it is answered, so that what they
    /// look up can be fetched from memory at the same time. Not called for a group of one.
    fn prefetch<'m>(&mut self, _received: impl Iterator<Item = &'m [u8]>) {}

    /// Answers the message that `bytes` begins with, or begins to: how many bytes were consumed, and what
    /// comes then. One that takes long waits for its time ([`Step::Later`]).
    fn feed(&mut self, session: &mut Self::Session, bytes: &[u8]) -> (usize, Step);

    /// Whether the session is in the middle of a message whose first bytes it has consumed: a client that
    /// stalls there is cut off. (The layer knows of bytes that were not consumed.)
    fn is_receiving(_session: &Self::Session) -> bool {
        false
    }

    /// Whether an answer has begun that [`poll_output`](Self::poll_output) goes on with.
    fn has_output(_session: &Self::Session) -> bool {
        false
    }

    /// Goes on with an answer, for about one write or until the time slice is over. Not called while the
    /// kernel has not taken what was answered before, so that a slow reader holds one piece of its answer.
    fn poll_output(&mut self, _session: &mut Self::Session) -> Step {
        Step::Next
    }

    /// Bytes of a file that an answer goes on with: the kernel sends them out of its own memory, without the
    /// copies to and from [`out`](Self::out). A 5 MB file over loopback on a busy machine, three runs: 3.1 to
    /// 7.1 GB per second of the sender's CPU, and 2.2 to 3.0 GB when it is read and written in 64 KiB pieces.
    /// `None` leaves it to [`poll_output`](Self::poll_output), which is asked in any case when there are no
    /// more of them, when the file has ended too early, and where TLS has to encrypt them.
    fn file_output(_session: &mut Self::Session) -> Option<FilePiece<'_>> {
        None
    }

    /// The next outcome that another thread has reported, and the connection that waits for it.
    fn next_outcome(&mut self) -> Option<(ConnectionId, Self::Outcome)> {
        None
    }

    /// Answers the request that waited for this outcome.
    fn resume(&mut self, session: &mut Self::Session, outcome: Self::Outcome) -> Step;

    /// The client has sent its last byte, or has gone, while its request waits for another thread.
    fn client_ended(_session: &mut Self::Session) {}

    /// No further message of this session will be looked at: drops what was under way.
    fn close(_session: &mut Self::Session) {}

    /// Lets go of locks: bytes are about to be written, which takes longer than anything that is done under
    /// a lock.
    fn release_locks(&mut self) {}
}
