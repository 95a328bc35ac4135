//! Writes requests and reads answers.

use std::ops::Range;

use mio::Interest;
use mio::event::Event;

use super::phases::PhaseTimes;
use super::several::UNSOLICITED_BYTES;
use super::{Fate, Lane, Phase};
use crate::connection::link::{Link, ReadOutcome, WriteOutcome};
use crate::drive::context::{BUFFER_BYTES, Context, Turn};
use crate::program::Op;
use crate::protocol::{Protocol, Received};
use crate::record::clock::now_ns;
use crate::record::failure::Failure;

/// The number of full reads of one lane before the other lanes and the timeouts get their turn. A server may
/// send faster than the lane checks answers.
pub(crate) const FULL_READS: usize = 16;

impl<P: Protocol> Lane<P> {
    /// Sends the request at this place of the buffer.
    #[inline]
    pub(crate) fn launch(&mut self, place: Range<usize>, turn: &mut Turn<'_, P>) -> Fate {
        let started_ns = now_ns();
        self.current.started_ns = started_ns;
        if let Link::Down(reason) = self.connection.link {
            let failure = reason.unwrap_or(Failure::Closed);
            turn.context.protocol.unsent(&mut self.state);
            return self.unanswered(failure, turn, started_ns);
        }
        match self.send_request(place, turn.context) {
            Ok(()) => Fate::Runs,
            Err(failure) if self.connection.link.is_opening() => {
                self.connect_failed(failure, turn, started_ns)
            }
            Err(failure) => self.unanswered(failure, turn, started_ns),
        }
    }

    /// Requests the next page of an answer. It is part of the same request, but has its own timeout.
    #[cold]
    fn ask_next_part(&mut self, request: &P::Request, turn: &mut Turn<'_, P>) -> Fate {
        // The buffer may hold requests of a batch in front of this request.
        let start = turn.context.out.len();
        turn.context.protocol.encode_more(request, &mut self.state, &mut turn.context.out);
        let end = turn.context.out.len();
        self.current.bytes_out += (end - start) as u64;
        let sent = if turn.context.protocol.keeps_connection(&self.state) {
            self.send_request(start..end, turn.context)
        } else {
            self.reconnect(start..end, turn.context)
        };
        turn.context.out.truncate(start);
        match sent {
            Ok(()) if self.phase == Phase::Opening => Fate::Runs,
            Ok(()) => {
                turn.context.deadlines[self.id as usize] = now_ns() + turn.context.timeout_ns;
                Fate::Runs
            }
            Err(failure) => self.unanswered(failure, turn, now_ns()),
        }
    }

    /// Sends a request over a new connection, because the previous answer was the last on its connection.
    /// Opening the connection is part of the request.
    #[cold]
    fn reconnect(&mut self, place: Range<usize>, context: &mut Context<P>) -> Result<(), Failure> {
        let began = self.began;
        self.open(self.connection.connect.slot, self.connection.endpoint, context)?;
        // The start of connecting remains the start of the first connection. Only the handshake of the last
        // connection is recorded.
        self.began = PhaseTimes { handshake_ns: 0, secure_ns: 0, ..began };
        self.connection.outbox.extend_from_slice(&context.out[place]);
        self.phase = Phase::Opening;
        context.deadlines[self.id as usize] = self.connection.connect.started_ns + context.connect_timeout_ns;
        self.watch(Interest::READABLE | Interest::WRITABLE, context)
    }

    #[inline]
    fn send_request(&mut self, place: Range<usize>, context: &mut Context<P>) -> Result<(), Failure> {
        let opening = self.connection.link.is_opening();
        let sent = self.connection.link.send(&context.out[place.clone()])?;
        if opening && sent == WriteOutcome::WouldBlock {
            self.connection.outbox.extend_from_slice(&context.out[place]);
            self.phase = Phase::Opening;
            context.deadlines[self.id as usize] =
                self.connection.connect.started_ns + context.connect_timeout_ns;
            return self.watch(Interest::READABLE | Interest::WRITABLE, context);
        }
        context.deadlines[self.id as usize] = self.current.started_ns + context.timeout_ns;
        if opening {
            self.link_is_up(context, self.current.started_ns);
            self.watch(Interest::READABLE, context)?;
        }
        let n = if let WriteOutcome::Bytes(n) = sent { n } else { 0 };
        if n == place.len() {
            return Ok(());
        }
        self.connection.outbox.extend_from_slice(&context.out[place.start + n..place.end]);
        self.watch(Interest::READABLE | Interest::WRITABLE, context)
    }

    /// Writes the bytes that the socket did not take before.
    pub(super) fn flush(&mut self, context: &mut Context<P>) -> Result<(), Failure> {
        while !self.connection.outbox.is_empty() {
            match self.connection.link.send(&self.connection.outbox)? {
                WriteOutcome::Bytes(n) => drop(self.connection.outbox.drain(..n)),
                WriteOutcome::WouldBlock => return Ok(()),
            }
        }
        self.watch(Interest::READABLE, context)
    }

    /// Reads until the socket is empty, or up to the end of the stream if the poller has reported the end.
    /// Stops early after [`FULL_READS`] full reads.
    pub(crate) fn read(&mut self, to_the_end: bool, turn: &mut Turn<'_, P>) -> Fate {
        for _ in 0..FULL_READS {
            let start = self.connection.inbox.len();
            turn.context.load(&self.connection.inbox);
            let n = match self.connection.link.receive(&mut turn.context.buffer[start..]) {
                Ok(ReadOutcome::Bytes(0)) => return self.ended(turn),
                Ok(ReadOutcome::Bytes(n)) => n,
                Ok(ReadOutcome::WouldBlock) => return Fate::Runs,
                Err(failure) => return self.lost(failure, turn),
            };
            let emptied = start + n < turn.context.buffer.len() && !to_the_end;
            let (token, connection) = (self.token(), self.connection.connect.started_ns);
            // The buffer is taken out of the context while the lane uses the buffer.
            let buffer = std::mem::take(&mut turn.context.buffer);
            let fate = self.process(&buffer[..start + n], n, now_ns(), turn);
            turn.context.buffer = buffer;
            if self.connection.inbox.is_empty() {
                self.shrink_buffers(turn.context);
            }
            if emptied || fate == Fate::Ended {
                return fate;
            }
            if self.token() != token {
                // The lane went on with another connection: no event will report the remaining bytes of the
                // previous connection.
                turn.context.half_read.push((token, to_the_end));
                return fate;
            }
            if self.connection.connect.started_ns != connection {
                return fate;
            }
        }
        turn.context.half_read.push((self.token(), to_the_end));
        Fate::Runs
    }

    /// Frees the memory that a large answer needed.
    #[inline]
    pub(super) fn shrink_buffers(&mut self, context: &mut Context<P>) {
        if self.connection.inbox.capacity() > BUFFER_BYTES {
            self.connection.inbox = Vec::new();
        }
        if context.buffer.len() > BUFFER_BYTES {
            context.shrink();
        }
    }

    /// Reads an answer into `space` for a batch. `None` unless the lane waits for an answer.
    #[inline]
    pub(crate) fn fetch(&mut self, event: &Event, space: &mut [u8]) -> Option<Result<ReadOutcome, Failure>> {
        let plain = self.phase == Phase::Asking
            && self.connection.inbox.is_empty()
            && self.connection.outbox.is_empty()
            && event.is_readable()
            && !event.is_read_closed()
            && !event.is_error();
        plain.then(|| match self.connection.link.receive(space) {
            Ok(ReadOutcome::Bytes(0)) => Err(Failure::Closed),
            got => got,
        })
    }

    /// Checks an answer of a batch.
    pub(crate) fn process_batched(&mut self, bytes: &[u8], read_ns: u64, turn: &mut Turn<'_, P>) -> Fate {
        self.process(bytes, bytes.len(), read_ns, turn)
    }

    /// Passes received bytes to the protocol; the last `came` bytes are new.
    #[inline]
    fn process(&mut self, bytes: &[u8], came: usize, read_ns: u64, turn: &mut Turn<'_, P>) -> Fate {
        let is_first = self.current.bytes_in == 0;
        self.current.bytes_in += came as u64;
        self.connection.inbox.clear();
        let (Phase::Asking, Some(Op::Exchange { request, .. })) =
            (self.phase, turn.program.ops.get(self.cursor.pc))
        else {
            return self.keep_unsolicited(bytes, turn);
        };
        if is_first {
            self.first_byte(read_ns);
        }
        let received = turn.context.protocol.receive(request, &mut self.state, bytes);
        self.on_received(received, bytes, request, turn, read_ns)
    }

    #[inline]
    fn on_received(
        &mut self,
        received: Received,
        bytes: &[u8],
        request: &P::Request,
        turn: &mut Turn<'_, P>,
        read_ns: u64,
    ) -> Fate {
        match received {
            Received::Partial { consumed } => {
                self.connection.inbox.extend_from_slice(&bytes[consumed..]);
                Fate::Runs
            }
            Received::More { consumed } => {
                self.connection.inbox.extend_from_slice(&bytes[consumed..]);
                self.ask_next_part(request, turn)
            }
            Received::Done { consumed, failure, fatal } => {
                self.connection.inbox.extend_from_slice(&bytes[consumed..]);
                if !turn.context.protocol.keeps_connection(&self.state) {
                    self.connection.close(None);
                }
                self.answered(bytes, failure, fatal, turn, read_ns)
            }
            Received::Broken(failure) => self.lost(failure, turn),
        }
    }

    /// Handles the end of the stream: the target has closed the connection, which completes the answer in
    /// some protocols.
    fn ended(&mut self, turn: &mut Turn<'_, P>) -> Fate {
        let (Phase::Asking, Some(Op::Exchange { request, .. })) =
            (self.phase, turn.program.ops.get(self.cursor.pc))
        else {
            return self.lost(Failure::Closed, turn);
        };
        let received = turn.context.protocol.ended(request, &mut self.state);
        self.on_received(received, &[], request, turn, now_ns())
    }

    fn keep_unsolicited(&mut self, bytes: &[u8], turn: &mut Turn<'_, P>) -> Fate {
        if bytes.len() > UNSOLICITED_BYTES {
            return self.lost(Failure::Malformed, turn);
        }
        self.connection.inbox.extend_from_slice(bytes);
        Fate::Runs
    }
}
