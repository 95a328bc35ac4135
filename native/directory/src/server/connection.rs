//! One client's socket: bytes in, complete messages to the session, answers out.

use std::io::{self, ErrorKind, Read};
use std::net::Shutdown;

use mio::net::TcpStream;
use net::{Pace, Pass};
use tls::{Acceptor, Fault, Stream};
use wire::ldap::frame::message_length;

use crate::answer;
use crate::clock::Now;
use crate::operation;
use crate::session::{Flow, Secured, Session};
use crate::stats::Counters;
use crate::turn::{FLUSH_BYTES, Turn};

/// Bytes of one read. A read that fills less has drained the socket.
pub(super) const READ_BYTES: usize = 64 << 10;

/// An idle connection keeps no larger buffer than this.
const KEPT_BYTES: usize = 1 << 10;

/// A connection that has been told to go away gets this long to read why.
const LINGER_MS: u64 = 1_000;

/// What a connection needs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing until the kernel reports something.
    Wait,
    /// Another turn: there is more to read or a search to go on with.
    Again,
    /// To be told when the socket takes bytes again.
    Blocked,
    /// To be closed.
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The client has been told to begin with TLS: it does when it has been told.
    Upgrading,
    /// The client has unbound or gone: close when the answers are out.
    Closing,
    /// The client has been told why it has to go. Closing with its bytes unread would reset the
    /// connection and lose the notice, so they are read and dropped for a moment.
    Lingering,
}

pub(super) struct Connection {
    stream: Stream<TcpStream>,
    /// Its place among those connected, free again when it is gone.
    _pass: Pass,
    session: Session,
    state: State,
    /// A handshake of TLS's is under way.
    shaking: bool,
    /// What TLS begins with once its client has been told.
    upgrade: Option<Box<Acceptor>>,
    /// Bytes may wait in the kernel (the edge has been reported and not yet used up).
    readable: bool,
    /// The client has sent its last byte: read until the end is seen.
    ending: bool,
    /// Bytes received and not consumed: a message that is not complete, or those that arrived
    /// behind one whose answer blocked.
    input: Vec<u8>,
    /// There may be a whole message among them, for which the last turn had no time.
    postponed: bool,
    /// Answers the kernel has not taken, from `sent` on.
    unsent: Vec<u8>,
    sent: usize,
    /// When bytes last moved, in the clock of the turn.
    moved_ms: u64,
    /// How fast.
    pace: Pace,
    /// Whether the poll reports when the socket is writable.
    pub(super) watched: bool,
    /// Whether it waits in the worker's queue.
    pub(super) queued: bool,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, pass: Pass, session: Session, now_ms: u64) -> Self {
        Self {
            stream: Stream::new(stream),
            _pass: pass,
            session,
            state: State::Open,
            shaking: false,
            upgrade: None,
            readable: false,
            ending: false,
            input: Vec::new(),
            postponed: false,
            unsent: Vec::new(),
            sent: 0,
            moved_ms: now_ms,
            pace: Pace::default(),
            watched: false,
            queued: false,
        }
    }

    /// From now on TLS is spoken.
    pub(super) fn secure(&mut self, acceptor: &Acceptor) -> io::Result<()> {
        self.stream.accept(acceptor)?;
        self.shaking = true;
        Ok(())
    }

    pub(super) fn stream(&mut self) -> &mut TcpStream {
        self.stream.socket()
    }

    /// Notes what the poll reported.
    pub(super) fn reported(&mut self, readable: bool, ending: bool) {
        self.readable |= readable;
        self.ending |= ending;
    }

    /// Whether the next bytes can be read and answered at once: nothing is in the way.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        self.readable
            && self.state == State::Open
            && self.unsent.is_empty()
            && self.input.is_empty()
            && self.session.searches.is_idle()
    }

    /// Does one turn of work: at most one read, and one slice of a search.
    pub(super) fn drive(&mut self, buffer: &mut [u8], turn: &mut Turn<'_>) -> io::Result<()> {
        if !self.unsent.is_empty() && !self.flush(turn)? {
            return Ok(());
        }
        if self.state == State::Open && !self.input.is_empty() {
            self.consume_input(turn)?;
        }
        // Nothing is read beyond what has had its turn: who sends faster than is served waits in the kernel.
        if self.readable && self.unsent.is_empty() && !self.postponed {
            let count = self.receive(buffer, turn)?;
            self.answer(buffer.get(..count).unwrap_or_default(), turn)?;
            self.send(0, turn)?;
        }
        if self.state == State::Open && self.unsent.is_empty() && !self.session.searches.is_idle() {
            self.session.searches.step(turn);
            self.send(0, turn)?;
        }
        Ok(())
    }

    /// What it needs after its turn.
    #[inline]
    pub(super) fn next(&self) -> Next {
        if !self.unsent.is_empty() {
            return Next::Blocked;
        }
        match self.state {
            State::Closing => Next::Close,
            State::Lingering | State::Open if self.readable || self.postponed => Next::Again,
            State::Open if !self.session.searches.is_idle() => Next::Again,
            State::Upgrading | State::Lingering | State::Open => Next::Wait,
        }
    }

    /// Reads once and says how much; nothing where there is nothing yet, or will be nothing more.
    #[inline]
    pub(super) fn receive(&mut self, buffer: &mut [u8], turn: &mut Turn<'_>) -> io::Result<usize> {
        let received = self.stream.read(buffer);
        if self.stream.session().is_some() {
            self.look_at_session(turn);
        }
        match received {
            Ok(0) => {
                self.readable = false;
                self.state = State::Closing;
                Ok(0)
            }
            Ok(count) => {
                // A short read has emptied the socket (epoll(7)), so the one that would say so is
                // saved; but the end of the stream, once reported, is not reported again.
                self.readable = count == buffer.len() || self.ending;
                if !matches!(self.state, State::Lingering) {
                    self.moved_ms = turn.now.ms;
                    self.pace.moved(count);
                }
                turn.counters.bytes_in += count as u64;
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
    fn look_at_session(&mut self, turn: &mut Turn<'_>) {
        let Some(session) = self.stream.session() else { return };
        // What TLS ends with is not reported as the end of a stream is.
        self.ending |= session.has_ended();
        if !self.shaking || !session.is_open() {
            return;
        }
        self.shaking = false;
        self.moved_ms = turn.now.ms;
        turn.counters.tls_handshakes += 1;
        turn.counters.tls_resumed += u64::from(session.is_resumed());
        let certificate = session.peer().map(|certificate| certificate.to_vec().into());
        self.session.secured = Some(Box::new(Secured { certificate }));
    }

    /// Tells a client that has knocked without TLS. The others have been sent an alert.
    #[cold]
    fn tls_failed(&mut self, fault: Fault, turn: &mut Turn<'_>) {
        self.shaking = false;
        if fault == Fault::Closed {
            // As whoever only looks whether somebody listens.
            self.state = State::Closing;
            return;
        }
        turn.counters.tls_failed += 1;
        self.moved_ms = turn.now.ms;
        if fault == Fault::NotTls {
            let mut notice = Vec::new();
            answer::notice_of_disconnection(&mut notice, "this port speaks TLS; connect with ldaps://");
            // Best effort: the client that does not get it sees the connection close.
            let _ = net::write(&mut self.stream, &notice);
        }
        self.linger();
        self.shut();
    }

    /// Answers every complete message received, to the turn's buffer; keeps the rest.
    #[inline]
    pub(super) fn answer(&mut self, received: &[u8], turn: &mut Turn<'_>) -> io::Result<()> {
        if self.state != State::Open || received.is_empty() {
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

    fn consume_input(&mut self, turn: &mut Turn<'_>) -> io::Result<()> {
        let start = turn.out.len();
        let mut input = std::mem::take(&mut self.input);
        let consumed = self.consume(&input, turn)?;
        input.drain(..consumed.min(input.len()));
        if input.is_empty() || (input.len() < KEPT_BYTES && input.capacity() > 2 * READ_BYTES) {
            input.shrink_to(KEPT_BYTES);
        }
        self.input = input;
        self.send(start, turn)
    }

    /// Answers the complete messages at the start of `bytes` and says how far it came.
    fn consume(&mut self, bytes: &[u8], turn: &mut Turn<'_>) -> io::Result<usize> {
        let start = turn.out.len();
        let mut consumed = 0;
        self.postponed = false;
        while self.state == State::Open && self.unsent.is_empty() {
            let rest = bytes.get(consumed..).unwrap_or_default();
            if consumed > 0 && !rest.is_empty() && turn.slice.is_over() {
                self.postponed = true;
                break;
            }
            let length = match message_length(rest, self.session.message_limit(turn)) {
                Ok(Some(length)) => length,
                Ok(None) => break,
                Err(error) => {
                    self.refuse(&error, turn);
                    break;
                }
            };
            let message = rest.get(..length).unwrap_or_default();
            consumed += length;
            match operation::handle(&mut self.session, message, turn) {
                Flow::Continue => {}
                Flow::Close => self.state = State::Closing,
                Flow::StartTls if consumed == bytes.len() => {
                    self.upgrade = turn.settings.upgrader().cloned().map(Box::new);
                    self.state = State::Upgrading;
                }
                // RFC 4511 section 4.14.1; and nothing that was sent in the clear may pass for protected.
                Flow::StartTls => self.refuse(&StartTlsError, turn),
                Flow::Disconnect => self.abort(turn),
            }
            if turn.out.len() - start >= FLUSH_BYTES {
                self.send(start, turn)?;
            }
        }
        Ok(if self.state == State::Open { consumed } else { bytes.len() })
    }

    /// Tells the client that what it sends cannot be cut into messages.
    fn refuse(&mut self, reason: &dyn std::error::Error, turn: &mut Turn<'_>) {
        answer::notice_of_disconnection(turn.out, &reason.to_string());
        self.abort(turn);
    }

    fn abort(&mut self, turn: &mut Turn<'_>) {
        turn.counters.aborted += 1;
        self.linger();
    }

    fn linger(&mut self) {
        self.state = State::Lingering;
        self.session.searches.clear();
        self.input = Vec::new();
        self.postponed = false;
    }

    /// Writes the turn's answers from `start` on.
    fn send(&mut self, start: usize, turn: &mut Turn<'_>) -> io::Result<()> {
        turn.access.release();
        let sent = self.deliver(turn.out.get(start..).unwrap_or_default(), turn.now, turn.counters);
        turn.out.truncate(start);
        sent
    }

    /// Writes answers; keeps what the kernel does not take.
    #[inline]
    pub(super) fn deliver(&mut self, answers: &[u8], now: Now, counters: &mut Counters) -> io::Result<()> {
        if answers.is_empty() {
            return Ok(());
        }
        let written = net::write(&mut self.stream, answers)?;
        counters.bytes_out += written as u64;
        self.moved_ms = now.ms;
        self.pace.moved(written);
        if written < answers.len() {
            self.unsent.extend_from_slice(answers.get(written..).unwrap_or_default());
        } else {
            self.sent_all();
        }
        Ok(())
    }

    /// Writes what had to wait; says whether all of it is out.
    fn flush(&mut self, turn: &mut Turn<'_>) -> io::Result<bool> {
        let written = net::write(&mut self.stream, self.unsent.get(self.sent..).unwrap_or_default())?;
        if written > 0 {
            turn.counters.bytes_out += written as u64;
            self.sent += written;
            self.moved_ms = turn.now.ms;
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

    fn sent_all(&mut self) {
        match self.state {
            // The client sees the end of the stream behind the notice.
            State::Lingering => self.shut(),
            State::Upgrading => {
                let acceptor = self.upgrade.take();
                let secured = acceptor.is_some_and(|acceptor| self.secure(&acceptor).is_ok());
                self.state = if secured { State::Open } else { State::Closing };
            }
            State::Open | State::Closing => {}
        }
    }

    /// Sends the end of the stream.
    fn shut(&mut self) {
        self.stream.close();
        // If the client is gone already, the next read says so.
        let _ = self.stream.socket().shutdown(Shutdown::Write);
    }

    /// What is said last.
    pub(super) fn leave(&mut self) {
        self.stream.close();
    }

    /// Whether the client has kept the server waiting for too long. Those that stall are counted; who
    /// idles breaks nothing, and who has been told to go has been counted.
    pub(super) fn is_overdue(&mut self, turn: &mut Turn<'_>) -> bool {
        let (stalled, limits) = (self.has_stalled(turn), &turn.settings.limits);
        let waited = turn.now.ms.saturating_sub(self.moved_ms);
        match self.state {
            State::Lingering => stalled || waited >= LINGER_MS,
            _ if stalled => {
                turn.counters.aborted += 1;
                true
            }
            _ if self.is_under_way() => false,
            _ => limits.idle_ms != 0 && waited >= limits.idle_ms && self.session.searches.is_idle(),
        }
    }

    /// Whether it is the client's turn to send or to take bytes.
    fn is_under_way(&self) -> bool {
        let sends = !self.input.is_empty() || self.stream.is_within_record();
        self.shaking || !self.unsent.is_empty() || (sends && !self.postponed)
    }

    fn has_stalled(&mut self, turn: &mut Turn<'_>) -> bool {
        let stalled = self.stalls(turn);
        if !stalled || self.unsent.is_empty() {
            return stalled;
        }
        // The poll reports room when much of the kernel's buffer is free, for which a slow reader may need
        // longer: ask. What waits behind is gone on with as if the poll had reported it.
        match self.flush(turn) {
            Ok(all) => {
                self.readable |= all;
                self.stalls(turn)
            }
            Err(_) => true,
        }
    }

    fn stalls(&mut self, turn: &Turn<'_>) -> bool {
        let moved = self.stream.take_moved();
        if !self.shaking {
            // A record may take long on a slow link; a handshake is short, and has its time in all.
            self.pace.moved(moved);
        }
        let limits = &turn.settings.limits;
        self.pace.has_stalled(self.is_under_way(), turn.now.ms, limits.stall_ms, limits.stall_bytes)
    }
}

/// A client did not wait for the answer.
#[derive(Debug, thiserror::Error)]
#[error("bytes behind a StartTLS whose answer was not waited for")]
struct StartTlsError;
