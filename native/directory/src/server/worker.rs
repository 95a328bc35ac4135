//! A thread that serves clients: its own poll, its own listener, its own connections.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};

use super::connection::Connection;
use super::floor::{Floor, GROUP, GROUP_BYTES, Job};
use super::shared::Shared;
use net::Slab;

use super::timer::Timer;
use crate::stats::Counters;
use crate::turn::{Access, FLUSH_BYTES, Scratch, Slice, Turn};

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);

/// Events of one poll. More than this many connections that are ready at once take another poll.
const EVENTS: usize = 1024;

/// How long to wait before accepting again when there are no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

pub(super) struct Worker {
    poll: Poll,
    events: Events,
    shared: Arc<Shared>,
    door: Door,
    connections: Slab<Connection>,
    /// Connections that have more to do without the kernel saying so.
    queue: VecDeque<usize>,
    /// Connections that the last poll reported.
    ready: Vec<usize>,
    jobs: Vec<Job>,
    desk: Desk,
    timer: Timer,
    index: usize,
}

/// The listener, and what it owes.
pub(super) struct Door {
    pub(super) listener: TcpListener,
    /// Connections may be waiting (the edge has been reported and not used up).
    pub(super) waiting: bool,
    /// The last accept failed for want of file descriptors.
    pub(super) exhausted: bool,
}

/// Buffers of the thread, used again for every message.
struct Desk {
    input: Box<[u8]>,
    out: Vec<u8>,
    counters: Counters,
    scratch: Scratch,
}

impl Worker {
    pub(super) fn new(
        mut listener: TcpListener,
        shared: Arc<Shared>,
        index: usize,
    ) -> io::Result<(Self, Waker)> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let worker = Self {
            poll,
            events: Events::with_capacity(EVENTS),
            timer: Timer::new(index == 0),
            shared,
            door: Door { listener, waiting: false, exhausted: false },
            connections: Slab::default(),
            queue: VecDeque::new(),
            ready: Vec::with_capacity(EVENTS),
            jobs: Vec::with_capacity(GROUP),
            desk: Desk {
                input: vec![0; GROUP_BYTES].into_boxed_slice(),
                out: Vec::with_capacity(2 * FLUSH_BYTES),
                counters: Counters::default(),
                scratch: Scratch::default(),
            },
            index,
        };
        Ok((worker, waker))
    }

    /// Serves until told to stop.
    pub(super) fn run(mut self) -> io::Result<()> {
        while !self.shared.stopping.load(Relaxed) {
            let patience = self.patience();
            match self.poll.poll(&mut self.events, Some(patience)) {
                Ok(()) => self.turn(),
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
            self.timer.interval()
        }
    }

    fn turn(&mut self) {
        let Self { poll, events, shared, door, connections, queue, ready, jobs, desk, timer, index } = self;
        let mut turn = Turn {
            settings: &shared.settings,
            access: Access::new(&shared.store),
            out: &mut desk.out,
            counters: &mut desk.counters,
            scratch: &mut desk.scratch,
            now: shared.clock.now(),
            slice: Slice::default(),
        };
        let mut floor = Floor { poll, connections, queue, ready, jobs, input: &mut desk.input };
        for event in events.iter() {
            match event.token() {
                LISTENER => door.waiting = true,
                WAKER => {}
                Token(slot) => floor.report(slot, event),
            }
        }
        floor.serve_ready(&mut turn);
        floor.go_on(&mut turn);
        if door.waiting {
            floor.accept(door, shared, &mut turn);
        }
        if timer.is_due(turn.now) {
            floor.close_overdue(&mut turn);
            timer.expire(&mut turn);
        }
        timer.maintain(&mut turn);
        turn.access.release();
        if let Some(published) = shared.published.get(*index) {
            published.take(turn.counters);
        }
    }
}
