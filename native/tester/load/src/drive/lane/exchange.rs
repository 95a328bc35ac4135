//! Requests out, answers in.

use std::ops::Range;

use mio::Interest;
use mio::event::Event;

use super::phases::PhaseTimes;
use super::several::UNASKED_BYTES;
use super::{Fate, Lane, Operation, Phase};
use crate::connection::link::{Link, ReadOutcome, WriteOutcome};
use crate::drive::batch::Staged;
use crate::drive::context::{BUFFER_BYTES, Context};
use crate::program::{Op, Program};
use crate::protocol::{Encoded, Protocol, Received};
use crate::record::clock::now_ns;
use crate::record::failure::Failure;
use crate::record::recorder::Slot;

/// Full reads of one lane before the others and the timeouts have their turn: a server may send faster than
/// what it sends is looked at.
pub(crate) const FULL_READS: usize = 16;

impl<S: Default + Send> Lane<S> {
    /// Encodes a request, and sends it unless its batch is being staged. `None` if there was nothing to ask:
    /// the program goes on.
    #[inline]
    pub(super) fn ask<P: Protocol<Lane = S>>(
        &mut self,
        slot: Slot,
        request: &P::Request,
        program: &Program<P::Request>,
        context: &mut Context<P>,
    ) -> Option<Fate> {
        if !context.staging {
            context.out.clear();
        }
        let start = context.out.len();
        match context.protocol.encode(request, &mut self.state, &mut context.out) {
            Encoded::Send => {}
            Encoded::Skip => {
                self.pc += 1;
                return None;
            }
            Encoded::Missing => {
                self.leave_out(slot, request, context);
                return None;
            }
            Encoded::UsedUp => return self.go_without(program, context),
            Encoded::Held => return self.wait_for_row(program, context),
        }
        let end = context.out.len();
        self.phase = Phase::Asking;
        self.current = Operation { bytes_out: (end - start) as u64, ..Operation::started(slot, 0) };
        if context.staging {
            context.staged.push(Staged { lane: self.id, start, end });
            return Some(Fate::Runs);
        }
        Some(self.launch(start..end, program, context))
    }

    /// Sends the request that lies at this place of the buffer.
    #[inline]
    pub(crate) fn launch<P: Protocol<Lane = S>>(
        &mut self,
        place: Range<usize>,
        program: &Program<P::Request>,
        context: &mut Context<P>,
    ) -> Fate {
        let started_ns = now_ns();
        self.current.started_ns = started_ns;
        if let Link::Down(reason) = self.link {
            let failure = reason.unwrap_or(Failure::Closed);
            context.protocol.unsent(&mut self.state);
            return self.unanswered(failure, program, context, started_ns);
        }
        match self.send_request(place, context) {
            Ok(()) => Fate::Runs,
            Err(failure) if self.link.is_opening() => {
                self.connect_failed(failure, program, context, started_ns)
            }
            Err(failure) => self.unanswered(failure, program, context, started_ns),
        }
    }

    /// Asks for the next part of an answer. It is the same request, but each part has its own time to come.
    #[cold]
    fn ask_on<P: Protocol<Lane = S>>(
        &mut self,
        request: &P::Request,
        program: &Program<P::Request>,
        context: &mut Context<P>,
    ) -> Fate {
        // The buffer may hold requests of a batch in front of it.
        let start = context.out.len();
        context.protocol.encode_more(request, &mut self.state, &mut context.out);
        let end = context.out.len();
        self.current.bytes_out += (end - start) as u64;
        let sent = if context.protocol.keeps_connection(&self.state) {
            self.send_request(start..end, context)
        } else {
            self.reconnect(start..end, context)
        };
        context.out.truncate(start);
        match sent {
            Ok(()) if self.phase == Phase::Opening => Fate::Runs,
            Ok(()) => {
                context.deadlines[self.id as usize] = now_ns() + context.timeout_ns;
                Fate::Runs
            }
            Err(failure) => self.unanswered(failure, program, context, now_ns()),
        }
    }

    /// Asks over a new connection, as the answer before was the last on its own. Opening it is a part of the request.
    #[cold]
    fn reconnect<P: Protocol<Lane = S>>(
        &mut self,
        place: Range<usize>,
        context: &mut Context<P>,
    ) -> Result<(), Failure> {
        let began = self.began;
        self.open(self.connect.slot, self.endpoint, context)?;
        // Its connecting began with the first connection; a handshake is that of the last.
        self.began = PhaseTimes { handshake_ns: 0, secure_ns: 0, ..began };
        self.outbox.extend_from_slice(&context.out[place]);
        self.phase = Phase::Opening;
        context.deadlines[self.id as usize] = self.connect.started_ns + context.connect_timeout_ns;
        self.watch(Interest::READABLE | Interest::WRITABLE, context)
    }

    #[inline]
    fn send_request<P: Protocol<Lane = S>>(
        &mut self,
        place: Range<usize>,
        context: &mut Context<P>,
    ) -> Result<(), Failure> {
        let opening = self.link.is_opening();
        let sent = self.link.send(&context.out[place.clone()])?;
        if opening && sent == WriteOutcome::WouldBlock {
            self.outbox.extend_from_slice(&context.out[place]);
            self.phase = Phase::Opening;
            context.deadlines[self.id as usize] = self.connect.started_ns + context.connect_timeout_ns;
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
        self.outbox.extend_from_slice(&context.out[place.start + n..place.end]);
        self.watch(Interest::READABLE | Interest::WRITABLE, context)
    }

    /// Writes what could not be written before.
    pub(super) fn flush<P: Protocol<Lane = S>>(&mut self, context: &mut Context<P>) -> Result<(), Failure> {
        while !self.outbox.is_empty() {
            match self.link.send(&self.outbox)? {
                WriteOutcome::Bytes(n) => drop(self.outbox.drain(..n)),
                WriteOutcome::WouldBlock => return Ok(()),
            }
        }
        self.watch(Interest::READABLE, context)
    }

    /// Reads until the socket is empty, or until the end if the poller has seen it; a part of what is there, if
    /// that is very much.
    pub(crate) fn read<P: Protocol<Lane = S>>(
        &mut self,
        to_the_end: bool,
        program: &Program<P::Request>,
        context: &mut Context<P>,
    ) -> Fate {
        for _ in 0..FULL_READS {
            let kept = self.inbox.len();
            context.load(&self.inbox);
            let n = match self.link.receive(&mut context.buffer[kept..]) {
                Ok(ReadOutcome::Bytes(0)) => return self.ended(program, context),
                Ok(ReadOutcome::Bytes(n)) => n,
                Ok(ReadOutcome::WouldBlock) => return Fate::Runs,
                Err(failure) => return self.lost(failure, program, context),
            };
            let emptied = kept + n < context.buffer.len() && !to_the_end;
            let (token, connection) = (self.token(), self.connect.started_ns);
            // Taken out of the context while the lane works on it.
            let buffer = std::mem::take(&mut context.buffer);
            let fate = self.take_in(&buffer[..kept + n], n, now_ns(), program, context);
            context.buffer = buffer;
            if self.inbox.is_empty() {
                self.give_room_back(context);
            }
            if emptied || fate == Fate::Ended {
                return fate;
            }
            if self.token() != token {
                // It went on with another: no event will say that this one has more.
                context.half_read.push((token, to_the_end));
                return fate;
            }
            if self.connect.started_ns != connection {
                return fate;
            }
        }
        context.half_read.push((self.token(), to_the_end));
        Fate::Runs
    }

    /// What a large answer needed is not kept for the small ones that follow.
    #[inline]
    pub(super) fn give_room_back<P: Protocol<Lane = S>>(&mut self, context: &mut Context<P>) {
        if self.inbox.capacity() > BUFFER_BYTES {
            self.inbox = Vec::new();
        }
        if context.buffer.len() > BUFFER_BYTES {
            context.shrink();
        }
    }

    /// Reads an answer into `space` for a batch. `None` if the lane is doing anything but waiting for an
    /// answer.
    #[inline]
    pub(crate) fn fetch(&mut self, event: &Event, space: &mut [u8]) -> Option<Result<ReadOutcome, Failure>> {
        let plain = self.phase == Phase::Asking
            && self.inbox.is_empty()
            && self.outbox.is_empty()
            && event.is_readable()
            && !event.is_read_closed()
            && !event.is_error();
        plain.then(|| match self.link.receive(space) {
            Ok(ReadOutcome::Bytes(0)) => Err(Failure::Closed),
            got => got,
        })
    }

    /// Looks at an answer of a batch.
    #[inline]
    pub(crate) fn digest<P: Protocol<Lane = S>>(
        &mut self,
        bytes: &[u8],
        read_ns: u64,
        program: &Program<P::Request>,
        context: &mut Context<P>,
    ) -> Fate {
        self.take_in(bytes, bytes.len(), read_ns, program, context)
    }

    /// Passes what was received to the protocol; the last `came` bytes of it are new.
    #[inline]
    fn take_in<P: Protocol<Lane = S>>(
        &mut self,
        bytes: &[u8],
        came: usize,
        read_ns: u64,
        program: &Program<P::Request>,
        context: &mut Context<P>,
    ) -> Fate {
        let is_first = self.current.bytes_in == 0;
        self.current.bytes_in += came as u64;
        self.inbox.clear();
        let (Phase::Asking, Some(Op::Exchange { request, .. })) = (self.phase, program.ops.get(self.pc))
        else {
            return self.keep_unasked(bytes, program, context);
        };
        if is_first {
            self.first_byte::<P>(read_ns);
        }
        match context.protocol.receive(request, &mut self.state, bytes) {
            Received::Partial { consumed } => {
                self.inbox.extend_from_slice(&bytes[consumed..]);
                Fate::Runs
            }
            Received::More { consumed } => {
                self.inbox.extend_from_slice(&bytes[consumed..]);
                self.ask_on(request, program, context)
            }
            Received::Done { consumed, failure, fatal } => {
                self.inbox.extend_from_slice(&bytes[consumed..]);
                if failure.is_some() || context.log.takes_all() {
                    self.look_into(failure, Some(bytes), program, context, read_ns);
                }
                if !context.protocol.keeps_connection(&self.state) {
                    self.hang_up(None);
                }
                self.answered(failure, fatal, program, context, read_ns)
            }
            Received::Broken(failure) => self.lost(failure, program, context),
        }
    }

    /// The target has closed the connection: the end of the answer in some protocols.
    fn ended<P: Protocol<Lane = S>>(
        &mut self,
        program: &Program<P::Request>,
        context: &mut Context<P>,
    ) -> Fate {
        let (Phase::Asking, Some(Op::Exchange { request, .. })) = (self.phase, program.ops.get(self.pc))
        else {
            return self.lost(Failure::Closed, program, context);
        };
        let now_ns = now_ns();
        match context.protocol.ended(request, &mut self.state) {
            Received::Done { failure, fatal, .. } => {
                if failure.is_some() || context.log.takes_all() {
                    self.look_into(failure, Some(&[]), program, context, now_ns);
                }
                self.hang_up(None);
                self.answered(failure, fatal, program, context, now_ns)
            }
            Received::More { .. } => self.ask_on(request, program, context),
            Received::Broken(failure) => self.lost(failure, program, context),
            Received::Partial { .. } => self.lost(Failure::Closed, program, context),
        }
    }

    fn keep_unasked<P: Protocol<Lane = S>>(
        &mut self,
        bytes: &[u8],
        program: &Program<P::Request>,
        context: &mut Context<P>,
    ) -> Fate {
        if bytes.len() > UNASKED_BYTES {
            return self.lost(Failure::Malformed, program, context);
        }
        self.inbox.extend_from_slice(bytes);
        Fate::Runs
    }
}
