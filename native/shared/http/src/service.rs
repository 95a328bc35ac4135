//! HTTP as a service of the socket layer: parses requests, and sends answers in pieces, or waits for other
//! threads.

use std::net::IpAddr;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use net::{ConnectionId, FilePiece, Rejection, Service, Step, TimeSlice};
use wire::http::date::http_date;
use wire::http::{Framing, RequestHead};

use crate::access_log::{AccessLog, asked};
use crate::answer::{CLOSING, NOT_TLS, ResponseOptions, UNAVAILABLE};
use crate::app::{App, HeaderLines, Outgoing, Progress, Received, Request, Then, Turn};
use crate::limits::RequestLimits;
use crate::lines::Lines;
use crate::request::{problem, read, refusal};
use crate::stats::Counters;

pub struct HttpService<A: App> {
    turn: Turn<A>,
    slice: TimeSlice,
    start: Instant,
    log: Option<AccessLog>,
}

pub struct Session<A: App> {
    id: ConnectionId,
    from: IpAddr,
    stage: Stage<A>,
    /// The current request's line, if requests are logged.
    asked: Vec<u8>,
}

enum Stage<A: App> {
    /// Between requests, or within a head.
    Head,
    /// Within a body.
    Body(Box<Received<A>>),
    /// Another thread handles the request. `is_last`: no further bytes of the client have been received.
    Waiting { options: ResponseOptions, waiting: A::Waiting, is_last: bool },
    /// The answer's body is being sent.
    Sending(A::Outgoing, Step),
}

impl<A: App> HttpService<A> {
    /// The service of `app`, with logged requests if there is a log.
    pub fn new(app: A, limits: RequestLimits, log: Option<AccessLog>) -> Self {
        Self { turn: Turn::new(app, limits), slice: TimeSlice::default(), start: Instant::now(), log }
    }

    /// Answers the request at the start of `bytes`, or begins to receive its body. Returns the length of its
    /// head and the next step; `None` while the head is incomplete.
    #[inline]
    fn request(
        turn: &mut Turn<A>,
        id: ConnectionId,
        from: IpAddr,
        bytes: &[u8],
    ) -> Option<(usize, Progress<A>)> {
        let mut own = A::Lines::default();
        match read(bytes, &turn.limits, |line| own.line(line)) {
            Ok(None) => None,
            Ok(Some((head, common))) => {
                let has_body = head.framing != Framing::Length(0);
                let options = options(&head, &common, has_body);
                let length = head.length;
                let request = Request { head, common, own, bytes, id, from, has_body, options };
                Some((length, begin(&request, turn)))
            }
            Err(error) => {
                let progress = turn.abort(CLOSING, refusal(error, bytes), &error.to_string());
                Some((bytes.len(), progress))
            }
        }
    }
}

/// The options of an answer while the body is unread.
#[inline]
fn options(head: &RequestHead<'_>, common: &Lines, has_body: bool) -> ResponseOptions {
    ResponseOptions {
        keep_alive: head.keep_alive && !has_body,
        http10: common.http10,
        head_only: head.method == "HEAD",
    }
}

/// Answers a request, or receives its body first. If a request is answered without its body being read, the
/// connection is closed after the answer.
#[inline]
fn begin<A: App>(request: &Request<'_, A::Lines<'_>>, turn: &mut Turn<A>) -> Progress<A> {
    let progress = match problem(&request.head, &request.common, turn.limits.target_bytes) {
        Some((status, sentence)) => turn.refuse(request.options, status, &[], sentence),
        None => A::begin(request, turn),
    };
    match progress {
        Progress::Done(_) if request.has_body => Progress::Done(Then::Linger),
        Progress::Send(rest, _) if request.has_body => Progress::Send(rest, Then::Linger),
        progress => progress,
    }
}

impl<A: App> Session<A> {
    /// Logs the request, if its answer begins in `turn.out` after `start`.
    fn log(&self, log: &mut Option<AccessLog>, turn: &Turn<A>, start: usize, progress: &Progress<A>) {
        let is_answered = matches!(progress, Progress::Done(_) | Progress::Send(..) | Progress::Abort);
        if let (Some(log), true) = (log, is_answered) {
            log.at(turn.now.unix_s);
            log.line(self.from, &self.asked, turn.out.get(start..).unwrap_or_default());
        }
    }

    /// Records the progress of the request; `is_last`: no further bytes of the client have been received.
    #[inline]
    fn advance(&mut self, progress: Progress<A>, is_last: bool) -> Step {
        let step = |then| match then {
            Then::Next => Step::Next,
            Then::Close if is_last => Step::Close,
            Then::Close | Then::Linger => Step::Linger,
        };
        let (stage, step) = match progress {
            Progress::Done(then) => (Stage::Head, step(then)),
            Progress::Send(rest, then) => (Stage::Sending(rest, step(then)), Step::Wait),
            Progress::Body(form) => (Stage::Body(form), Step::Next),
            Progress::Wait(options, waiting) => (Stage::Waiting { options, waiting, is_last }, Step::Wait),
            Progress::Abort => (Stage::Head, Step::Abort),
        };
        self.stage = stage;
        step
    }
}

impl<A: App> Service for HttpService<A> {
    type Session = Session<A>;
    type Outcome = A::Outcome;

    /// Answers that are sent together wake the load generator less often than answers that are sent one by
    /// one, which woke it 0.4 times per page. 16 pages of 8 KiB fit into a second-level cache of 256 KiB;
    /// larger groups were no faster.
    const GROUP: usize = 16;

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
        self.turn.app.end_turn(&mut self.turn.counters);
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

    fn connect(&mut self, id: ConnectionId, from: IpAddr) -> Session<A> {
        Session { id, from, stage: Stage::Head, asked: Vec::new() }
    }

    fn reject(&self, why: Rejection, notice: &mut Vec<u8>) {
        notice.extend_from_slice(match why {
            Rejection::Full(_) => UNAVAILABLE,
            Rejection::NotTls => NOT_TLS,
        });
    }

    #[inline]
    fn feed(&mut self, session: &mut Session<A>, bytes: &[u8]) -> (usize, Step) {
        let turn = &mut self.turn;
        let start = turn.out.len();
        let (used, progress) = match &mut session.stage {
            Stage::Head => match Self::request(turn, session.id, session.from, bytes) {
                None => return (0, Step::More),
                Some(found) => {
                    if self.log.is_some() {
                        asked(bytes, &mut session.asked);
                    }
                    found
                }
            },
            Stage::Body(form) => match form.body.feed(bytes, turn.limits.body_bytes) {
                Ok(used) if !form.body.is_done() => return (used, Step::More),
                Ok(used) => match std::mem::replace(&mut session.stage, Stage::Head) {
                    Stage::Body(form) => (used, A::submit(*form, session.id, turn)),
                    _ => return (used, Step::Close),
                },
                Err((status, sentence)) => (bytes.len(), turn.abort(form.options, status, &sentence)),
            },
            Stage::Waiting { .. } | Stage::Sending(..) => return (0, Step::More),
        };
        session.log(&mut self.log, turn, start, &progress);
        (used, session.advance(progress, used == bytes.len()))
    }

    #[inline]
    fn is_receiving(session: &Session<A>) -> bool {
        matches!(session.stage, Stage::Body(_))
    }

    #[inline]
    fn has_output(session: &Session<A>) -> bool {
        matches!(session.stage, Stage::Sending(..))
    }

    fn poll_output(&mut self, session: &mut Session<A>) -> Step {
        let Stage::Sending(rest, then) = &mut session.stage else { return Step::Next };
        let step = match rest.push(&mut self.turn.out) {
            Ok(false) => return Step::Wait,
            Ok(true) => *then,
            Err(_) => {
                // Content-Length has been sent, so only a closed connection can show that the body is incomplete.
                let [.., failed] = self.turn.counters.of_statuses();
                *failed += 1;
                Step::Close
            }
        };
        session.stage = Stage::Head;
        step
    }

    #[inline]
    fn file_output(session: &mut Session<A>) -> Option<FilePiece<'_>> {
        match &mut session.stage {
            Stage::Sending(rest, _) => rest.file(),
            _ => None,
        }
    }

    fn resume(&mut self, session: &mut Session<A>, outcome: A::Outcome) -> Step {
        let stage = std::mem::replace(&mut session.stage, Stage::Head);
        let Stage::Waiting { options, waiting, is_last } = stage else {
            session.stage = stage;
            return Step::Next;
        };
        let start = self.turn.out.len();
        let progress = A::finish(options, waiting, outcome, &mut self.turn);
        session.log(&mut self.log, &self.turn, start, &progress);
        session.advance(progress, is_last)
    }

    fn client_ended(session: &mut Session<A>) {
        if let Stage::Waiting { waiting, .. } = &session.stage {
            A::client_ended(waiting);
        }
    }

    fn close(session: &mut Session<A>) {
        session.stage = Stage::Head;
    }
}
