//! Users whose requests another client sends: a scenario's steps are returned one by one.
//!
//! A portable client contributes nothing but its network stack. The protocol makes and checks the requests of
//! the same programs that lanes run. So a [`User`] is a lane without a connection and without a clock. It
//! returns its next action as [`Do`], and takes the answer.
//!
//! All users of a process belong to one thread ([`Users`]). They share its decks, its rows and its random
//! numbers.

mod ldap;
mod walk;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use self::ldap::{DirectoryUser, DirectoryUsers, LdapAnswer, Values};
use self::walk::Walk;

use crate::compile_error::CompileError;
use crate::engine::StartError;
use crate::program::{Backoff, Compiled, Cursor, Deck, MAIN, Op, Program, start_over, walk};
use crate::protocol::{Protocol, Received};
use crate::record::failure::Failure;
use crate::record::recorder::{Label, Slot};

/// The interval at which a user retries to draw a row. A lane, in contrast, is woken when a row is given back.
const ROW_WAIT: Duration = Duration::from_millis(10);

/// An operation and its step, under which a request is recorded.
pub type Row = (Arc<str>, Arc<str>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Do {
    /// An operation begins. It is recorded in this row; with `None`, only its steps are recorded.
    Begin(Option<Row>),
    /// A whole pass begins. Its time includes its think times.
    BeginPass(Option<Row>),
    /// A connection is opened; [`User::lost`] follows if opening fails.
    Open { row: Row, connection: usize },
    /// A request is sent; its answer or [`User::lost`] follows.
    Ask {
        row: Row,
        /// The index of the user's connection.
        connection: usize,
        /// The request's bytes on the wire.
        request: Vec<u8>,
    },
    /// A pause, which is excluded from all operations' times.
    Wait(Duration),
    /// A pause while other users hold all rows.
    AwaitRow(Duration),
    Close {
        /// The row in which the close is recorded; `None` if it is not recorded.
        row: Option<Row>,
        connection: usize,
    },
    End {
        /// The row in which the whole operation is recorded.
        row: Row,
        /// The operation's first failure.
        failure: Option<String>,
        /// Whether the operation was completed.
        answered: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub failure: Option<String>,
    /// Whether there was an answer. If there is neither an answer nor a failure, the next request is a part
    /// of the same step.
    pub answered: bool,
    /// For a failure: the request and the answer, without secrets.
    pub shown: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    #[error("the request before was not answered: say what was answered, or that it was lost")]
    Asking,
    #[error("nothing was asked: take the next step first")]
    Silent,
}

/// Programs, and the state that their users share.
pub struct Users<P: Protocol> {
    programs: Arc<[Program<P::Request>]>,
    names: Vec<String>,
    labels: Vec<Label>,
    protocol: P,
    decks: Vec<Deck>,
    rng: fastrand::Rng,
    dropped: DroppedStates<P>,
}

/// The states of dropped users.
type DroppedStates<P> = Arc<Mutex<Vec<<P as Protocol>::Lane>>>;

pub struct User<P: Protocol> {
    program: usize,
    cursor: Cursor,
    connections: Box<[Connection]>,
    active: usize,
    /// The first failure in the current operation.
    failure: Option<String>,
    /// Whether the current operation has sent a request.
    sent: bool,
    /// The bytes of the request in flight; empty if there is none.
    request_bytes: Vec<u8>,
    /// Whether a connection is still being opened.
    is_opening: bool,
    /// Whether its program has ended.
    is_over: bool,
    /// Actions to return before the program continues.
    due: VecDeque<Do>,
    state: P::Lane,
    dropped: DroppedStates<P>,
}

/// The state of a connection, which the portable client holds.
#[derive(Debug, Clone, Copy)]
struct Connection {
    is_up: bool,
    endpoint: usize,
    /// Operations over the connection since it was opened.
    used: u64,
    backoff: Backoff,
}

impl Connection {
    const DOWN: Self = Self { is_up: false, endpoint: MAIN, used: 0, backoff: Backoff::FIRST };
}

impl<P: Protocol> Users<P> {
    fn new(names: Vec<String>, compiled: Compiled<P::Request>, protocol: P, mut rng: fastrand::Rng) -> Self {
        let Compiled { programs, labels, decks, .. } = compiled;
        let decks = decks.iter().map(|weights| Deck::new(weights)).collect();
        // A thread of lanes first forks a generator for its arrivals. With the same fork, a seed deals the
        // same cards here.
        let _ = rng.fork();
        let programs = programs.into();
        Self { programs, names, labels, protocol, decks, rng, dropped: DroppedStates::<P>::default() }
    }

    pub fn user(&self, program: &str) -> Option<User<P>> {
        let program = self.names.iter().position(|name| name == program)?;
        let compiled = &self.programs[program];
        Some(User {
            program,
            cursor: Cursor::new(compiled),
            connections: vec![Connection::DOWN; compiled.connections].into(),
            active: 0,
            failure: None,
            sent: false,
            request_bytes: Vec::new(),
            is_opening: false,
            is_over: false,
            due: VecDeque::new(),
            state: P::Lane::default(),
            dropped: self.dropped.clone(),
        })
    }

    /// Exclusive rows that are lost: a change to the row was never answered.
    pub fn lost_rows(&self) -> u64 {
        self.protocol.lost_rows()
    }

    /// Gives back the exclusive rows of dropped users.
    fn take_back(&mut self) {
        let dropped = std::mem::take(&mut *self.dropped.lock().unwrap_or_else(PoisonError::into_inner));
        dropped.into_iter().for_each(|mut state| self.protocol.leave(&mut state));
    }
}

fn row(labels: &[Label], slot: Slot) -> Row {
    let label = &labels[usize::from(slot.0)];
    (label.program.clone(), label.step.clone())
}

fn cannot(name: &str, feature: &str) -> StartError {
    let problems = CompileError::from(format!("a portable client does not do {feature}")).in_file("");
    StartError::Scenario { name: name.to_owned(), problems }
}

impl<P: Protocol> User<P> {
    /// Ends the user after its current operation, without further pauses. If the whole pass is one operation,
    /// the user ends after its current step.
    pub fn stop(&mut self) {
        self.cursor.stopping = true;
        self.due.retain(|due| !matches!(due, Do::Wait(_) | Do::AwaitRow(_)));
    }

    /// The user's next action; `None` once it has stopped.
    pub fn next(&mut self, users: &mut Users<P>) -> Result<Option<Do>, TurnError> {
        if self.has_request() {
            return Err(TurnError::Asking);
        }
        users.take_back();
        loop {
            if let Some(due) = self.due.pop_front() {
                self.is_opening = matches!(due, Do::Open { .. });
                if let Do::Ask { request, .. } = &due {
                    self.request_bytes.clone_from(request);
                }
                return Ok(Some(due));
            }
            if self.is_over {
                return Ok(None);
            }
            let (programs, program) = (users.programs.clone(), self.program);
            walk(&mut Walk { user: self, users }, &programs[program]);
        }
    }

    /// Judges an answer, given as its bytes on the wire.
    fn answered(&mut self, users: &mut Users<P>, answer: &[u8]) -> Result<Judged, TurnError> {
        let Users { programs, labels, protocol, .. } = users;
        let op = programs[self.program].ops.get(self.cursor.pc);
        let Some(Op::Exchange { slot, request }) = op.filter(|_| self.has_request()) else {
            return Err(TurnError::Silent);
        };
        let received = protocol.receive(request, &mut self.state, answer);
        let (failure, fatal) = match received {
            Received::Done { failure, fatal, .. } => (failure, fatal),
            Received::Broken(failure) => return self.lost(users, &failure.label()),
            // `answer` is complete: no more bytes will arrive.
            Received::Partial { .. } => return self.lost(users, &Failure::Truncated.label()),
            Received::More { .. } => {
                self.request_bytes.clear();
                let mut request_bytes = Vec::new();
                protocol.encode_more(request, &mut self.state, &mut request_bytes);
                if !protocol.keeps_connection(&self.state) {
                    self.open(self.connections[self.active].endpoint, protocol);
                }
                let row = row(labels, *slot);
                self.due.push_back(Do::Ask { row, connection: self.active, request: request_bytes });
                return Ok(Judged { failure: None, answered: false, shown: None });
            }
        };
        let shown = failure.map(|_| protocol.describe(request, &self.state, Some(answer)).to_string());
        let keeps = protocol.keeps_connection(&self.state);
        self.request_bytes.clear();
        if !keeps {
            self.close(self.active, None);
        }
        let failure = failure.map(Failure::label);
        if let Some(failure) = &failure {
            self.fails(failure);
        }
        if fatal && failure.is_some() {
            self.start_over(users);
        } else {
            self.connections[self.active].backoff = Backoff::FIRST;
            self.cursor.pc += 1;
        }
        Ok(Judged { failure, answered: true, shown })
    }

    /// Records a missing answer; `failure` is the label of a [`Failure`].
    pub fn lost(&mut self, users: &mut Users<P>, failure: &str) -> Result<Judged, TurnError> {
        let Users { programs, protocol, .. } = users;
        let shown = match programs[self.program].ops.get(self.cursor.pc) {
            Some(Op::Exchange { request, .. }) if self.has_request() => {
                Some(protocol.describe(request, &self.state, None).to_string())
            }
            _ if self.is_opening => None,
            _ => return Err(TurnError::Silent),
        };
        self.request_bytes.clear();
        self.is_opening = false;
        self.fails(failure);
        self.start_over(users);
        Ok(Judged { failure: Some(failure.to_owned()), answered: false, shown })
    }

    const fn has_request(&self) -> bool {
        !self.request_bytes.is_empty()
    }

    /// Begins an operation; returns its row if it is counted as a whole.
    fn begin(&mut self, labels: &[Label]) -> Option<Row> {
        (self.failure, self.sent) = (None, false);
        let counted = self.cursor.whole.filter(|slot| *slot == self.cursor.counted);
        counted.map(|slot| row(labels, slot))
    }

    fn is_up(&self) -> bool {
        self.connections[self.active].is_up
    }

    /// Marks the active connection as open; the client opens it with the next request.
    fn open(&mut self, endpoint: usize, protocol: &mut P) {
        if self.is_up() {
            self.close(self.active, None);
        }
        let connection = &mut self.connections[self.active];
        *connection = Connection { is_up: true, endpoint, used: 0, ..*connection };
        protocol.connected(&mut self.state);
    }

    fn close(&mut self, connection: usize, row: Option<Row>) {
        self.connections[connection].is_up = false;
        self.due.push_back(Do::Close { row, connection });
    }

    fn fails(&mut self, failure: &str) {
        self.failure.get_or_insert_with(|| failure.to_owned());
    }

    fn end(&mut self, labels: &[Label], answered: bool) {
        if let Some(slot) = self.cursor.whole.take() {
            let failure = self.failure.take();
            self.due.push_back(Do::End { row: row(labels, slot), failure, answered });
        }
    }

    fn start_over(&mut self, users: &mut Users<P>) {
        self.end(&users.labels, false);
        let programs = users.programs.clone();
        let program = &programs[self.program];
        let kept_connections = self.cursor.kept(program);
        for connection in 0..self.connections.len() {
            let is_kept = connection != self.active && kept_connections.contains(&connection);
            if !is_kept && self.connections[connection].is_up {
                self.close(connection, None);
            }
        }
        start_over(&mut Walk { user: self, users }, program);
    }
}

impl<P: Protocol> Drop for User<P> {
    /// The user's exclusive rows are given back in another user's next turn: the shared data are not
    /// accessible here.
    fn drop(&mut self) {
        let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.push(std::mem::take(&mut self.state));
    }
}
