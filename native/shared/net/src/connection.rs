//! One client's socket: bytes in, complete messages to the service, answers out.
//!
//! ```text
//!  accepted          Step::Wait                            Step::Upgrade, answer is out
//!  --------> Open --------------> Waiting         Open -----------------------------> Upgrading
//!             |  <--------------     |              ^                                    |
//!             |     Step::Next       |              +--------- TLS handshake begins -----+
//!             |                      |
//!             +-- Step::Close, the client's end -------> Closing ---- answers are out --+
//!             |                      |                                                  |
//!             +-- Step::Linger, Step::Abort, no TLS ---> Lingering -- client's end, 1 s -+--> closed
//! ```
//!
//! Bytes are read while `Open`, and read and dropped while `Lingering`; otherwise they wait in the kernel. A
//! stalled client is closed in every stage, an idle client only while `Open`.
//!
//! In every stage answers are sent first: nothing is read and no further piece of an answer is produced while
//! `unsent` holds bytes or a file is `blocked`. So for a client that does not read, the server holds one
//! piece of its answer.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;

use mio::net::TcpStream;
use rustix::fs::sendfile;
use rustix::io::Errno;
use tls::{Acceptor, Fault, Stream};

use crate::gate::Pass;
use crate::limits::SocketLimits;
use crate::pace::Pace;
use crate::service::{FilePiece, Rejection, Service, Step};
use crate::shared::Shared;
use crate::stats::Traffic;

/// Answers of this many bytes are written to the socket at once, even in the middle of a batch. This limit
/// and [`READ_BYTES`] bound the memory for a client that never reads.
pub const FLUSH_BYTES: usize = 64 << 10;

/// Bytes of one read. A shorter read has emptied the socket.
pub(crate) const READ_BYTES: usize = 64 << 10;

/// The most bytes of a file that one turn sends. The limit bounds the wait of other clients.
const FILE_BYTES: u64 = 256 << 10;

/// The largest buffer that an idle connection keeps.
const KEPT_BYTES: usize = 1 << 10;

/// The time for which a lingering connection stays open, so that the client can read the last answer.
const LINGER_MS: u64 = 1_000;

/// State that all connections of a thread share during one turn of its loop.
pub(crate) struct TurnContext<S> {
    pub(crate) service: S,
    pub(crate) traffic: Traffic,
    pub(crate) shared: Arc<Shared>,
    pub(crate) now_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Waits until the kernel or another thread reports something.
    Wait,
    /// Needs another turn: there are bytes to read, or an answer is unfinished.
    Again,
    /// Waits for a report of the poll that the socket is writable.
    Blocked,
    Close,
}

enum Stage {
    /// Messages are read and answered.
    Open,
    /// A request is under way; later requests are not read yet.
    Waiting,
    /// The request for TLS is accepted; the handshake begins when `unsent` is empty.
    Upgrading(Box<Acceptor>),
    /// Closes when all answers are sent.
    Closing,
    /// See [`Step::Linger`].
    Lingering,
}

pub(crate) struct Connection<S: Service> {
    stream: Stream<TcpStream>,
    /// Counts this connection against the limits of connections until this field is dropped.
    _pass: Pass,
    session: S::Session,
    stage: Stage,
    /// A TLS handshake is under way.
    handshaking: bool,
    /// Bytes may wait in the kernel: the poll has reported the socket readable, and no read has emptied it
    /// since.
    readable: bool,
    /// The client has sent its last byte; reads continue until the end of the stream.
    ending: bool,
    /// Received bytes that are not consumed: an incomplete message, or messages behind an unsent answer.
    input: Vec<u8>,
    /// `input` may hold a complete message for which the last turn had no time.
    postponed: bool,
    /// Answers that the kernel has not taken; bytes before index `sent` are sent.
    unsent: Vec<u8>,
    sent: usize,
    /// The last `sendfile` stopped early because the socket was not writable.
    blocked: bool,
    /// When bytes were last received or sent, on the clock of [`TurnContext::now_ms`].
    moved_ms: u64,
    /// Bytes received and sent recently, to recognise a stalled client.
    pace: Pace,
    /// The next piece of the answer takes long.
    pub(crate) long: bool,
    /// See [`ConnectionId`](crate::ConnectionId).
    pub(crate) serial: u64,
    /// Whether the poll reports when the socket is writable.
    pub(crate) watched: bool,
    /// Whether the connection is in a queue of the worker.
    pub(crate) queued: bool,
}

impl<S: Service> Connection<S> {
    pub(crate) fn new(stream: TcpStream, pass: Pass, session: S::Session, serial: u64, now_ms: u64) -> Self {
        Self {
            stream: Stream::new(stream),
            _pass: pass,
            session,
            stage: Stage::Open,
            handshaking: false,
            readable: false,
            ending: false,
            input: Vec::new(),
            postponed: false,
            unsent: Vec::new(),
            sent: 0,
            blocked: false,
            moved_ms: now_ms,
            pace: Pace::default(),
            long: false,
            serial,
            watched: false,
            queued: false,
        }
    }

    pub(crate) fn secure(&mut self, acceptor: &Acceptor) -> io::Result<()> {
        self.stream.accept(acceptor)?;
        self.handshaking = true;
        Ok(())
    }

    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        self.stream.socket()
    }

    /// Records a report of the poll.
    pub(crate) fn reported(&mut self, readable: bool, ending: bool) {
        self.readable |= readable;
        self.ending |= ending;
        self.tell_of_the_end();
    }

    fn tell_of_the_end(&mut self) {
        if self.ending && matches!(self.stage, Stage::Waiting) {
            S::client_ended(&mut self.session);
        }
    }

    /// Whether the next bytes can be read and answered at once, because no answer and no request is pending.
    #[inline]
    pub(crate) fn is_calm(&self) -> bool {
        self.readable
            && self.is_open()
            && self.unsent.is_empty()
            && self.input.is_empty()
            && !S::has_output(&self.session)
    }

    #[inline]
    const fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open)
    }

    /// Does the work of one turn: at most one read, and one piece of an answer.
    pub(crate) fn drive(&mut self, buffer: &mut [u8], turn: &mut TurnContext<S>) -> io::Result<()> {
        if !self.unsent.is_empty() && !self.flush(turn)? {
            return Ok(());
        }
        self.long = false;
        if self.is_open() && !self.input.is_empty() {
            self.consume_input(turn)?;
        }
        let reads = matches!(self.stage, Stage::Open | Stage::Lingering);
        // Nothing is read before all complete messages of `input` are answered: a fast client's bytes wait in
        // the kernel.
        if self.readable && reads && self.unsent.is_empty() && !self.postponed {
            let count = self.receive(buffer, turn)?;
            self.answer(buffer.get(..count).unwrap_or_default(), turn)?;
            self.send(0, turn)?;
        }
        if self.unsent.is_empty() && self.has_output() && !self.send_file(turn)? {
            let step = turn.service.poll_output(&mut self.session);
            self.follow(step, turn);
            self.send(0, turn)?;
        }
        Ok(())
    }

    fn has_output(&self) -> bool {
        matches!(self.stage, Stage::Open | Stage::Waiting) && S::has_output(&self.session)
    }

    #[inline]
    pub(crate) fn next(&self) -> Next {
        if !self.unsent.is_empty() || self.blocked {
            return Next::Blocked;
        }
        match self.stage {
            Stage::Closing => Next::Close,
            Stage::Lingering | Stage::Open if self.readable || self.postponed => Next::Again,
            Stage::Open | Stage::Waiting if S::has_output(&self.session) => Next::Again,
            Stage::Open | Stage::Waiting | Stage::Upgrading(_) | Stage::Lingering => Next::Wait,
        }
    }

    /// Reads once. Returns the number of bytes; 0 if none are available, or at the end of the stream.
    #[inline]
    pub(crate) fn receive(&mut self, buffer: &mut [u8], turn: &mut TurnContext<S>) -> io::Result<usize> {
        let received = self.stream.read(buffer);
        if self.stream.session().is_some() {
            self.look_at_tls(turn);
        }
        match received {
            Ok(0) => {
                self.readable = false;
                self.stage = Stage::Closing;
                Ok(0)
            }
            Ok(count) => {
                // A short read has emptied the socket (epoll(7)), which saves another read. But the poll
                // reports the end of the stream only once, so after that report reads continue until a read
                // returns the end.
                self.readable = count == buffer.len() || self.ending;
                if !matches!(self.stage, Stage::Lingering) {
                    self.moved_ms = turn.now_ms;
                    self.pace.moved(count);
                }
                turn.traffic.bytes_in += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.readable = false;
                Ok(0)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(0),
            Err(error) => match self.stream.fault(&error) {
                Some(fault) => {
                    self.tls_failed(fault, turn);
                    Ok(0)
                }
                None => Err(error),
            },
        }
    }

    #[cold]
    fn look_at_tls(&mut self, turn: &mut TurnContext<S>) {
        let Some(session) = self.stream.session() else { return };
        // The poll reports the end of a stream, but not the end of a TLS session (close_notify).
        self.ending |= session.has_ended();
        if !self.handshaking || !session.is_open() {
            return;
        }
        self.handshaking = false;
        self.moved_ms = turn.now_ms;
        turn.traffic.tls_handshakes += 1;
        turn.traffic.tls_resumed += u64::from(session.is_resumed());
        S::secured(&mut self.session, session.peer().map(|certificate| &**certificate));
    }

    /// Sends a message to a client that has begun without TLS. Other clients have received an alert.
    #[cold]
    fn tls_failed(&mut self, fault: Fault, turn: &mut TurnContext<S>) {
        self.handshaking = false;
        if fault == Fault::Closed {
            // The client has disconnected during the handshake, as port scans and health checks do.
            self.stage = Stage::Closing;
            return;
        }
        turn.traffic.tls_failed += 1;
        self.moved_ms = turn.now_ms;
        if fault == Fault::NotTls {
            let mut notice = Vec::new();
            turn.service.reject(Rejection::NotTls, &mut notice);
            // Best effort: a client that does not get the message sees the connection close.
            let _ = write(&mut self.stream, &notice);
        }
        self.linger();
        self.shut();
    }

    /// Answers the complete messages, and keeps the remaining bytes.
    #[inline]
    pub(crate) fn answer(&mut self, received: &[u8], turn: &mut TurnContext<S>) -> io::Result<()> {
        if !self.is_open() || received.is_empty() {
            return Ok(());
        }
        if self.input.is_empty() {
            let consumed = self.consume(received, turn)?;
            if consumed < received.len() {
                self.input.extend_from_slice(received.get(consumed..).unwrap_or_default());
            }
            Ok(())
        } else {
            self.input.extend_from_slice(received);
            self.consume_input(turn)
        }
    }

    fn consume_input(&mut self, turn: &mut TurnContext<S>) -> io::Result<()> {
        let start = turn.service.out().len();
        let mut input = std::mem::take(&mut self.input);
        let consumed = self.consume(&input, turn)?;
        input.drain(..consumed.min(input.len()));
        if input.is_empty() || (input.len() < KEPT_BYTES && input.capacity() > 2 * READ_BYTES) {
            input.shrink_to(KEPT_BYTES);
        }
        self.input = input;
        self.send(start, turn)
    }

    /// Answers the complete messages at the start of `bytes`. Returns the number of consumed bytes.
    fn consume(&mut self, bytes: &[u8], turn: &mut TurnContext<S>) -> io::Result<usize> {
        let start = turn.service.out().len();
        let mut consumed = 0;
        self.postponed = false;
        while self.is_open() && self.unsent.is_empty() {
            let rest = bytes.get(consumed..).unwrap_or_default();
            if consumed > 0 && !rest.is_empty() && turn.service.slice().is_over() {
                self.postponed = true;
                break;
            }
            let (used, step) = turn.service.feed(&mut self.session, rest);
            consumed += used;
            match step {
                Step::Next => {}
                Step::More => break,
                Step::Later => {
                    self.long = true;
                    self.postponed = true;
                    break;
                }
                step => self.follow(step, turn),
            }
            if turn.service.out().len() - start >= FLUSH_BYTES {
                self.send(start, turn)?;
            }
        }
        let goes_on = matches!(self.stage, Stage::Open | Stage::Waiting);
        Ok(if goes_on { consumed } else { bytes.len() })
    }

    /// Answers the request that waited for this outcome.
    pub(crate) fn resume(&mut self, outcome: S::Outcome, turn: &mut TurnContext<S>) -> io::Result<()> {
        if matches!(self.stage, Stage::Waiting) {
            let step = turn.service.resume(&mut self.session, outcome);
            self.follow(step, turn);
        }
        self.send(0, turn)
    }

    /// Carries out a step of the service.
    fn follow(&mut self, step: Step, turn: &mut TurnContext<S>) {
        match step {
            Step::Next if matches!(self.stage, Stage::Waiting) => {
                self.stage = Stage::Open;
                // `input` may hold further requests; no poll will report them.
                self.postponed = !self.input.is_empty();
            }
            Step::Next | Step::More => {}
            Step::Later => self.long = true,
            Step::Wait => {
                self.stage = Stage::Waiting;
                self.tell_of_the_end();
            }
            Step::Upgrade => {
                let acceptor = turn.shared.tls.clone().map(Box::new);
                self.stage = acceptor.map_or(Stage::Closing, Stage::Upgrading);
            }
            Step::Close => self.stage = Stage::Closing,
            Step::Linger => self.linger(),
            Step::Abort => {
                turn.traffic.aborted += 1;
                self.linger();
            }
        }
    }

    fn linger(&mut self) {
        self.stage = Stage::Lingering;
        S::close(&mut self.session);
        self.input = Vec::new();
        self.postponed = false;
    }

    /// Writes the turn's answers from `start` on.
    fn send(&mut self, start: usize, turn: &mut TurnContext<S>) -> io::Result<()> {
        turn.service.release_locks();
        let out = turn.service.out();
        let sent = self.deliver(out.get(start..).unwrap_or_default(), turn.now_ms, &mut turn.traffic);
        out.truncate(start);
        sent
    }

    /// Writes answers, and keeps the bytes that the kernel does not take.
    #[inline]
    pub(crate) fn deliver(&mut self, answers: &[u8], now_ms: u64, traffic: &mut Traffic) -> io::Result<()> {
        if answers.is_empty() {
            return Ok(());
        }
        // Earlier answers that the kernel has not taken yet must be sent first.
        let written = if self.unsent.is_empty() { write(&mut self.stream, answers)? } else { 0 };
        traffic.bytes_out += written as u64;
        self.moved_ms = now_ms;
        self.pace.moved(written);
        if written < answers.len() {
            self.unsent.extend_from_slice(answers.get(written..).unwrap_or_default());
        } else {
            self.sent_all();
        }
        Ok(())
    }

    /// Sends bytes of a file if the answer continues with a file. Returns whether the answer continues with a
    /// file.
    fn send_file(&mut self, turn: &mut TurnContext<S>) -> io::Result<bool> {
        self.blocked = false;
        if self.stream.session().is_some() {
            return Ok(false);
        }
        let Some(FilePiece { file, at, end }) = S::file_output(&mut self.session) else { return Ok(false) };
        let length = end.saturating_sub(*at).min(FILE_BYTES) as usize;
        let mut sent = 0;
        while sent < length {
            // If the client has disconnected, this raises SIGPIPE, which programs in Rust and in Python
            // ignore.
            match sendfile(self.stream.socket(), file, Some(at), length - sent) {
                Ok(0) => break,
                Ok(count) => sent += count,
                Err(Errno::AGAIN) => {
                    self.blocked = true;
                    break;
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if sent > 0 {
            turn.traffic.bytes_out += sent as u64;
            self.moved_ms = turn.now_ms;
            self.pace.moved(sent);
        }
        Ok(sent > 0 || self.blocked)
    }

    /// Writes `unsent`. Returns whether all of it is sent.
    fn flush(&mut self, turn: &mut TurnContext<S>) -> io::Result<bool> {
        let written = write(&mut self.stream, self.unsent.get(self.sent..).unwrap_or_default())?;
        if written > 0 {
            turn.traffic.bytes_out += written as u64;
            self.sent += written;
            self.moved_ms = turn.now_ms;
            self.pace.moved(written);
        }
        if self.sent < self.unsent.len() {
            return Ok(false);
        }
        self.unsent.clear();
        self.unsent.shrink_to(KEPT_BYTES);
        self.sent = 0;
        self.sent_all();
        Ok(true)
    }

    #[inline]
    fn sent_all(&mut self) {
        match self.stage {
            // The client sees the end of the stream after the answer.
            Stage::Lingering => self.shut(),
            Stage::Upgrading(_) => self.begin_tls(),
            Stage::Open | Stage::Waiting | Stage::Closing => {}
        }
    }

    #[cold]
    fn begin_tls(&mut self) {
        if let Stage::Upgrading(acceptor) = std::mem::replace(&mut self.stage, Stage::Closing)
            && self.secure(&acceptor).is_ok()
        {
            self.stage = Stage::Open;
        }
    }

    fn shut(&mut self) {
        self.stream.close();
        // If the client has disconnected, the next read reports that.
        let _ = self.stream.socket().shutdown(Shutdown::Write);
    }

    /// Ends the TLS session before the socket is closed.
    pub(crate) fn leave(&mut self) {
        self.stream.close();
    }

    /// Whether the client has kept the server waiting for too long. A stalled client counts as aborted. An
    /// idle client is no error, and a lingering client has already been counted.
    pub(crate) fn is_overdue(&mut self, turn: &mut TurnContext<S>) -> bool {
        let (stalled, idle_ms) = (self.has_stalled(turn), turn.shared.limits.idle_ms);
        let waited = turn.now_ms.saturating_sub(self.moved_ms);
        match self.stage {
            Stage::Lingering => stalled || waited >= LINGER_MS,
            _ if stalled => {
                turn.traffic.aborted += 1;
                true
            }
            // The client waits for the server.
            Stage::Waiting => false,
            _ if self.is_under_way() => false,
            _ => idle_ms != 0 && waited >= idle_ms && !S::has_output(&self.session),
        }
    }

    /// Whether the client has to send or read bytes before anything else can happen.
    fn is_under_way(&self) -> bool {
        let sends = match self.stage {
            Stage::Waiting => false,
            _ if self.postponed => false,
            _ => !self.input.is_empty() || self.stream.is_within_record() || S::is_receiving(&self.session),
        };
        sends || self.handshaking || !self.unsent.is_empty() || self.blocked
    }

    fn has_stalled(&mut self, turn: &mut TurnContext<S>) -> bool {
        let stalled = self.stalls(turn);
        if !stalled || (self.unsent.is_empty() && !self.blocked) {
            return stalled;
        }
        // The poll reports a writable socket only when much of the kernel's buffer is free, which may take
        // long for a slow reader, so a write is tried. If `unsent` is then empty, reading continues without a
        // report of the poll.
        let tried = if self.blocked { self.send_file(turn).map(|_| false) } else { self.flush(turn) };
        match tried {
            Ok(all) => {
                self.readable |= all;
                self.stalls(turn)
            }
            Err(_) => true,
        }
    }

    fn stalls(&mut self, turn: &TurnContext<S>) -> bool {
        let moved = self.stream.take_moved();
        if !self.handshaking {
            // The bytes of an incomplete record count, as a record may take long on a slow link. A handshake
            // is short and has to end within one period.
            self.pace.moved(moved);
        }
        let SocketLimits { stall_ms, stall_bytes, .. } = turn.shared.limits;
        self.pace.has_stalled(self.is_under_way(), turn.now_ms, stall_ms, stall_bytes)
    }
}

/// Writes until the kernel takes no more. Returns the number of written bytes.
fn write(stream: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match stream.write(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}
