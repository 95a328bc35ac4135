//! The interface between the HTTP service and a server's routes.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;

use net::{ConnectionId, FilePiece, OUT_BYTES};
use wire::http::RequestHead;
use wire::http::date::http_date;

use crate::answer::{Answer, ResponseOptions};
use crate::incoming::Incoming;
use crate::limits::RequestLimits;
use crate::lines::Lines;
use crate::stats::Counters;

/// The routes and bodies of a server. Each thread has its own value. [`HttpService`](crate::HttpService) is
/// compiled for each server, so that no call is indirect.
pub trait App: Sized {
    /// Header fields that only this server reads.
    type Lines<'a>: HeaderLines<'a>;

    type Form;

    type Waiting;

    /// The result of another thread's work for a request.
    type Outcome;

    /// The unsent rest of an answer's body; [`Infallible`] if every answer is written at once.
    type Outgoing: Outgoing;

    type Counters: Counters;

    /// Answers a valid request, or begins to receive its body, or hands the request to another thread.
    fn begin(request: &Request<'_, Self::Lines<'_>>, turn: &mut Turn<Self>) -> Progress<Self>;

    /// Continues with a request whose body is complete.
    fn submit(form: Received<Self>, id: ConnectionId, turn: &mut Turn<Self>) -> Progress<Self>;

    /// Answers the request that waited for this outcome.
    fn finish(
        options: ResponseOptions,
        waiting: Self::Waiting,
        outcome: Self::Outcome,
        turn: &mut Turn<Self>,
    ) -> Progress<Self>;

    /// Called if the client of a waiting request has sent its last byte, or has disconnected.
    fn client_ended(_waiting: &Self::Waiting) {}

    /// Releases the resources of a turn, and publishes the counters.
    fn end_turn(&mut self, counters: &mut Self::Counters);
}

/// Header fields that only one server reads.
pub trait HeaderLines<'a>: Default {
    /// Reads a header line whose name begins with neither `h` nor `e`.
    fn line(&mut self, line: &'a [u8]);
}

/// An answer's body, of which only one piece at a time is in memory.
pub trait Outgoing {
    /// The unsent rest of a file, for sendfile(2).
    fn file(&mut self) -> Option<FilePiece<'_>>;

    /// Appends a piece. Returns whether it was the last piece. Fails if the rest of the body cannot be read.
    fn push(&mut self, out: &mut Vec<u8>) -> io::Result<bool>;
}

impl Outgoing for Infallible {
    fn file(&mut self) -> Option<FilePiece<'_>> {
        match *self {}
    }

    fn push(&mut self, _: &mut Vec<u8>) -> io::Result<bool> {
        match *self {}
    }
}

#[derive(Debug)]
pub struct Request<'a, L> {
    pub head: RequestHead<'a>,
    /// Header fields that every server reads.
    pub common: Lines,
    /// Header fields that only this server reads.
    pub own: L,
    /// The received bytes, from the head on.
    pub bytes: &'a [u8],
    pub id: ConnectionId,
    pub from: IpAddr,
    /// Whether a body follows the head.
    pub has_body: bool,
    /// The options of an answer that is sent before the body is read. If there is a body, the connection is
    /// closed after such an answer.
    pub options: ResponseOptions,
}

impl<L> Request<'_, L> {
    pub fn receive<A: App>(&self, form: A::Form, turn: &mut Turn<A>) -> Progress<A> {
        let options = ResponseOptions { keep_alive: self.head.keep_alive, ..self.options };
        let body = match Incoming::new(self.head.framing, turn.limits.body_bytes) {
            Ok(body) => body,
            Err((status, sentence)) => return turn.abort(options, status, &sentence),
        };
        // RFC 9110 section 10.1.1: HTTP/1.0 clients must not get an interim answer.
        if self.common.expects && !self.common.http10 {
            turn.out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        Progress::Body(Box::new(Received { options, form, body }))
    }
}

/// A request and its body. The body is complete when the request is passed to [`App::submit`].
#[derive(Debug)]
pub struct Received<A: App> {
    pub options: ResponseOptions,
    pub form: A::Form,
    pub body: Incoming,
}

pub enum Progress<A: App> {
    /// Reads the body.
    Body(Box<Received<A>>),
    /// Waits for another thread.
    Wait(ResponseOptions, A::Waiting),
    /// Sends the rest of the answer's body.
    Send(A::Outgoing, Then),
    Done(Then),
    /// The request is malformed or exceeds a limit: closes the connection after the answer.
    Abort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Reads the next request.
    Next,
    Close,
    /// Closes while bytes of the client are unread.
    Linger,
}

impl Then {
    /// The next step after an answer with these options.
    pub const fn after(options: ResponseOptions) -> Self {
        if options.keep_alive { Self::Next } else { Self::Close }
    }
}

/// A thread's context for answering requests.
pub struct Turn<A: App> {
    pub app: A,
    /// The counts since the beginning of the turn.
    pub counters: A::Counters,
    /// Answers that have not been written to a socket.
    pub out: Vec<u8>,
    pub now: Now,
    pub(crate) limits: RequestLimits,
}

#[derive(Debug)]
pub struct Now {
    /// Milliseconds since the thread's start.
    pub ms: u64,
    /// Seconds since 1970.
    pub unix_s: u64,
    /// The value of a Date header, formatted once a second.
    pub date: String,
}

impl<A: App> Turn<A> {
    pub(crate) fn new(app: A, limits: RequestLimits) -> Self {
        Self {
            app,
            counters: A::Counters::default(),
            out: Vec::with_capacity(OUT_BYTES),
            now: Now { ms: 0, unix_s: 0, date: http_date(0) },
            limits,
        }
    }

    #[inline]
    pub fn reply(&mut self, options: ResponseOptions) -> Answer<'_> {
        Answer { out: &mut self.out, date: &self.now.date, options }
    }

    /// Answers with a status and a sentence; `extra` header lines have the form of [`Answer::head`].
    pub fn refuse(
        &mut self,
        options: ResponseOptions,
        status: &str,
        extra: &[(&str, &str)],
        sentence: &str,
    ) -> Progress<A> {
        let [requests, rejected, failed] = self.counters.of_statuses();
        *requests += 1;
        match status.as_bytes().first() {
            Some(b'4') => *rejected += 1,
            Some(b'5') => *failed += 1,
            _ => {}
        }
        self.reply(options).sentence(status, extra, sentence);
        Progress::Done(Then::after(options))
    }

    /// Answers with status 404.
    pub fn not_found(&mut self, options: ResponseOptions) -> Progress<A> {
        self.refuse(options, "404 Not Found", &[], "there is nothing here")
    }

    /// Answers with status 405, because the target does not support the method.
    pub fn wrong_method(&mut self, options: ResponseOptions, allowed: &str) -> Progress<A> {
        let sentence = format!("not by this method, but by {allowed}");
        self.refuse(options, "405 Method Not Allowed", &[("Allow: ", allowed)], &sentence)
    }

    /// Answers a request that is malformed or exceeds a limit; the connection is then closed.
    pub(crate) fn abort(&mut self, options: ResponseOptions, status: &str, sentence: &str) -> Progress<A> {
        self.refuse(ResponseOptions { keep_alive: false, ..options }, status, &[], sentence);
        Progress::Abort
    }
}
