//! HTTP as the socket layer sees it: requests in, answers out in pieces, and programs that other threads run.

use std::net::IpAddr;
use std::sync::mpsc::Receiver;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use http::{NOT_TLS, ResponseOptions, UNAVAILABLE, http_date};
use net::{ConnectionId, FilePiece, Rejection, Service, Step, TimeSlice};
use tls::Acceptor;

use super::exchange::{self, Form, Progress, Request, Then};
use super::rest::Rest;
use super::turn::Turn;
use crate::cgi::{Fault, Output};
use crate::files::Conditions;
use crate::stats::Published;

/// What became of a program, and the connection that waits for it.
pub(super) type Done = (ConnectionId, Result<Output, Fault>);

/// The server as one thread runs it.
pub(super) struct HttpService<'t> {
    turn: Turn<'t>,
    slice: TimeSlice,
    start: Instant,
    outcomes: Receiver<Done>,
    published: &'t Published,
}

/// One connection: which it is, and how far its request has come.
pub(super) struct Session {
    id: ConnectionId,
    from: IpAddr,
    stage: Stage,
}

enum Stage {
    /// Between requests, or within a head.
    Head,
    /// Within a body.
    Body(Box<Form>),
    /// A program has it; `is_last` says whether no byte of the client's was left behind the request.
    Running { options: ResponseOptions, is_last: bool },
    /// The answer's body goes out.
    Sending(Box<Rest>, Step),
}

impl<'t> HttpService<'t> {
    pub(super) fn new(turn: Turn<'t>, outcomes: Receiver<Done>, published: &'t Published) -> Self {
        Self { turn, slice: TimeSlice::default(), start: Instant::now(), outcomes, published }
    }
}

impl Session {
    /// Notes how far the request has come; `is_last` says whether no byte of the client's is left behind it.
    #[inline]
    fn advance(&mut self, progress: Progress, is_last: bool) -> Step {
        let step = |then| match then {
            Then::Next => Step::Next,
            Then::Close if is_last => Step::Close,
            Then::Close | Then::Linger => Step::Linger,
        };
        let (stage, step) = match progress {
            Progress::Done(then) => (Stage::Head, step(then)),
            Progress::Send(rest, then) => (Stage::Sending(rest, step(then)), Step::Wait),
            Progress::Body(form) => (Stage::Body(form), Step::Next),
            Progress::Wait(options) => (Stage::Running { options, is_last }, Step::Wait),
            Progress::Abort => (Stage::Head, Step::Abort),
        };
        self.stage = stage;
        step
    }
}

impl Service for HttpService<'_> {
    type Session = Session;
    type Outcome = Result<Output, Fault>;

    /// A group's files would fill the cache that grouping is to spare.
    const GROUP: usize = 1;

    #[inline]
    fn begin_turn(&mut self) -> u64 {
        let now = &mut self.turn.now;
        now.ms = self.start.elapsed().as_millis() as u64;
        let unix_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if unix_s != now.unix_s {
            (now.unix_s, now.date) = (unix_s, http_date(unix_s));
        }
        now.ms
    }

    #[inline]
    fn end_turn(&mut self) -> bool {
        self.published.take(&mut self.turn.counters);
        false
    }

    #[inline]
    fn out(&mut self) -> &mut Vec<u8> {
        &mut self.turn.out
    }

    #[inline]
    fn slice(&mut self) -> &mut TimeSlice {
        &mut self.slice
    }

    #[inline]
    fn acceptor(&self) -> Option<&Acceptor> {
        self.turn.shared.tls.as_ref()
    }

    fn connect(&mut self, id: ConnectionId, from: IpAddr) -> Session {
        Session { id, from, stage: Stage::Head }
    }

    fn reject(&self, why: Rejection, notice: &mut Vec<u8>) {
        notice.extend_from_slice(match why {
            Rejection::Full(_) => UNAVAILABLE,
            Rejection::NotTls => NOT_TLS,
        });
    }

    #[inline]
    fn feed(&mut self, session: &mut Session, bytes: &[u8]) -> (usize, Step) {
        let turn = &mut self.turn;
        let (used, progress) = match &mut session.stage {
            Stage::Head => {
                let mut conditions = Conditions::default();
                match http::read(bytes, turn.shared.limits.head(), |line| conditions.line(line)) {
                    Ok(None) => return (0, Step::More),
                    Ok(Some((head, common))) => {
                        let (id, from) = (session.id, session.from);
                        let request = Request { head, common, conditions, bytes, id, from };
                        (head.length, exchange::begin(&request, turn))
                    }
                    Err(error) => (bytes.len(), exchange::refuse_head(error, bytes, turn)),
                }
            }
            Stage::Body(form) => match form.feed(bytes, turn) {
                Ok(used) if !form.is_done() => return (used, Step::More),
                Ok(used) => match std::mem::replace(&mut session.stage, Stage::Head) {
                    Stage::Body(form) => (used, form.submit(turn)),
                    _ => return (used, Step::Close),
                },
                Err(progress) => (bytes.len(), progress),
            },
            Stage::Running { .. } | Stage::Sending(..) => return (0, Step::More),
        };
        (used, session.advance(progress, used == bytes.len()))
    }

    #[inline]
    fn is_receiving(session: &Session) -> bool {
        matches!(session.stage, Stage::Body(_))
    }

    #[inline]
    fn has_output(session: &Session) -> bool {
        matches!(session.stage, Stage::Sending(..))
    }

    fn poll_output(&mut self, session: &mut Session) -> Step {
        let Stage::Sending(rest, then) = &mut session.stage else { return Step::Next };
        let step = match rest.push(&mut self.turn.out) {
            Ok(false) => return Step::Wait,
            Ok(true) => *then,
            Err(_) => {
                // The length was promised: only the end of the connection says that it was not kept.
                self.turn.counters.failed += 1;
                Step::Close
            }
        };
        session.stage = Stage::Head;
        step
    }

    #[inline]
    fn file_output(session: &mut Session) -> Option<FilePiece<'_>> {
        match &mut session.stage {
            Stage::Sending(rest, _) => rest.file(),
            _ => None,
        }
    }

    #[inline]
    fn next_outcome(&mut self) -> Option<Done> {
        self.outcomes.try_recv().ok()
    }

    fn resume(&mut self, session: &mut Session, outcome: Result<Output, Fault>) -> Step {
        let Stage::Running { options, is_last } = session.stage else { return Step::Next };
        let progress = exchange::finish(options, outcome, &mut self.turn);
        session.advance(progress, is_last)
    }

    fn close(session: &mut Session) {
        session.stage = Stage::Head;
    }
}
