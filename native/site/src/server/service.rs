//! HTTP as the socket layer sees it: requests in, answers out, and writes that another thread ends.

use std::sync::mpsc::Receiver;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use std::vec;

use net::{ConnectionId, Rejection, Service, Step, TimeSlice};
use tls::Acceptor;
use wire::http::{HeadError, RequestHead};

use super::exchange::{self, Incoming, Progress};
use super::turn::{Now, Turn};
use crate::http::ResponseOptions;
use crate::page::http_date;
use crate::stats::Published;
use crate::upd::{Done, Outcome};

/// To a client that has begun without TLS where it is spoken.
const NOT_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 47\r\n\
    Connection: close\r\n\r\nthis port speaks TLS; ask for it with https://\n";

/// Too many connections already, in all or of this address.
const UNAVAILABLE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\
    Connection: close\r\n\r\n";

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
    Body(Box<Incoming>),
    /// The writer has it.
    Writing(ResponseOptions),
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
    if bytes.is_empty() {
        return None;
    }
    match RequestHead::decode(bytes) {
        Ok(Some(head)) => Some((head.length, exchange::begin(&head, bytes, turn))),
        Ok(None) if bytes.len() <= turn.shared.limits.head_bytes => None,
        Ok(None) => Some((bytes.len(), exchange::refuse_head(HeadError::TooLong, bytes, turn))),
        Err(error) => Some((bytes.len(), exchange::refuse_head(error, bytes, turn))),
    }
}

impl Session {
    /// Notes how far the request has come; `is_last` says whether no byte of the client's is left behind it.
    #[inline]
    fn advance(&mut self, progress: Progress, is_last: bool) -> Step {
        let (request, step) = match progress {
            Progress::Next => (Request::Head, Step::Next),
            Progress::Body(incoming) => (Request::Body(incoming), Step::Next),
            Progress::Wait(options) => (Request::Writing(options), Step::Wait),
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

    fn connect(&mut self, id: ConnectionId) -> Session {
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
            Request::Body(incoming) => match incoming.feed(bytes, session.id, &mut self.turn) {
                (used, Some(progress)) => Some((used, progress)),
                (used, None) => return (used, Step::More),
            },
            Request::Writing(_) => None,
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
            Request::Writing(options) => {
                let progress = exchange::finish(options, outcome, &mut self.turn);
                session.advance(progress, true)
            }
            Request::Head | Request::Body(_) => Step::Next,
        }
    }
}
