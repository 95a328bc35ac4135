//! What a server has to offer, and what it answers with.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;

use net::{ConnectionId, FilePiece, OUT_BYTES};
use tls::Acceptor;
use wire::http::RequestHead;
use wire::http::date::http_date;

use crate::answer::{Answer, ResponseOptions};
use crate::incoming::Incoming;
use crate::lines::Lines;
use crate::request::RequestLimits;
use crate::stats::Counters;

/// A server's routes and bodies, as one thread has them. [`HttpService`](crate::HttpService) does the rest,
/// and is compiled once for each, so that no call is indirect.
pub trait App: Sized {
    /// What the header lines say that only this server looks at.
    type Lines<'a>: Default;

    /// What is known of a request while its body is being received.
    type Form;

    /// What is kept of a request while another thread works for it.
    type Waiting;

    /// What another thread reports about it.
    type Outcome;

    /// What is left of an answer's body; [`Infallible`] where every answer is written at once.
    type Outgoing: Outgoing;

    /// What it counts.
    type Counters: Counters;

    /// What every connection begins with, where TLS is spoken.
    fn acceptor(&self) -> Option<&Acceptor>;

    /// Looks at a header line whose name begins with neither `h` nor `e`.
    fn line<'a>(lines: &mut Self::Lines<'a>, line: &'a [u8]);

    /// Answers a request that is valid in itself, or goes on to its body or to another thread.
    fn begin(request: &Request<'_, Self::Lines<'_>>, turn: &mut Turn<Self>) -> Progress<Self>;

    /// Goes on with a request whose body is all there.
    fn submit(form: Received<Self>, id: ConnectionId, turn: &mut Turn<Self>) -> Progress<Self>;

    /// The next outcome that another thread has reported, and the connection that waits for it.
    fn next_outcome(&mut self) -> Option<(ConnectionId, Self::Outcome)>;

    /// Answers the request that waited for this outcome.
    fn finish(
        options: ResponseOptions,
        waiting: Self::Waiting,
        outcome: Self::Outcome,
        turn: &mut Turn<Self>,
    ) -> Progress<Self>;

    /// The client of a request that waits has sent its last byte, or has gone.
    fn client_ended(_waiting: &Self::Waiting) {}

    /// Releases what a turn holds, and publishes the counters.
    fn end_turn(&mut self, counters: &mut Self::Counters);
}

/// An answer's body, of which only a piece at a time is in memory.
pub trait Outgoing {
    /// What is left of a file, for the kernel to send.
    fn file(&mut self) -> Option<FilePiece<'_>>;

    /// Appends a piece and says whether it was the last. An error where the rest cannot be had.
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

/// A request, and all that is known of it.
#[derive(Debug)]
pub struct Request<'a, L> {
    pub head: RequestHead<'a>,
    /// What its header lines say to every server.
    pub common: Lines,
    /// What they say to this one.
    pub own: L,
    /// What the client sent, from the head on.
    pub bytes: &'a [u8],
    pub id: ConnectionId,
    pub from: IpAddr,
    /// A body comes behind the head.
    pub has_body: bool,
    /// How it is answered without reading its body: if there is one, the connection then ends behind the answer.
    pub options: ResponseOptions,
}

impl<L> Request<'_, L> {
    /// Goes on to the body.
    pub fn receive<A: App>(&self, form: A::Form, turn: &mut Turn<A>) -> Progress<A> {
        let options = ResponseOptions { keep_alive: self.head.keep_alive, ..self.options };
        let body = match Incoming::new(self.head.framing, turn.limits.body_bytes) {
            Ok(body) => body,
            Err((status, sentence)) => return turn.abort(options, status, &sentence),
        };
        // RFC 9110 section 10.1.1: not to HTTP/1.0 clients.
        if self.common.expects && !self.common.http10 {
            turn.out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        Progress::Body(Box::new(Received { options, form, body }))
    }
}

/// A request and its body, which is all there when [`App::submit`] gets it.
#[derive(Debug)]
pub struct Received<A: App> {
    pub options: ResponseOptions,
    /// What is known of it.
    pub form: A::Form,
    pub body: Incoming,
}

/// What comes after some bytes of a request.
pub enum Progress<A: App> {
    /// Read this request's body.
    Body(Box<Received<A>>),
    /// Wait for another thread.
    Wait(ResponseOptions, A::Waiting),
    /// Go on with the body of the answer.
    Send(A::Outgoing, Then),
    Done(Then),
    /// The client cannot be followed or goes beyond a limit: send it away.
    Abort,
}

/// What comes after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Read the next request.
    Next,
    /// Close.
    Close,
    /// The same, with bytes of the client unread.
    Linger,
}

impl Then {
    /// After an answer of these options.
    pub const fn after(options: ResponseOptions) -> Self {
        if options.keep_alive { Self::Next } else { Self::Close }
    }
}

/// What answers are made from and counted in, on one thread.
pub struct Turn<A: App> {
    /// What they are made from.
    pub app: A,
    /// What has been counted since the turn began.
    pub counters: A::Counters,
    /// Answers not yet handed to the kernel.
    pub out: Vec<u8>,
    pub now: Now,
    pub(crate) limits: RequestLimits,
}

/// The time of a turn.
#[derive(Debug)]
pub struct Now {
    /// Milliseconds since the thread's start.
    pub ms: u64,
    /// Seconds since 1970.
    pub unix_s: u64,
    /// The same as a Date header has it, written once a second.
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

    /// Begins an answer.
    #[inline]
    pub fn reply(&mut self, options: ResponseOptions) -> Answer<'_> {
        Answer { out: &mut self.out, date: &self.now.date, options }
    }

    /// Answers with a status and a sentence; `extra` header lines are as [`Answer::head`] takes them.
    pub fn refuse(
        &mut self,
        options: ResponseOptions,
        status: &str,
        extra: &[(&str, &str)],
        sentence: &str,
    ) -> Progress<A> {
        *self.counters.requests() += 1;
        match status.as_bytes().first() {
            Some(b'4') => *self.counters.rejected() += 1,
            Some(b'5') => *self.counters.failed() += 1,
            _ => {}
        }
        self.reply(options).sentence(status, extra, sentence);
        Progress::Done(Then::after(options))
    }

    /// 404.
    pub fn not_found(&mut self, options: ResponseOptions) -> Progress<A> {
        self.refuse(options, "404 Not Found", &[], "there is nothing here")
    }

    /// 405, for a method that does not go with what is asked for.
    pub fn wrong_method(&mut self, options: ResponseOptions, allowed: &str) -> Progress<A> {
        let sentence = format!("not by this method, but by {allowed}");
        self.refuse(options, "405 Method Not Allowed", &[("Allow: ", allowed)], &sentence)
    }

    /// 501.
    pub fn unknown_method(&mut self, options: ResponseOptions) -> Progress<A> {
        self.refuse(options, "501 Not Implemented", &[], "an unknown method")
    }

    /// Answers a client that cannot be followed, or has more to say than is taken: it has to go.
    pub(crate) fn abort(&mut self, options: ResponseOptions, status: &str, sentence: &str) -> Progress<A> {
        self.refuse(ResponseOptions { keep_alive: false, ..options }, status, &[], sentence);
        Progress::Abort
    }
}
