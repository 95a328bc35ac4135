//! One client's socket: bytes in, requests one after the other, answers out in the same order.

use std::io::{self, ErrorKind, Read};
use std::net::Shutdown;

use mio::net::TcpStream;
use net::{Pace, Pass};
use tls::{Acceptor, Fault, Stream};
use wire::http::{HeadError, RequestHead};

use super::exchange::{self, Incoming, Step};
use super::turn::{Ticket, Turn};
use crate::http::Manner;
use crate::limits::LINGER_MS;
use crate::upd::Outcome;

/// Answers are handed to the kernel when this many bytes have gathered, also in the middle of a
/// batch of requests.
const FLUSH_BYTES: usize = 64 << 10;

/// Bytes of one read. A read that fills less has drained the socket.
pub(super) const READ_BYTES: usize = 64 << 10;

/// An idle connection keeps no larger buffer than this.
const KEPT_BYTES: usize = 1 << 10;

/// To a client that has begun without TLS where it is spoken.
const NOT_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 47\r\n\
    Connection: close\r\n\r\nthis port speaks TLS; ask for it with https://\n";

/// What a connection needs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing until the kernel or the writer reports something.
    Wait,
    /// Another turn: there is more to read.
    Again,
    /// To be told when the socket takes bytes again.
    Blocked,
    /// To be closed.
    Close,
}

#[derive(Debug)]
enum Stage {
    /// Between requests, or within a head.
    Head,
    /// Within a body.
    Body(Box<Incoming>),
    /// The writer has the request. Nothing behind it is looked at: answers keep their order.
    Waiting(Manner),
    /// Close when the answers are out.
    Closing,
    /// The client has been told why it has to go. Closing with its bytes unread would reset the
    /// connection and lose the answer (RFC 9112 section 9.6), so they are read and dropped for a
    /// moment.
    Lingering,
}

#[derive(Debug)]
pub(super) struct Connection {
    stream: Stream<TcpStream>,
    /// A handshake of TLS's is under way.
    shaking: bool,
    /// Its place among those connected, free again when it is gone.
    _pass: Pass,
    stage: Stage,
    pub(super) ticket: Ticket,
    /// Bytes may wait in the kernel (the edge has been reported and not yet used up).
    readable: bool,
    /// The client has sent its last byte: read until the end is seen.
    ending: bool,
    /// Bytes received and not consumed.
    input: Vec<u8>,
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
    pub(super) fn new(stream: TcpStream, pass: Pass, ticket: Ticket, now_ms: u64) -> Self {
        Self {
            stream: Stream::new(stream),
            shaking: false,
            _pass: pass,
            stage: Stage::Head,
            ticket,
            readable: false,
            ending: false,
            input: Vec::new(),
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

    /// Does one turn of work: at most one read.
    pub(super) fn drive(&mut self, buffer: &mut [u8], turn: &mut Turn<'_, '_>) -> Next {
        let next = self.work(buffer, turn);
        self.settle(next, turn)
    }

    /// Answers the request that waited for the writer.
    pub(super) fn written(&mut self, outcome: Outcome, turn: &mut Turn<'_, '_>) -> Next {
        if let Stage::Waiting(manner) = self.stage {
            let step = exchange::finish(manner, outcome, turn);
            self.step(step);
        }
        let next = self.send(turn).map(|()| {
            // What came behind the request, and what the kernel has reported since.
            if self.input.is_empty() && !self.readable { self.next() } else { Next::Again }
        });
        self.settle(next, turn)
    }

    fn settle(&mut self, next: io::Result<Next>, turn: &mut Turn<'_, '_>) -> Next {
        next.unwrap_or_else(|_| {
            // Reset, or a broken pipe: nobody is left to hear anything.
            turn.out.clear();
            Next::Close
        })
    }

    fn work(&mut self, buffer: &mut [u8], turn: &mut Turn<'_, '_>) -> io::Result<Next> {
        if !self.unsent.is_empty() && !self.flush(turn)? {
            return Ok(Next::Blocked);
        }
        if self.takes_requests() && !self.input.is_empty() {
            self.consume_input(turn)?;
        }
        let reads = self.takes_requests() || matches!(self.stage, Stage::Lingering);
        if self.readable && reads && self.unsent.is_empty() {
            self.read(buffer, turn)?;
        }
        Ok(self.next())
    }

    const fn takes_requests(&self) -> bool {
        matches!(self.stage, Stage::Head | Stage::Body(_))
    }

    pub(super) fn next(&self) -> Next {
        if !self.unsent.is_empty() {
            return Next::Blocked;
        }
        match self.stage {
            Stage::Closing => Next::Close,
            Stage::Waiting(_) => Next::Wait,
            _ if self.readable => Next::Again,
            _ => Next::Wait,
        }
    }

    /// Reads once and answers every complete request of it.
    fn read(&mut self, buffer: &mut [u8], turn: &mut Turn<'_, '_>) -> io::Result<()> {
        let received = self.stream.read(buffer);
        if self.stream.session().is_some() {
            self.look_at_session(turn);
        }
        let count = match received {
            Ok(0) => {
                self.readable = false;
                self.stage = Stage::Closing;
                return Ok(());
            }
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.readable = false;
                return Ok(());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => match self.stream.fault(&error) {
                Some(fault) => {
                    self.tls_failed(fault, turn);
                    return Ok(());
                }
                None => return Err(error),
            },
        };
        // A short read has emptied the socket (epoll(7)), so the one that would say so is saved;
        // but the end of the stream, once reported, is not reported again.
        self.readable = count == buffer.len() || self.ending;
        if !matches!(self.stage, Stage::Lingering) {
            self.moved_ms = turn.now.ms;
            self.pace.moved(count);
        }
        turn.counters.bytes_in += count as u64;
        if !self.takes_requests() {
            return Ok(());
        }
        let received = buffer.get(..count).unwrap_or_default();
        if self.input.is_empty() {
            let consumed = self.consume(received, turn)?;
            self.input.extend_from_slice(received.get(consumed..).unwrap_or_default());
            Ok(())
        } else {
            self.input.extend_from_slice(received);
            self.consume_input(turn)
        }
    }

    #[cold]
    fn look_at_session(&mut self, turn: &mut Turn<'_, '_>) {
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
    }

    /// Tells a client that has knocked without TLS. The others have been sent an alert.
    #[cold]
    fn tls_failed(&mut self, fault: Fault, turn: &mut Turn<'_, '_>) {
        self.shaking = false;
        if fault == Fault::Closed {
            // As whoever only looks whether somebody listens.
            self.stage = Stage::Closing;
            return;
        }
        turn.counters.tls_failed += 1;
        self.moved_ms = turn.now.ms;
        if fault == Fault::NotTls {
            // Best effort: the client that does not get it sees the connection close.
            let _ = net::write(&mut self.stream, NOT_TLS);
        }
        self.stage = Stage::Lingering;
        self.shut();
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

    fn consume_input(&mut self, turn: &mut Turn<'_, '_>) -> io::Result<()> {
        let mut input = std::mem::take(&mut self.input);
        let consumed = self.consume(&input, turn)?;
        input.drain(..consumed.min(input.len()));
        if input.is_empty() {
            input.shrink_to(KEPT_BYTES);
        }
        self.input = input;
        Ok(())
    }

    /// Answers the complete requests at the start of `bytes` and says how far it came.
    fn consume(&mut self, bytes: &[u8], turn: &mut Turn<'_, '_>) -> io::Result<usize> {
        let mut consumed = 0;
        while self.unsent.is_empty() {
            let rest = bytes.get(consumed..).unwrap_or_default();
            let (used, step) = match &mut self.stage {
                Stage::Head => match request(rest, turn) {
                    Some(found) => found,
                    None => break,
                },
                Stage::Body(incoming) => match incoming.feed(rest, self.ticket, turn) {
                    (used, Some(step)) => (used, step),
                    (used, None) => {
                        consumed += used;
                        break;
                    }
                },
                _ => break,
            };
            consumed += used;
            self.step(step);
            if turn.out.len() >= FLUSH_BYTES {
                self.send(turn)?;
            }
        }
        if matches!(self.stage, Stage::Closing) && consumed < bytes.len() {
            // Unread requests behind a last one: see Lingering.
            self.stage = Stage::Lingering;
        }
        self.send(turn)?;
        let dropped = matches!(self.stage, Stage::Closing | Stage::Lingering);
        Ok(if dropped { bytes.len() } else { consumed })
    }

    fn step(&mut self, step: Step) {
        self.stage = match step {
            Step::Next => Stage::Head,
            Step::Body(incoming) => Stage::Body(incoming),
            Step::Wait(manner) => Stage::Waiting(manner),
            Step::Close => Stage::Closing,
            Step::Linger => Stage::Lingering,
        };
    }

    /// Writes the turn's answers; keeps what the kernel does not take.
    fn send(&mut self, turn: &mut Turn<'_, '_>) -> io::Result<()> {
        if turn.out.is_empty() {
            return Ok(());
        }
        let written = if self.unsent.is_empty() { net::write(&mut self.stream, turn.out)? } else { 0 };
        turn.counters.bytes_out += written as u64;
        if written < turn.out.len() {
            self.unsent.extend_from_slice(turn.out.get(written..).unwrap_or_default());
        } else {
            self.sent_all();
        }
        turn.out.clear();
        self.moved_ms = turn.now.ms;
        self.pace.moved(written);
        Ok(())
    }

    /// Writes what had to wait; says whether all of it is out.
    fn flush(&mut self, turn: &mut Turn<'_, '_>) -> io::Result<bool> {
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
        if matches!(self.stage, Stage::Lingering) {
            // The client sees the end of the stream behind the answer.
            self.shut();
        }
    }

    /// Whether the client has kept the site waiting for too long. Those that stall are counted; who
    /// idles breaks nothing, and who has been told to go has been counted.
    pub(super) fn is_overdue(&mut self, turn: &mut Turn<'_, '_>) -> bool {
        let (stalled, idle_ms) = (self.has_stalled(turn), turn.shared.limits.idle_ms);
        let waited = turn.now.ms.saturating_sub(self.moved_ms);
        match self.stage {
            Stage::Lingering => stalled || waited >= LINGER_MS,
            _ if stalled => {
                turn.counters.aborted += 1;
                true
            }
            // It is the client that waits.
            Stage::Waiting(_) => false,
            _ if self.is_under_way() => false,
            _ => idle_ms != 0 && waited >= idle_ms,
        }
    }

    /// Whether it is the client's turn to send or to take bytes.
    fn is_under_way(&self) -> bool {
        let sends = match self.stage {
            Stage::Waiting(_) => false,
            Stage::Body(_) => true,
            _ => !self.input.is_empty() || self.stream.is_within_record(),
        };
        sends || self.shaking || !self.unsent.is_empty()
    }

    fn has_stalled(&mut self, turn: &mut Turn<'_, '_>) -> bool {
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

    fn stalls(&mut self, turn: &Turn<'_, '_>) -> bool {
        let moved = self.stream.take_moved();
        if !self.shaking {
            // A record may take long on a slow link; a handshake is short, and has its time in all.
            self.pace.moved(moved);
        }
        let limits = &turn.shared.limits;
        self.pace.has_stalled(self.is_under_way(), turn.now.ms, limits.stall_ms, limits.stall_bytes)
    }
}

/// Answers the request that `bytes` begins with: its head's length, and what comes then. `None`
/// while the head is not all there.
fn request(bytes: &[u8], turn: &mut Turn<'_, '_>) -> Option<(usize, Step)> {
    if bytes.is_empty() {
        return None;
    }
    match RequestHead::decode(bytes) {
        Ok(Some(head)) => Some((head.length, exchange::begin(&head, bytes, turn))),
        Ok(None) if bytes.len() <= turn.shared.limits.head_bytes => None,
        Ok(None) => Some((bytes.len(), exchange::refuse_head(HeadError::TooLong, bytes, turn))),
        Err(error) => Some((bytes.len(), exchange::refuse_head(error, bytes, turn))),
    }
}
