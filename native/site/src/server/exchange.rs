//! One request and its answer, without the socket.

use net::ConnectionId;
use wire::http::{Body, BodyError, Framing, HeadError, RequestHead, cookie};

use super::turn::Turn;
use crate::http::{
    Answer, CLOSING, Lines, ResponseOptions, Route, Target, changes, entering, fields, newcomer, route,
    user_number,
};
use crate::limits::Limits;
use crate::page::{push_page, push_welcome};
use crate::upd::{Outcome, Write};

/// What comes after some bytes of a request.
#[derive(Debug)]
pub(super) enum Progress {
    /// Read the next request.
    Next,
    /// Read this request's body.
    Body(Box<Incoming>),
    /// Wait for a write.
    Wait(ResponseOptions),
    /// Close when the answers are out.
    Close,
    /// The same, with bytes of the client unread.
    Linger,
    /// The same, because the client cannot be followed or goes beyond a limit.
    Abort,
}

/// A request whose body is on its way.
#[derive(Debug)]
pub(super) struct Incoming {
    options: ResponseOptions,
    /// The user to update; `None` creates one.
    user: Option<u64>,
    body: Body,
    content: Vec<u8>,
    /// Bytes so far, framing included.
    received: usize,
}

const TOO_LARGE: &str = "413 Content Too Large";

fn too_large(limits: &Limits) -> String {
    format!("a form of over {} bytes", limits.body_bytes)
}

const fn after(options: ResponseOptions) -> Progress {
    if options.keep_alive { Progress::Next } else { Progress::Close }
}

/// Answers bytes that do not become a request.
pub(super) fn refuse_head(error: HeadError, bytes: &[u8], turn: &mut Turn<'_>) -> Progress {
    let status = match error {
        // The request line has not even ended: it is the target that is too long.
        HeadError::TooLong if !bytes.contains(&b'\n') => "414 URI Too Long",
        HeadError::TooLong => "431 Request Header Fields Too Large",
        HeadError::BadCoding => "501 Not Implemented",
        HeadError::Malformed(_) if names_other_version(bytes) => "505 HTTP Version Not Supported",
        _ => "400 Bad Request",
    };
    abort(CLOSING, status, &error.to_string(), turn)
}

/// Answers a client that cannot be followed, or has more to say than is taken: it has to go.
fn abort(options: ResponseOptions, status: &str, sentence: &str, turn: &mut Turn<'_>) -> Progress {
    refuse(ResponseOptions { keep_alive: false, ..options }, status, sentence, turn);
    Progress::Abort
}

/// `GET / HTTP/2.0`: a request line of three words, the last another version's.
fn names_other_version(bytes: &[u8]) -> bool {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let mut words = line.split(|&byte| byte == b' ');
    words.nth(2).is_some_and(|word| word.starts_with(b"HTTP/") && !word.starts_with(b"HTTP/1."))
}

fn refuse(options: ResponseOptions, status: &str, sentence: &str, turn: &mut Turn<'_>) {
    turn.counters.requests += 1;
    let counter =
        if status.starts_with('5') { &mut turn.counters.failed } else { &mut turn.counters.rejected };
    *counter += 1;
    answer(options, turn).sentence(status, &[], sentence);
}

fn answer<'a>(options: ResponseOptions, turn: &'a mut Turn<'_>) -> Answer<'a> {
    Answer { out: &mut turn.out, date: &turn.now.date, options }
}

/// Answers a request, or goes on to its body. `bytes` begins with its head.
pub(super) fn begin(head: &RequestHead<'_>, bytes: &[u8], turn: &mut Turn<'_>) -> Progress {
    let shared = turn.shared;
    let limits = &shared.limits;
    let lines = Lines::read(bytes.get(..head.length).unwrap_or_default());
    if head.length > limits.head_bytes || lines.count > limits.headers {
        return refuse_head(HeadError::TooLong, bytes, turn);
    }
    let mut options = ResponseOptions {
        keep_alive: head.keep_alive,
        http10: lines.http10,
        head_only: head.method == "HEAD",
        html: lines.html,
    };
    let has_body = !matches!(head.framing, Framing::Length(0));
    let route = match problem(head, &lines, limits) {
        Some((status, sentence)) => return reject(options, has_body, status, sentence, turn),
        None => route(head.method, head.path),
    };
    match route {
        Route::Found(Target::Users) => receive(head, &lines, options, None, turn),
        Route::Found(Target::Preferences) => match cookie(head.cookies, b"user").and_then(user_number) {
            Some(user) => receive(head, &lines, options, Some(user), turn),
            None => reject(options, has_body, "403 Forbidden", "no cookie says who you are", turn),
        },
        Route::Found(target) => {
            // Clients send no body with these. One that does is answered, and then its bytes are
            // dropped with the connection.
            options.keep_alive &= !has_body;
            show(target, head, &lines, options, turn);
            if has_body { Progress::Linger } else { after(options) }
        }
        Route::WrongMethod(allowed) => {
            options.keep_alive &= !has_body;
            turn.counters.requests += 1;
            turn.counters.rejected += 1;
            let sentence = format!("not by this method, but by {allowed}");
            answer(options, turn).sentence("405 Method Not Allowed", &[("Allow: ", allowed)], &sentence);
            if has_body { Progress::Linger } else { after(options) }
        }
        Route::NotFound => reject(options, has_body, "404 Not Found", "there is nothing here", turn),
        Route::UnknownMethod => reject(options, has_body, "501 Not Implemented", "an unknown method", turn),
    }
}

/// What is wrong with a request whatever it asks for.
fn problem(
    head: &RequestHead<'_>,
    lines: &Lines<'_>,
    limits: &Limits,
) -> Option<(&'static str, &'static str)> {
    if head.path.len() + head.query.len() > limits.target_bytes {
        return Some(("414 URI Too Long", "a longer target than anything here has"));
    }
    // RFC 9112 section 6.1: a message with HTTP/1.0 and Transfer-Encoding may have passed a proxy that does
    // not know chunks, so that its framing is not to be trusted.
    if lines.http10 && head.framing == Framing::Chunked {
        return Some(("400 Bad Request", "chunks in HTTP/1.0"));
    }
    // RFC 9112 section 3.2: exactly one, but HTTP/1.0 had none.
    let hosts = if lines.http10 { 0..=1 } else { 1..=1 };
    (!hosts.contains(&lines.hosts)).then_some(("400 Bad Request", "not exactly one Host line"))
}

fn reject(
    mut options: ResponseOptions,
    has_body: bool,
    status: &str,
    sentence: &str,
    turn: &mut Turn<'_>,
) -> Progress {
    options.keep_alive &= !has_body;
    refuse(options, status, sentence, turn);
    if has_body { Progress::Linger } else { after(options) }
}

fn show(
    target: Target,
    head: &RequestHead<'_>,
    lines: &Lines<'_>,
    options: ResponseOptions,
    turn: &mut Turn<'_>,
) {
    match target {
        Target::Page => page(head.cookies, options, turn),
        Target::Image(n) => image(n, lines, options, turn),
        _ => match entering(head.query) {
            Some(user) => {
                turn.counters.requests += 1;
                answer(options, turn).entered(user);
            }
            None => refuse(options, "400 Bad Request", "no number of a user; ask for /enter?user=1", turn),
        },
    }
}

fn image(n: usize, lines: &Lines<'_>, options: ResponseOptions, turn: &mut Turn<'_>) {
    turn.counters.requests += 1;
    turn.counters.images += 1;
    let shared = turn.shared;
    let Some(picture) = shared.images.get(n) else { return };
    if lines.if_none_match == Some(picture.tag.as_bytes()) {
        answer(options, turn).not_modified(&picture.tag);
    } else {
        answer(options, turn).image(picture.bytes, &picture.tag);
    }
}

fn page(cookies: &[u8], options: ResponseOptions, turn: &mut Turn<'_>) {
    let Some(user) = cookie(cookies, b"user") else {
        turn.counters.requests += 1;
        answer(options, turn).html("200 OK", |out| push_welcome(out, None));
        return;
    };
    let Turn { people, out, counters, now, .. } = turn;
    counters.requests += 1;
    let start = out.len();
    let shown = match user_number(user) {
        None => Ok(None),
        Some(id) => {
            counters.asp_requests += 1;
            people.show(id, counters, |person| {
                Answer { out, date: &now.date, options }.page(|out| push_page(out, person));
            })
        }
    };
    match shown {
        Ok(Some(())) => turn.counters.pages += 1,
        Ok(None) => {
            let user = String::from_utf8_lossy(user);
            turn.counters.rejected += 1;
            answer(options, turn).html("404 Not Found", |out| push_welcome(out, Some(&user)));
        }
        Err(error) => {
            turn.out.truncate(start);
            turn.counters.failed += 1;
            let sentence = format!("the database cannot be read: {error}");
            answer(options, turn).sentence("500 Internal Server Error", &[], &sentence);
        }
    }
}

/// Goes on to the body of a form.
fn receive(
    head: &RequestHead<'_>,
    lines: &Lines<'_>,
    options: ResponseOptions,
    user: Option<u64>,
    turn: &mut Turn<'_>,
) -> Progress {
    let too_long =
        matches!(head.framing, Framing::Length(length) if length > turn.shared.limits.body_bytes as u64);
    if too_long {
        return abort(options, TOO_LARGE, &too_large(&turn.shared.limits), turn);
    }
    let form = |kind: &[u8]| {
        let kind = kind.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        kind.eq_ignore_ascii_case(b"application/x-www-form-urlencoded")
    };
    if !lines.content_type.is_none_or(form) {
        let sentence = "send application/x-www-form-urlencoded";
        return reject(options, true, "415 Unsupported Media Type", sentence, turn);
    }
    // RFC 9110 section 10.1.1: not to HTTP/1.0 clients.
    if lines.expects && !lines.http10 {
        turn.out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
    }
    let body = Body::new(head.framing);
    Progress::Body(Box::new(Incoming { options, user, body, content: Vec::new(), received: 0 }))
}

impl Incoming {
    /// Takes the next bytes of the body; says how many, and what comes then if that was all.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        id: ConnectionId,
        turn: &mut Turn<'_>,
    ) -> (usize, Option<Progress>) {
        let mut consumed = 0;
        while !self.body.is_done() {
            let rest = bytes.get(consumed..).unwrap_or_default();
            match self.take(rest, &turn.shared.limits) {
                Ok(0) => return (consumed, None),
                Ok(count) => consumed += count,
                Err((status, sentence)) => {
                    return (bytes.len(), Some(abort(self.options, status, &sentence, turn)));
                }
            }
        }
        (consumed, Some(self.submit(id, turn)))
    }

    fn take(&mut self, bytes: &[u8], limits: &Limits) -> Result<usize, (&'static str, String)> {
        let bad = |error: BodyError| ("400 Bad Request", error.to_string());
        let progress = self.body.feed(bytes).map_err(bad)?;
        let (start, end) = progress.content;
        self.content.extend_from_slice(bytes.get(start..end).unwrap_or_default());
        self.received += progress.consumed;
        if self.content.len() > limits.body_bytes || self.received > limits.chunked_bytes() {
            return Err((TOO_LARGE, too_large(limits)));
        }
        Ok(progress.consumed)
    }

    /// The form is all there: hands it to the writer.
    fn submit(&self, id: ConnectionId, turn: &mut Turn<'_>) -> Progress {
        let write = match self.write(turn) {
            Ok(write) => write,
            Err(sentence) => {
                refuse(self.options, "400 Bad Request", &sentence, turn);
                return after(self.options);
            }
        };
        turn.counters.asp_requests += 1;
        if turn.write(id, write) {
            Progress::Wait(self.options)
        } else {
            refuse(self.options, "503 Service Unavailable", "nothing can be stored now", turn);
            after(self.options)
        }
    }

    fn write(&self, turn: &Turn<'_>) -> Result<Write, String> {
        let fields = fields(&self.content, turn.shared.limits.form_fields)
            .map_err(|error| format!("no form: {error}"))?;
        let write = match self.user {
            Some(user) => changes(&fields).map(|changes| Write::Update(user, Box::new(changes))),
            None => newcomer(&fields, turn.now.unix_s).map(|visitor| Write::Create(Box::new(visitor))),
        };
        write.map_err(|error| error.to_string())
    }
}

/// Answers a write that has ended.
pub(super) fn finish(options: ResponseOptions, outcome: Outcome, turn: &mut Turn<'_>) -> Progress {
    match outcome {
        Outcome::Created(id) => {
            turn.counters.requests += 1;
            turn.counters.creates += 1;
            answer(options, turn).created(id);
        }
        Outcome::Updated => {
            turn.counters.requests += 1;
            turn.counters.updates += 1;
            answer(options, turn).updated();
        }
        Outcome::Unknown => refuse(options, "404 Not Found", "there is no such user", turn),
        Outcome::Failed => {
            refuse(
                options,
                "503 Service Unavailable",
                "the change could not be stored; nothing has changed",
                turn,
            );
        }
    }
    after(options)
}
