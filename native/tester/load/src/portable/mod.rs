//! Users whose requests something else sends: the steps of a scenario, handed out one by one.
//!
//! A portable client has a network stack of its own, and nothing else: what is asked and what is right are the
//! protocol's, over the same program that lanes run. So a [`User`] is a lane without a connection and without a clock.
//! What it is asked for next it says as [`Do`]; what was answered it is told.
//!
//! All users of a process are those of one thread ([`Users`]): they share its decks, its rows and its random numbers.

mod ldap;
mod walk;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use self::ldap::{DirectoryUser, DirectoryUsers, LdapAnswer, LdapRequest, Values};
use self::walk::Walk;

use crate::compile_error::CompileError;
use crate::engine::StartError;
use crate::program::{Backoff, Compiled, Cursor, Deck, MAIN, Op, Program, start_over, walk};
use crate::protocol::{Protocol, Received};
use crate::record::failure::Failure;
use crate::record::recorder::{Label, Slot};

/// How long a user waits until it looks for a row again. A lane is woken when one has come back.
const ROW_WAIT: Duration = Duration::from_millis(10);

/// Where something is recorded: the step of an operation.
pub type Row = (Arc<str>, Arc<str>);

/// What a user does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Do {
    /// An operation begins, and all of it is counted there; in its steps where that is nowhere.
    Begin(Option<Row>),
    /// The same of a whole pass, whose time has its think times in it.
    BeginPass(Option<Row>),
    /// A connection is opened; [`User::lost`] follows if it cannot be.
    Open { row: Row, connection: usize },
    /// Something is asked, and what was answered follows, or [`User::lost`].
    Ask {
        row: Row,
        /// Over which of the user's connections, from 0.
        connection: usize,
        /// As it would stand on the wire.
        request: Vec<u8>,
    },
    /// Nothing is done for so long, which is in no operation's time.
    Wait(Duration),
    /// The same, as others have all rows alone that come next.
    AwaitRow(Duration),
    Close {
        /// Where that is recorded, unless it goes without saying.
        row: Option<Row>,
        connection: usize,
    },
    End {
        /// Where all of it is recorded.
        row: Row,
        /// What was wrong with it first.
        failure: Option<String>,
        /// Whether it came to its end.
        answered: bool,
    },
}

/// What an answer is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What is wrong with it.
    pub failure: Option<String>,
    /// Whether it was an answer at all. If it was none and nothing is wrong, what is asked next is a part of it.
    pub answered: bool,
    /// The request and what was said, without secrets, where something is wrong.
    pub shown: Option<String>,
}

/// Why a user does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    #[error("the request before was not answered: say what was answered, or that it was lost")]
    Asking,
    /// There is no request in flight.
    #[error("nothing was asked: take the next step first")]
    Silent,
}

/// Programs, and what their users share.
pub struct Users<P: Protocol> {
    programs: Arc<[Program<P::Request>]>,
    names: Vec<String>,
    labels: Vec<Label>,
    protocol: P,
    decks: Vec<Deck>,
    rng: fastrand::Rng,
    left: Left<P>,
}

/// What those users remembered that are gone.
type Left<P> = Arc<Mutex<Vec<<P as Protocol>::Lane>>>;

/// One virtual user.
pub struct User<P: Protocol> {
    program: usize,
    cursor: Cursor,
    connections: Box<[Connection]>,
    active: usize,
    /// What failed first in the operation at hand.
    failure: Option<String>,
    /// Whether anything was sent for it.
    sent: bool,
    /// What is asked and not answered; empty if nothing is.
    asked: Vec<u8>,
    /// Whether it is not known yet that a connection stands.
    is_opening: bool,
    /// Whether its program has ended.
    is_over: bool,
    /// What it does before the program goes on.
    due: VecDeque<Do>,
    state: P::Lane,
    left: Left<P>,
}

/// What is known of a connection: it is the sender's.
#[derive(Debug, Clone, Copy)]
struct Connection {
    is_up: bool,
    endpoint: usize,
    /// Operations that it was used for since it was opened.
    used: u64,
    backoff: Backoff,
}

impl Connection {
    const DOWN: Self = Self { is_up: false, endpoint: MAIN, used: 0, backoff: Backoff::FIRST };
}

impl<P: Protocol> Users<P> {
    fn new(names: Vec<String>, compiled: Compiled<P::Request>, protocol: P, mut rng: fastrand::Rng) -> Self {
        let Compiled { programs, labels, decks, .. } = compiled;
        let decks = decks.iter().map(Deck::new).collect();
        // A thread of lanes takes its arrivals from it first: so the same seed deals the same cards.
        let _ = rng.fork();
        let programs = programs.into();
        Self { programs, names, labels, protocol, decks, rng, left: Left::<P>::default() }
    }

    /// One more user of a program.
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
            asked: Vec::new(),
            is_opening: false,
            is_over: false,
            due: VecDeque::new(),
            state: P::Lane::default(),
            left: self.left.clone(),
        })
    }

    /// Rows that one user at a time has, and that do not come again: a change was never answered.
    pub fn lost_rows(&self) -> u64 {
        self.protocol.lost_rows()
    }

    /// Lets others have what users had alone that are gone.
    fn take_back(&mut self) {
        let left = std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner));
        left.into_iter().for_each(|mut state| self.protocol.leave(&mut state));
    }
}

fn row(labels: &[Label], slot: Slot) -> Row {
    let label = &labels[usize::from(slot.0)];
    (label.program.clone(), label.step.clone())
}

fn cannot(name: &str, what: &str) -> StartError {
    let problems = CompileError::from(format!("a portable client does not do {what}")).in_file("");
    StartError::Scenario { name: name.to_owned(), problems }
}

impl<P: Protocol> User<P> {
    /// Has it end after the operation it is in, which has no pauses any more, or after the step at hand if all of its
    /// pass is one.
    pub fn stop(&mut self) {
        self.cursor.stopping = true;
        self.due.retain(|due| !matches!(due, Do::Wait(_) | Do::AwaitRow(_)));
    }

    /// What it does next; `None` once it has stopped.
    pub fn next(&mut self, users: &mut Users<P>) -> Result<Option<Do>, TurnError> {
        if self.is_asking() {
            return Err(TurnError::Asking);
        }
        users.take_back();
        loop {
            if let Some(due) = self.due.pop_front() {
                self.is_opening = matches!(due, Do::Open { .. });
                if let Do::Ask { request, .. } = &due {
                    self.asked.clone_from(request);
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

    /// Judges what was answered, as it would stand on the wire.
    fn answered(&mut self, users: &mut Users<P>, answer: &[u8]) -> Result<Judged, TurnError> {
        let Users { programs, labels, protocol, .. } = users;
        let op = programs[self.program].ops.get(self.cursor.pc);
        let Some(Op::Exchange { slot, request }) = op.filter(|_| self.is_asking()) else {
            return Err(TurnError::Silent);
        };
        let received = protocol.receive(request, &mut self.state, answer);
        let (failure, fatal) = match received {
            Received::Done { failure, fatal, .. } => (failure, fatal),
            Received::Broken(failure) => return self.lost(users, &failure.label()),
            // All that came is here.
            Received::Partial { .. } => return self.lost(users, &Failure::Truncated.label()),
            Received::More { .. } => {
                self.asked.clear();
                let mut asked = Vec::new();
                protocol.encode_more(request, &mut self.state, &mut asked);
                if !protocol.keeps_connection(&self.state) {
                    self.open(self.connections[self.active].endpoint, protocol);
                }
                let row = row(labels, *slot);
                self.due.push_back(Do::Ask { row, connection: self.active, request: asked });
                return Ok(Judged { failure: None, answered: false, shown: None });
            }
        };
        let shown = failure.map(|_| protocol.tell(request, &self.state, Some(answer)).to_string());
        let keeps = protocol.keeps_connection(&self.state);
        self.asked.clear();
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

    /// Says that no answer came, and why, by the name of a [`Failure`].
    pub fn lost(&mut self, users: &mut Users<P>, failure: &str) -> Result<Judged, TurnError> {
        let Users { programs, protocol, .. } = users;
        let shown = match programs[self.program].ops.get(self.cursor.pc) {
            Some(Op::Exchange { request, .. }) if self.is_asking() => {
                Some(protocol.tell(request, &self.state, None).to_string())
            }
            _ if self.is_opening => None,
            _ => return Err(TurnError::Silent),
        };
        self.asked.clear();
        self.is_opening = false;
        self.fails(failure);
        self.start_over(users);
        Ok(Judged { failure: Some(failure.to_owned()), answered: false, shown })
    }

    const fn is_asking(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Begins an operation; returns where all of it is counted, if it is.
    fn begin(&mut self, labels: &[Label]) -> Option<Row> {
        (self.failure, self.sent) = (None, false);
        let counted = self.cursor.whole.filter(|slot| *slot == self.cursor.counted);
        counted.map(|slot| row(labels, slot))
    }

    fn is_up(&self) -> bool {
        self.connections[self.active].is_up
    }

    /// Notes that the connection is opened with the next request.
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

    /// Ends the pass, and begins the next after a pause.
    fn start_over(&mut self, users: &mut Users<P>) {
        self.end(&users.labels, false);
        let programs = users.programs.clone();
        let program = &programs[self.program];
        let kept = self.cursor.kept(program);
        for connection in 0..self.connections.len() {
            let is_kept = connection != self.active && kept.contains(&connection);
            if !is_kept && self.connections[connection].is_up {
                self.close(connection, None);
            }
        }
        start_over(&mut Walk { user: self, users }, program);
    }
}

impl<P: Protocol> Drop for User<P> {
    /// What it had alone is given back when another user goes on: those whom it shares it with are not at hand here.
    fn drop(&mut self) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.push(std::mem::take(&mut self.state));
    }
}
