//! What a turn of a thread's loop does with its connections.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::IpAddr;

use mio::event::Event;
use mio::net::TcpStream;
use mio::{Interest, Poll, Token};

use super::connection::{Connection, Next, READ_BYTES};
use super::shared::Shared;
use super::worker::Door;
use crate::answer;
use crate::session::Session;
use crate::turn::{Slice, Turn};
use net::Slab;

/// Clients that are read, answered and written to together. Reading several, then answering
/// several, then writing to several keeps each of the three paths in the instruction cache, takes the
/// store's lock once, and lets their lookups wait for memory together. CPU of a lookup among 10,000
/// entries with 64 connections, by the size of the group: 7.3 us alone, 6.6 with 4, 6.4 with 8,
/// 6.3 with 16, 6.2 with 32 and with 64 (the kernel's part alone: 5.3). Half of 64 leaves the other
/// half to be under way meanwhile.
pub(super) const GROUP: usize = 32;

/// Bytes for the reads of a group: the last one still gets [`READ_BYTES`] if the others are short.
pub(super) const GROUP_BYTES: usize = 4 * READ_BYTES;

/// Connections accepted in one turn, so that a storm of connects does not starve those served.
const ACCEPTS: usize = 256;

/// A client of a group: what it has sent, and what it will get.
#[derive(Debug)]
pub(super) struct Job {
    slot: usize,
    /// Where its bytes end in the group's input; they begin where those before it end.
    input_end: usize,
    /// The same in the group's answers.
    answers_end: usize,
    failed: bool,
}

/// What a turn works on.
pub(super) struct Floor<'w> {
    pub(super) poll: &'w mut Poll,
    pub(super) connections: &'w mut Slab<Connection>,
    /// Those that have more to do without the kernel saying so.
    pub(super) queue: &'w mut VecDeque<usize>,
    /// Those that the poll has reported.
    pub(super) ready: &'w mut Vec<usize>,
    pub(super) jobs: &'w mut Vec<Job>,
    pub(super) input: &'w mut [u8],
}

impl Floor<'_> {
    /// Notes what the poll says of a connection.
    #[inline]
    pub(super) fn report(&mut self, slot: usize, event: &Event) {
        let ending = event.is_read_closed() || event.is_error();
        let readable = event.is_readable() || ending;
        if let Some(connection) = self.connections.get_mut(slot) {
            connection.reported(readable, ending);
            self.ready.push(slot);
        }
    }

    /// Serves those that the poll has reported.
    pub(super) fn serve_ready(&mut self, turn: &mut Turn<'_>) {
        let ready = std::mem::take(self.ready);
        for group in ready.chunks(GROUP) {
            self.serve(group, turn);
        }
        *self.ready = ready;
        self.ready.clear();
    }

    /// Has everything that a group looks up fetched at the same time.
    fn look_ahead(&self, turn: &mut Turn<'_>) {
        if self.jobs.len() < 2 {
            return;
        }
        let store = turn.access.read();
        let prefetch = &mut turn.scratch.prefetch;
        let mut start = 0;
        for job in self.jobs.iter() {
            prefetch.note(store, self.input.get(start..job.input_end).unwrap_or_default());
            start = job.input_end;
        }
        prefetch.fetch(store);
    }

    /// Reads from all of a group, answers all of them, writes to all of them.
    fn serve(&mut self, group: &[usize], turn: &mut Turn<'_>) {
        self.receive(group, turn);
        self.look_ahead(turn);
        let mut jobs = std::mem::take(self.jobs);
        let mut start = 0;
        for job in &mut jobs {
            let received = self.input.get(start..job.input_end).unwrap_or_default();
            start = job.input_end;
            if let Some(connection) = self.connections.get_mut(job.slot) {
                job.failed |= connection.answer(received, turn).is_err();
            }
            job.answers_end = turn.out.len();
        }
        turn.access.release();
        start = 0;
        for job in &jobs {
            let answers = turn.out.get(start..job.answers_end).unwrap_or_default();
            start = job.answers_end;
            let Some(connection) = self.connections.get_mut(job.slot) else { continue };
            let failed = job.failed || connection.deliver(answers, turn.now, turn.counters).is_err();
            self.arrange(job.slot, failed, turn);
        }
        turn.out.clear();
        jobs.clear();
        *self.jobs = jobs;
    }

    /// Reads once from each of a group that has nothing else under way; the others are served by
    /// themselves.
    fn receive(&mut self, group: &[usize], turn: &mut Turn<'_>) {
        let mut start = 0;
        for &slot in group {
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            let room = self.input.get_mut(start..).unwrap_or_default();
            if connection.is_calm() && room.len() >= READ_BYTES {
                let room = room.get_mut(..READ_BYTES).unwrap_or_default();
                let received = connection.receive(room, turn);
                start += *received.as_ref().unwrap_or(&0);
                self.jobs.push(Job { slot, input_end: start, answers_end: 0, failed: received.is_err() });
            } else {
                self.queue_up(slot);
            }
        }
    }

    fn queue_up(&mut self, slot: usize) {
        if let Some(connection) = self.connections.get_mut(slot)
            && !connection.queued
        {
            connection.queued = true;
            self.queue.push_back(slot);
        }
    }

    /// Goes on with those that had more to do when the turn began, as far as the turn's time
    /// reaches; who is left comes first in the next.
    pub(super) fn go_on(&mut self, turn: &mut Turn<'_>) {
        // However long it took to answer those that the poll reported.
        turn.slice = Slice::default();
        for _ in 0..self.queue.len() {
            if turn.is_over() {
                break;
            }
            let Some(slot) = self.queue.pop_front() else { break };
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            connection.queued = false;
            // A connection that fails is reset or its pipe broken: nobody is left to hear anything.
            let failed = connection.drive(self.input, turn).is_err();
            turn.out.clear();
            self.arrange(slot, failed, turn);
        }
    }

    /// Sees to what a connection needs next.
    #[inline]
    fn arrange(&mut self, slot: usize, failed: bool, turn: &mut Turn<'_>) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        match connection.next() {
            _ if failed => self.close(slot, turn),
            Next::Wait => {}
            Next::Again => self.queue_up(slot),
            Next::Blocked => self.watch(slot, turn),
            Next::Close => self.close(slot, turn),
        }
    }

    /// Asks the poll, once, to report when the socket takes bytes again. The edge that tells is
    /// armed by the write that failed, so the interest stays.
    fn watch(&mut self, slot: usize, turn: &mut Turn<'_>) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        if !connection.watched {
            connection.watched = true;
            let interest = Interest::READABLE | Interest::WRITABLE;
            if self.poll.registry().reregister(connection.stream(), Token(slot), interest).is_err() {
                self.close(slot, turn);
            }
        }
    }

    /// Closing the descriptor takes it out of the poll, which saves the call that would.
    fn close(&mut self, slot: usize, turn: &mut Turn<'_>) {
        if let Some(mut connection) = self.connections.remove(slot) {
            connection.leave();
            turn.counters.disconnections += 1;
        }
    }

    /// Lets in those that wait at the door.
    pub(super) fn accept(&mut self, door: &mut Door, shared: &Shared, turn: &mut Turn<'_>) {
        door.exhausted = false;
        for _ in 0..ACCEPTS {
            match door.listener.accept() {
                Ok((stream, from)) => self.admit(stream, from.ip(), shared, turn),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    door.waiting = false;
                    return;
                }
                Err(error) if is_transient(&error) => {}
                // No file descriptors, or no memory for one: those connected go on, the others
                // wait in the backlog.
                Err(_) => {
                    door.exhausted = true;
                    return;
                }
            }
        }
    }

    fn admit(&mut self, mut stream: TcpStream, from: IpAddr, shared: &Shared, turn: &mut Turn<'_>) {
        let pass = match shared.gate.enter(from) {
            Ok(pass) => pass,
            Err(full) => {
                turn.counters.refused += 1;
                turn.out.clear();
                match turn.settings.greeter() {
                    Some(_) => turn.out.extend_from_slice(&tls::TURNED_AWAY),
                    None => answer::notice_of_unavailability(turn.out, &full.to_string()),
                }
                // Best effort: the client that does not get it sees the connection close.
                let _ = io::Write::write(&mut stream, turn.out);
                turn.out.clear();
                return;
            }
        };
        turn.counters.connections += 1;
        let connection = Connection::new(stream, pass, Session::default(), turn.now.ms);
        let slot = self.connections.insert(connection);
        let Some(connection) = self.connections.get_mut(slot) else { return };
        if turn.settings.greeter().is_some_and(|acceptor| connection.secure(acceptor).is_err()) {
            return self.close(slot, turn);
        }
        if self.poll.registry().register(connection.stream(), Token(slot), Interest::READABLE).is_err() {
            self.close(slot, turn);
        }
    }

    /// Closes those that keep the server waiting.
    pub(super) fn close_overdue(&mut self, turn: &mut Turn<'_>) {
        for slot in 0..self.connections.slots() {
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            // Whoever is looked at may have got room to go on.
            let overdue = connection.is_overdue(turn);
            self.arrange(slot, overdue, turn);
        }
    }
}

/// The client has gone between knocking and being let in (accept(2)).
fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted)
}
