//! A thread that serves clients: its own poll, its own listener, its own connections, its own
//! reader.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};
use net::Slab;

use super::connection::{Connection, Next, READ_BYTES};
use super::shared::Shared;
use super::turn::{Clock, Ticket, Turn};
use crate::people_at_hand::PeopleAtHand;
use crate::stats::Counters;
use crate::upd::{Done, Job};

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);

/// Events of one poll. More than this many connections that are ready at once take another poll.
const EVENTS: usize = 1024;

/// Connections accepted in one turn, so that a storm of connects does not starve those served.
const ACCEPTS: usize = 256;

/// How long to wait before accepting again when there are no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// How often connections are looked through for those that have stalled.
const CHECK_MS: u64 = 250;

/// Too many connections already, in all or of this address.
const UNAVAILABLE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\
    Connection: close\r\n\r\n";

pub(super) struct Worker {
    poll: Poll,
    events: Events,
    shared: Arc<Shared>,
    door: Door,
    connections: Slab<Connection>,
    /// Connections that have more to do without the kernel saying so.
    queue: VecDeque<usize>,
    /// Outcomes from the writer, those of one transaction at a time.
    done: Receiver<Vec<Done<Ticket>>>,
    jobs: Sender<Job<Ticket>>,
    input: Box<[u8]>,
    out: Vec<u8>,
    counters: Counters,
    clock: Clock,
    check_due_ms: u64,
    /// The number of this thread.
    index: usize,
    /// Connections so far.
    serial: u64,
}

/// The listener, and what it owes.
struct Door {
    listener: TcpListener,
    /// Connections may be waiting (the edge has been reported and not used up).
    waiting: bool,
    /// The last accept failed for want of file descriptors.
    exhausted: bool,
}

impl Worker {
    pub(super) fn new(
        mut listener: TcpListener,
        poll: Poll,
        shared: Arc<Shared>,
        index: usize,
        jobs: Sender<Job<Ticket>>,
        done: Receiver<Vec<Done<Ticket>>>,
    ) -> io::Result<Self> {
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            poll,
            events: Events::with_capacity(EVENTS),
            shared,
            door: Door { listener, waiting: false, exhausted: false },
            connections: Slab::default(),
            queue: VecDeque::new(),
            done,
            jobs,
            input: vec![0; READ_BYTES].into_boxed_slice(),
            out: Vec::with_capacity(2 * READ_BYTES),
            counters: Counters::default(),
            clock: Clock::new(),
            check_due_ms: 0,
            index,
            serial: 0,
        })
    }

    /// What wakes the thread's poll, for the writer and for stopping.
    pub(super) fn waker(poll: &Poll) -> io::Result<Waker> {
        Waker::new(poll.registry(), WAKER)
    }

    /// Serves until told to stop.
    pub(super) fn run(mut self, mut people: PeopleAtHand<'_>) -> io::Result<()> {
        while !self.shared.stopping.load(Relaxed) {
            let patience = self.patience();
            match self.poll.poll(&mut self.events, Some(patience)) {
                Ok(()) => self.turn(&mut people),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// How long the poll may wait.
    fn patience(&self) -> Duration {
        if !self.queue.is_empty() || (self.door.waiting && !self.door.exhausted) {
            Duration::ZERO
        } else if self.door.exhausted {
            ACCEPT_PAUSE
        } else {
            Duration::from_millis(CHECK_MS)
        }
    }

    fn turn(&mut self, people: &mut PeopleAtHand<'_>) {
        let mut turn = Turn {
            shared: &self.shared,
            people,
            jobs: &self.jobs,
            counters: &mut self.counters,
            out: &mut self.out,
            now: self.clock.now(),
        };
        let mut floor = Floor {
            poll: &mut self.poll,
            connections: &mut self.connections,
            queue: &mut self.queue,
            input: &mut self.input,
        };
        let again = floor.queue.len();
        for event in self.events.iter() {
            match event.token() {
                LISTENER => self.door.waiting = true,
                WAKER => {}
                Token(slot) => floor.event(slot, event, &mut turn),
            }
        }
        for done in self.done.try_iter().flatten() {
            floor.written(&done, &mut turn);
        }
        floor.go_on(again, &mut turn);
        if self.door.waiting {
            let first = Ticket { worker: self.index, slot: 0, serial: self.serial };
            self.serial = floor.accept(&mut self.door, first, &mut turn);
        }
        if turn.now.ms >= self.check_due_ms {
            self.check_due_ms = turn.now.ms + CHECK_MS;
            floor.close_overdue(&mut turn);
        }
        turn.people.release();
        if let Some(published) = self.shared.published.get(self.index) {
            published.take(turn.counters);
        }
    }
}

/// What a turn works on.
struct Floor<'w> {
    poll: &'w mut Poll,
    connections: &'w mut Slab<Connection>,
    queue: &'w mut VecDeque<usize>,
    input: &'w mut [u8],
}

impl Floor<'_> {
    #[inline]
    fn event(&mut self, slot: usize, event: &Event, turn: &mut Turn<'_, '_>) {
        let ending = event.is_read_closed() || event.is_error();
        let readable = event.is_readable() || ending;
        if let Some(connection) = self.connections.get_mut(slot) {
            connection.reported(readable, ending);
            self.drive(slot, turn);
        }
    }

    /// Goes on with those that had more to do when the turn began.
    fn go_on(&mut self, count: usize, turn: &mut Turn<'_, '_>) {
        for _ in 0..count {
            let Some(slot) = self.queue.pop_front() else { break };
            if let Some(connection) = self.connections.get_mut(slot) {
                connection.queued = false;
                self.drive(slot, turn);
            }
        }
    }

    #[inline]
    fn drive(&mut self, slot: usize, turn: &mut Turn<'_, '_>) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let next = connection.drive(self.input, turn);
        self.arrange(slot, next, turn);
    }

    /// Answers a client whose write has ended, if it is still there.
    fn written(&mut self, done: &Done<Ticket>, turn: &mut Turn<'_, '_>) {
        let Some(connection) = self.connections.get_mut(done.ticket.slot) else { return };
        if connection.ticket == done.ticket {
            let next = connection.written(done.outcome, turn);
            self.arrange(done.ticket.slot, next, turn);
        }
    }

    #[inline]
    fn arrange(&mut self, slot: usize, next: Next, turn: &mut Turn<'_, '_>) {
        match next {
            Next::Wait => {}
            Next::Again => {
                if let Some(connection) = self.connections.get_mut(slot).filter(|c| !c.queued) {
                    connection.queued = true;
                    self.queue.push_back(slot);
                }
            }
            Next::Blocked => self.watch(slot, turn),
            Next::Close => self.close(slot, turn),
        }
    }

    /// Asks the poll, once, to report when the socket takes bytes again. The edge that tells is
    /// armed by the write that failed, so the interest stays.
    fn watch(&mut self, slot: usize, turn: &mut Turn<'_, '_>) {
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
    fn close(&mut self, slot: usize, turn: &mut Turn<'_, '_>) {
        if let Some(mut connection) = self.connections.remove(slot) {
            connection.leave();
            turn.counters.disconnections += 1;
        }
    }

    /// Lets in who is waiting, and returns the next connection's serial.
    fn accept(&mut self, door: &mut Door, first: Ticket, turn: &mut Turn<'_, '_>) -> u64 {
        door.exhausted = false;
        let mut ticket = first;
        for _ in 0..ACCEPTS {
            match door.listener.accept() {
                Ok((stream, from)) => {
                    self.admit(stream, from.ip(), ticket, turn);
                    ticket.serial += 1;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    door.waiting = false;
                    break;
                }
                Err(error) if is_transient(&error) => {}
                // No file descriptors, or no memory for one: those connected go on, the others
                // wait in the backlog.
                Err(_) => {
                    door.exhausted = true;
                    break;
                }
            }
        }
        ticket.serial
    }

    fn admit(&mut self, mut stream: TcpStream, from: IpAddr, ticket: Ticket, turn: &mut Turn<'_, '_>) {
        let Ok(pass) = turn.shared.gate.enter(from) else {
            turn.counters.refused += 1;
            let refusal = if turn.shared.tls.is_some() { &tls::TURNED_AWAY } else { UNAVAILABLE };
            // Best effort: the client that does not get it sees the connection close.
            let _ = io::Write::write(&mut stream, refusal);
            return;
        };
        turn.counters.connections += 1;
        let slot = self.connections.insert(Connection::new(stream, pass, ticket, turn.now.ms));
        let Some(connection) = self.connections.get_mut(slot) else { return };
        connection.ticket.slot = slot;
        if turn.shared.tls.as_ref().is_some_and(|acceptor| connection.secure(acceptor).is_err()) {
            return self.close(slot, turn);
        }
        if self.poll.registry().register(connection.stream(), Token(slot), Interest::READABLE).is_err() {
            self.close(slot, turn);
        }
    }

    fn close_overdue(&mut self, turn: &mut Turn<'_, '_>) {
        for slot in 0..self.connections.slots() {
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            // Whoever is looked at may have got room to go on.
            let next = if connection.is_overdue(turn) { Next::Close } else { connection.next() };
            self.arrange(slot, next, turn);
        }
    }
}

/// The client has gone between knocking and being let in (accept(2)).
fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted)
}
