//! A thread that serves clients, with its own poll, listener and connections.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};

use crate::connection::{Connection, FLUSH_BYTES, Next, READ_BYTES, TurnContext};
use crate::service::{ConnectionId, Outcomes, Rejection, Service};
use crate::shared::Shared;
use crate::slab::Slab;
use crate::slice::TimeSlice;
use crate::stats::Traffic;

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);

/// Events per poll. If more connections are ready at once, the next poll reports them.
const EVENTS: usize = 1024;

/// Connections accepted in one turn. The limit keeps a storm of connects from starving open connections.
const ACCEPTS: usize = 256;

/// The pause before accepting again when all file descriptors are in use.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// How often all connections are checked for stalled and idle clients. The cost of these wake-ups in an idle
/// server, four times a second, is too small to measure.
const CHECK_MS: u64 = 250;

/// The sockets of one thread, before the thread has a service.
#[derive(Debug)]
pub struct Reactor {
    poll: Poll,
    waker: Arc<Waker>,
    listener: TcpListener,
    shared: Arc<Shared>,
    thread: usize,
}

impl Reactor {
    pub(crate) fn new(mut listener: TcpListener, shared: Arc<Shared>, thread: usize) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        Ok(Self { poll, waker, listener, shared, thread })
    }

    /// The handle that wakes the thread from its poll, for an outcome of another thread or for stopping.
    pub(crate) fn waker(&self) -> Arc<Waker> {
        Arc::clone(&self.waker)
    }

    /// Serves until the server is stopped.
    pub fn run<S: Service>(self, service: S, outcomes: Outcomes<S::Outcome>) -> io::Result<()> {
        let group_bytes = if S::GROUP > 1 { GROUP_BYTES } else { READ_BYTES };
        Worker {
            turn: TurnContext { service, traffic: Traffic::default(), shared: self.shared, now_ms: 0 },
            outcomes,
            poll: self.poll,
            acceptor: Acceptor { listener: self.listener, waiting: false, exhausted: false },
            connections: Slab::default(),
            queue: VecDeque::new(),
            long: VecDeque::new(),
            rest: Duration::ZERO,
            ready: Vec::with_capacity(EVENTS),
            received: Vec::with_capacity(S::GROUP),
            input: vec![0; group_bytes].into_boxed_slice(),
            check_due_ms: 0,
            busy: false,
            accepted: 0,
            thread: self.thread,
        }
        .run()
    }
}

/// Bytes for the reads of a group. The last connection gets [`READ_BYTES`] if the reads of the other
/// connections are short.
const GROUP_BYTES: usize = 4 * READ_BYTES;

/// The initial capacity of a service's output buffer. The buffer is flushed once it holds more than
/// [`FLUSH_BYTES`], so it holds at most one further answer.
pub const OUT_BYTES: usize = 2 * FLUSH_BYTES;

struct Worker<S: Service> {
    turn: TurnContext<S>,
    /// The outcomes of other threads' work for connections of this thread.
    outcomes: Outcomes<S::Outcome>,
    poll: Poll,
    acceptor: Acceptor,
    connections: Slab<Connection<S>>,
    /// Connections with remaining work that no report of the poll will announce.
    queue: VecDeque<usize>,
    /// Connections whose next piece of an answer takes long.
    long: VecDeque<usize>,
    /// The wait before serving `long` again.
    rest: Duration,
    /// Connections that the last poll reported.
    ready: Vec<usize>,
    /// The bytes received from the group that is being served.
    received: Vec<Received>,
    input: Box<[u8]>,
    check_due_ms: u64,
    /// Whether the service had more periodic work at the end of the last turn.
    busy: bool,
    /// The number of connections so far, which is the next serial number.
    accepted: u64,
    thread: usize,
}

/// The listener, and reasons to accept connections without a new report of the poll.
struct Acceptor {
    listener: TcpListener,
    /// Connections may be waiting: the poll has reported connections, and the listener has not been empty
    /// since.
    waiting: bool,
    /// The last accept failed for lack of file descriptors.
    exhausted: bool,
}

/// The bytes received from one client of a group, and the answers to them.
struct Received {
    slot: usize,
    /// The end of the client's bytes in the group's input; they begin at the previous client's end.
    input_end: usize,
    /// The end of the client's answers in the group's output.
    answers_end: usize,
    failed: bool,
}

impl<S: Service> Worker<S> {
    fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        // Relaxed: a thread that reads the old value stops one turn later.
        while !self.turn.shared.stopping.load(Relaxed) {
            match self.poll.poll(&mut events, Some(self.timeout())) {
                Ok(()) => self.take_turn(&events),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn timeout(&self) -> Duration {
        let rest = if self.long.is_empty() { Duration::from_millis(CHECK_MS) } else { self.rest };
        if !self.queue.is_empty() || self.busy || (self.acceptor.waiting && !self.acceptor.exhausted) {
            Duration::ZERO
        } else if self.acceptor.exhausted {
            rest.min(ACCEPT_PAUSE)
        } else {
            rest
        }
    }

    fn take_turn(&mut self, events: &Events) {
        self.turn.now_ms = self.turn.service.begin_turn();
        *self.turn.service.slice() = TimeSlice::default();
        for event in events.iter() {
            match event.token() {
                LISTENER => self.acceptor.waiting = true,
                WAKER => {}
                Token(slot) => self.report(slot, event),
            }
        }
        self.serve_ready();
        self.deliver_outcomes();
        // The queue gets its own time slice, so that `serve_ready` cannot starve it.
        self.serve_queue(|worker| &mut worker.queue, TimeSlice::default());
        self.serve_long();
        if self.acceptor.waiting {
            self.accept();
        }
        if self.turn.now_ms >= self.check_due_ms {
            self.check_due_ms = self.turn.now_ms + CHECK_MS;
            self.close_overdue();
        }
        self.busy = self.turn.service.end_turn();
        let TurnContext { traffic, shared, .. } = &mut self.turn;
        if let Some(published) = shared.traffic.get(self.thread) {
            published.take(traffic);
        }
    }

    /// Records a report of the poll for a connection.
    #[inline]
    fn report(&mut self, slot: usize, event: &Event) {
        let ending = event.is_read_closed() || event.is_error();
        let readable = event.is_readable() || ending;
        if let Some(connection) = self.connections.get_mut(slot) {
            connection.reported(readable, ending);
            self.ready.push(slot);
        }
    }

    /// Serves the connections that the poll has reported.
    fn serve_ready(&mut self) {
        let ready = std::mem::take(&mut self.ready);
        let mut rest = ready.as_slice();
        while !rest.is_empty() {
            let taken = self.serve(rest);
            rest = rest.get(taken..).unwrap_or_default();
        }
        self.ready = ready;
        self.ready.clear();
    }

    /// Reads from all connections of a group, then answers all, then writes to all. The group is the longest
    /// prefix of `ready` for which the input has room. Returns the size of the group.
    fn serve(&mut self, ready: &[usize]) -> usize {
        let taken = self.receive(ready);
        let mut received = std::mem::take(&mut self.received);
        let mut start = 0;
        if received.len() > 1 {
            let input = &self.input;
            self.turn.service.prefetch(received.iter().map(|one| {
                let bytes = input.get(start..one.input_end).unwrap_or_default();
                start = one.input_end;
                bytes
            }));
        }
        start = 0;
        let mut answered = false;
        for one in &mut received {
            let bytes = self.input.get(start..one.input_end).unwrap_or_default();
            start = one.input_end;
            if let Some(connection) = self.connections.get_mut(one.slot) {
                one.failed |= connection.answer(bytes, &mut self.turn).is_err();
                answered |= !connection.long;
            }
            one.answers_end = self.turn.service.out().len();
        }
        self.turn.service.release_locks();
        if answered {
            self.turn.shared.long.answered_other(self.turn.now_ms);
        }
        start = 0;
        for one in &received {
            let TurnContext { service, traffic, now_ms, .. } = &mut self.turn;
            let answers = service.out().get(start..one.answers_end).unwrap_or_default();
            start = one.answers_end;
            let Some(connection) = self.connections.get_mut(one.slot) else { continue };
            let failed = one.failed || connection.deliver(answers, *now_ms, traffic).is_err();
            self.arrange(one.slot, failed);
        }
        self.turn.service.out().clear();
        received.clear();
        self.received = received;
        taken
    }

    /// Reads once from each connection of a group whose next bytes can be answered at once, and queues the
    /// other connections.
    fn receive(&mut self, ready: &[usize]) -> usize {
        let (mut start, mut taken) = (0, 0);
        for &slot in ready.iter().take(S::GROUP) {
            let room = self.input.get_mut(start..).unwrap_or_default();
            let Some(room) = room.get_mut(..READ_BYTES) else { break };
            taken += 1;
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            if connection.is_calm() {
                let received = connection.receive(room, &mut self.turn);
                start += *received.as_ref().unwrap_or(&0);
                let failed = received.is_err();
                self.received.push(Received { slot, input_end: start, answers_end: 0, failed });
            } else {
                self.queue_up(slot);
            }
        }
        taken
    }

    fn queue_up(&mut self, slot: usize) {
        if let Some(connection) = self.connections.get_mut(slot)
            && !connection.queued
        {
            connection.queued = true;
            let queue = if connection.long { &mut self.long } else { &mut self.queue };
            queue.push_back(slot);
        }
    }

    /// Answers the requests that other threads have completed, if the client is still connected.
    fn deliver_outcomes(&mut self) {
        while let Ok((id, outcome)) = self.outcomes.try_recv() {
            let Some(connection) = self.connections.get_mut(id.slot) else { continue };
            if connection.serial == id.serial {
                let failed = connection.resume(outcome, &mut self.turn).is_err();
                self.arrange(id.slot, failed);
            }
        }
    }

    /// Serves the connections of `long`, unless the limit on long work makes them wait.
    fn serve_long(&mut self) {
        if self.long.is_empty() {
            return;
        }
        let begun = Instant::now();
        match self.turn.shared.long.begin(self.thread, begun, self.turn.now_ms) {
            Ok(()) => {
                self.rest = Duration::ZERO;
                self.serve_queue(|worker| &mut worker.long, TimeSlice::for_long());
                self.turn.shared.long.end(begun, Instant::now());
            }
            Err(rest) => self.rest = rest,
        }
    }

    /// Serves the connections that are in the queue at the time of the call, until the time slice is used up.
    /// The remaining connections come first in the next turn.
    fn serve_queue(&mut self, queue: fn(&mut Self) -> &mut VecDeque<usize>, slice: TimeSlice) {
        *self.turn.service.slice() = slice;
        for _ in 0..queue(self).len() {
            let slice = self.turn.service.slice();
            slice.begin();
            if slice.is_over() {
                break;
            }
            let Some(slot) = queue(self).pop_front() else { break };
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            connection.queued = false;
            let failed = connection.drive(&mut self.input, &mut self.turn).is_err();
            self.turn.service.out().clear();
            self.arrange(slot, failed);
        }
    }

    /// Carries out the next step of a connection. A failed connection (ECONNRESET, EPIPE) is closed, as
    /// nothing can be sent to its client.
    #[inline]
    fn arrange(&mut self, slot: usize, failed: bool) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        match connection.next() {
            _ if failed => self.close(slot),
            Next::Wait => {}
            Next::Again => self.queue_up(slot),
            Next::Blocked => self.watch(slot),
            Next::Close => self.close(slot),
        }
    }

    /// Registers the socket once for reports that it is writable. The registration stays: the poll sends one
    /// report after each write that would have blocked.
    fn watch(&mut self, slot: usize) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        if !connection.watched {
            connection.watched = true;
            let interest = Interest::READABLE | Interest::WRITABLE;
            if self.poll.registry().reregister(connection.stream(), Token(slot), interest).is_err() {
                self.close(slot);
            }
        }
    }

    /// Closes a connection. Closing the descriptor also removes it from the poll (epoll(7)), which saves a
    /// system call.
    fn close(&mut self, slot: usize) {
        if let Some(mut connection) = self.connections.remove(slot) {
            connection.leave();
            self.turn.traffic.disconnections += 1;
        }
    }

    fn accept(&mut self) {
        self.acceptor.exhausted = false;
        for _ in 0..ACCEPTS {
            match self.acceptor.listener.accept() {
                Ok((stream, from)) => self.admit(stream, from.ip()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.acceptor.waiting = false;
                    return;
                }
                Err(error) if is_transient(&error) => {}
                // There is no file descriptor, or no memory for a descriptor: open connections are served,
                // new connections wait in the backlog.
                Err(_) => {
                    self.acceptor.exhausted = true;
                    return;
                }
            }
        }
    }

    fn admit(&mut self, mut stream: TcpStream, from: IpAddr) {
        let TurnContext { service, traffic, now_ms, shared } = &mut self.turn;
        let pass = match shared.gate.enter(from) {
            Ok(pass) => pass,
            Err(full) => {
                traffic.refused += 1;
                let mut notice = Vec::new();
                match shared.greeter() {
                    Some(_) => notice.extend_from_slice(&tls::TURNED_AWAY),
                    None => service.reject(Rejection::Full(full), &mut notice),
                }
                // Best effort: a client that does not get the message sees the connection close.
                let _ = stream.write(&notice);
                return;
            }
        };
        traffic.connections += 1;
        let id =
            ConnectionId { thread: self.thread, slot: self.connections.next_slot(), serial: self.accepted };
        self.accepted += 1;
        let session = service.connect(id, from);
        let slot = self.connections.insert(Connection::new(stream, pass, session, id.serial, *now_ms));
        let Some(connection) = self.connections.get_mut(slot) else { return };
        if shared.greeter().is_some_and(|acceptor| connection.secure(acceptor).is_err()) {
            return self.close(slot);
        }
        if self.poll.registry().register(connection.stream(), Token(slot), Interest::READABLE).is_err() {
            self.close(slot);
        }
    }

    fn close_overdue(&mut self) {
        for slot in 0..self.connections.slots() {
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            // The check may have written pending bytes, so the connection may continue.
            let overdue = connection.is_overdue(&mut self.turn);
            self.arrange(slot, overdue);
        }
    }
}

/// The client has disconnected before its connection was accepted (accept(2)).
fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted)
}
