//! HTTP as the socket layer sees it: requests in, answers out, and writes that another thread ends.

use std::net::IpAddr;
use std::sync::mpsc::Receiver;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use std::vec;

use http::{NOT_TLS, ResponseOptions, UNAVAILABLE, http_date};
use net::{ConnectionId, Rejection, Service, Step, TimeSlice};
use tls::Acceptor;

use super::exchange::{self, Form, Progress};
use super::turn::{Now, Turn};
use crate::http::Lines;
use crate::stats::Published;
use crate::upd::{Done, Outcome};

/// The outcomes of one transaction, for one thread.
pub(super) type Outcomes = Vec<Done<ConnectionId>>;

/// The site as one thread serves it.
pub(super) struct HttpService<'t> {
    turn: Turn<'t>,
    slice: TimeSlice,
    start: Instant,
    outcomes: Receiver<Outcomes>,
    /// What is left of the transaction whose outcomes are being delivered.
    delivering: vec::IntoIter<Done<ConnectionId>>,
    published: &'t Published,
}

/// One connection: which it is, and how far its request has come.
pub(super) struct Session {
    id: ConnectionId,
    request: Request,
}

enum Request {
    /// Between requests, or within a head.
    Head,
    /// Within a body.
    Body(Box<Form>),
    /// The writer has it; a browser is answered otherwise than a program.
    Writing { options: ResponseOptions, browser: bool },
}

impl<'t> HttpService<'t> {
    pub(super) fn new(turn: Turn<'t>, outcomes: Receiver<Outcomes>, published: &'t Published) -> Self {
        Self {
            turn,
            slice: TimeSlice::default(),
            start: Instant::now(),
            outcomes,
            delivering: vec::IntoIter::default(),
            published,
        }
    }
}

/// Answers the request that `bytes` begins with: its head's length, and what comes then. `None`
/// while the head is not all there.
#[inline]
fn request(bytes: &[u8], turn: &mut Turn<'_>) -> Option<(usize, Progress)> {
    let mut lines = Lines::default();
    match http::read(bytes, turn.shared.limits.head(), |line| lines.line(line)) {
        Ok(Some((head, common))) => Some((head.length, exchange::begin(&head, &common, &lines, turn))),
        Ok(None) => None,
        Err(error) => Some((bytes.len(), exchange::refuse_head(error, bytes, turn))),
    }
}

impl Session {
    /// Notes how far the request has come; `is_last` says whether no byte of the client's is left behind it.
    #[inline]
    fn advance(&mut self, progress: Progress, is_last: bool) -> Step {
        let (request, step) = match progress {
            Progress::Next => (Request::Head, Step::Next),
            Progress::Body(form) => (Request::Body(form), Step::Next),
            Progress::Wait { options, browser } => (Request::Writing { options, browser }, Step::Wait),
            Progress::Close if is_last => (Request::Head, Step::Close),
            Progress::Close | Progress::Linger => (Request::Head, Step::Linger),
            Progress::Abort => (Request::Head, Step::Abort),
        };
        self.request = request;
        step
    }
}

impl Service for HttpService<'_> {
    type Session = Session;
    type Outcome = Outcome;

    /// A group's pages of 8 KiB each would fill the cache that grouping is to spare.
    const GROUP: usize = 1;

    #[inline]
    fn begin_turn(&mut self) -> u64 {
        let unix_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if unix_s != self.turn.now.unix_s {
            self.turn.now = Now { unix_s, date: http_date(unix_s) };
        }
        self.start.elapsed().as_millis() as u64
    }

    #[inline]
    fn end_turn(&mut self) -> bool {
        self.turn.people.release();
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

    fn connect(&mut self, id: ConnectionId, _: IpAddr) -> Session {
        Session { id, request: Request::Head }
    }

    fn reject(&self, why: Rejection, notice: &mut Vec<u8>) {
        notice.extend_from_slice(match why {
            Rejection::Full(_) => UNAVAILABLE,
            Rejection::NotTls => NOT_TLS,
        });
    }

    #[inline]
    fn feed(&mut self, session: &mut Session, bytes: &[u8]) -> (usize, Step) {
        let found = match &mut session.request {
            Request::Head => request(bytes, &mut self.turn),
            Request::Body(form) => match form.feed(bytes, session.id, &mut self.turn) {
                (used, Some(progress)) => Some((used, progress)),
                (used, None) => return (used, Step::More),
            },
            Request::Writing { .. } => None,
        };
        let Some((used, progress)) = found else { return (0, Step::More) };
        (used, session.advance(progress, used == bytes.len()))
    }

    #[inline]
    fn is_receiving(session: &Session) -> bool {
        matches!(session.request, Request::Body(_))
    }

    #[inline]
    fn next_outcome(&mut self) -> Option<(ConnectionId, Outcome)> {
        loop {
            if let Some(done) = self.delivering.next() {
                return Some((done.ticket, done.outcome));
            }
            self.delivering = self.outcomes.try_recv().ok()?.into_iter();
        }
    }

    fn resume(&mut self, session: &mut Session, outcome: Outcome) -> Step {
        match session.request {
            Request::Writing { options, browser } => {
                let progress = exchange::finish(options, browser, outcome, &mut self.turn);
                session.advance(progress, true)
            }
            Request::Head | Request::Body(_) => Step::Next,
        }
    }
}
