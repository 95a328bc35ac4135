//! One request and its answer, without the socket.

use http::{Answer, CLOSING, Incoming, ResponseOptions, problem};
use net::ConnectionId;
use wire::http::{Framing, HeadError, RequestHead, cookie};

use super::turn::Turn;
use crate::http::{Lines, Route, Target, answer, changes, entering, fields, newcomer, route, user_number};
use crate::page::{push_page, push_welcome};
use crate::upd::{Outcome, Write};

/// What comes after some bytes of a request.
#[derive(Debug)]
pub(super) enum Progress {
    /// Read the next request.
    Next,
    /// Read this request's body.
    Body(Box<Form>),
    /// Wait for a write.
    Wait { options: ResponseOptions, browser: bool },
    /// Close when the answers are out.
    Close,
    /// The same, with bytes of the client unread.
    Linger,
    /// The same, because the client cannot be followed or goes beyond a limit.
    Abort,
}

/// A form on its way.
#[derive(Debug)]
pub(super) struct Form {
    options: ResponseOptions,
    browser: bool,
    /// The user to update; `None` creates one.
    user: Option<u64>,
    body: Incoming,
}

const fn after(options: ResponseOptions) -> Progress {
    if options.keep_alive { Progress::Next } else { Progress::Close }
}

/// Answers bytes that do not become a request.
pub(super) fn refuse_head(error: HeadError, bytes: &[u8], turn: &mut Turn<'_>) -> Progress {
    abort(CLOSING, http::refusal(error, bytes), &error.to_string(), turn)
}

/// Answers a client that cannot be followed, or has more to say than is taken: it has to go.
fn abort(options: ResponseOptions, status: &str, sentence: &str, turn: &mut Turn<'_>) -> Progress {
    refuse(ResponseOptions { keep_alive: false, ..options }, status, sentence, turn);
    Progress::Abort
}

fn refuse(options: ResponseOptions, status: &str, sentence: &str, turn: &mut Turn<'_>) {
    turn.counters.requests += 1;
    let counter =
        if status.starts_with('5') { &mut turn.counters.failed } else { &mut turn.counters.rejected };
    *counter += 1;
    reply(options, turn).sentence(status, &[], sentence);
}

fn reply<'a>(options: ResponseOptions, turn: &'a mut Turn<'_>) -> Answer<'a> {
    Answer { out: &mut turn.out, date: &turn.now.date, options }
}

/// Answers a request, or goes on to its body.
pub(super) fn begin(
    head: &RequestHead<'_>,
    common: &http::Lines,
    lines: &Lines<'_>,
    turn: &mut Turn<'_>,
) -> Progress {
    let mut options = ResponseOptions {
        keep_alive: head.keep_alive,
        http10: common.http10,
        head_only: head.method == "HEAD",
    };
    let has_body = !matches!(head.framing, Framing::Length(0));
    let route = match problem(head, common, turn.shared.limits.target_bytes) {
        Some((status, sentence)) => return reject(options, has_body, status, sentence, turn),
        None => route(head.method, head.path),
    };
    match route {
        Route::Found(Target::Users) => receive(head, common, lines, options, None, turn),
        Route::Found(Target::Preferences) => match cookie(head.cookies, b"user").and_then(user_number) {
            Some(user) => receive(head, common, lines, options, Some(user), turn),
            None => reject(options, has_body, "403 Forbidden", "no cookie says who you are", turn),
        },
        Route::Found(target) => {
            // Clients send no body with these. One that does is answered, and then its bytes are
            // dropped with the connection.
            options.keep_alive &= !has_body;
            show(target, head, lines, options, turn);
            if has_body { Progress::Linger } else { after(options) }
        }
        Route::WrongMethod(allowed) => {
            options.keep_alive &= !has_body;
            turn.counters.requests += 1;
            turn.counters.rejected += 1;
            let sentence = format!("not by this method, but by {allowed}");
            reply(options, turn).sentence("405 Method Not Allowed", &[("Allow: ", allowed)], &sentence);
            if has_body { Progress::Linger } else { after(options) }
        }
        Route::NotFound => reject(options, has_body, "404 Not Found", "there is nothing here", turn),
        Route::UnknownMethod => reject(options, has_body, "501 Not Implemented", "an unknown method", turn),
    }
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
                answer::entered(&mut reply(options, turn), user);
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
        answer::not_modified(&mut reply(options, turn), &picture.tag);
    } else {
        answer::image(&mut reply(options, turn), picture.bytes, &picture.tag);
    }
}

fn page(cookies: &[u8], options: ResponseOptions, turn: &mut Turn<'_>) {
    let Some(user) = cookie(cookies, b"user") else {
        turn.counters.requests += 1;
        answer::html(&mut reply(options, turn), "200 OK", |out| push_welcome(out, None));
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
                let mut reply = Answer { out, date: &now.date, options };
                answer::page(&mut reply, |out| push_page(out, person));
            })
        }
    };
    match shown {
        Ok(Some(())) => turn.counters.pages += 1,
        Ok(None) => {
            let user = String::from_utf8_lossy(user);
            turn.counters.rejected += 1;
            answer::html(&mut reply(options, turn), "404 Not Found", |out| push_welcome(out, Some(&user)));
        }
        Err(error) => {
            turn.out.truncate(start);
            turn.counters.failed += 1;
            let sentence = format!("the database cannot be read: {error}");
            reply(options, turn).sentence("500 Internal Server Error", &[], &sentence);
        }
    }
}

/// Goes on to the body of a form.
fn receive(
    head: &RequestHead<'_>,
    common: &http::Lines,
    lines: &Lines<'_>,
    options: ResponseOptions,
    user: Option<u64>,
    turn: &mut Turn<'_>,
) -> Progress {
    let body = match Incoming::new(head.framing, turn.shared.limits.body_bytes) {
        Ok(body) => body,
        Err((status, sentence)) => return abort(options, status, &sentence, turn),
    };
    let form = |kind: &[u8]| {
        let kind = kind.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        kind.eq_ignore_ascii_case(b"application/x-www-form-urlencoded")
    };
    if !lines.content_type.is_none_or(form) {
        let sentence = "send application/x-www-form-urlencoded";
        return reject(options, true, "415 Unsupported Media Type", sentence, turn);
    }
    // RFC 9110 section 10.1.1: not to HTTP/1.0 clients.
    if common.expects && !common.http10 {
        turn.out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
    }
    Progress::Body(Box::new(Form { options, browser: lines.html, user, body }))
}

impl Form {
    /// Takes the next bytes of the body; says how many, and what comes then if that was all.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        id: ConnectionId,
        turn: &mut Turn<'_>,
    ) -> (usize, Option<Progress>) {
        match self.body.feed(bytes, turn.shared.limits.body_bytes) {
            Ok(consumed) => (consumed, self.body.is_done().then(|| self.submit(id, turn))),
            Err((status, sentence)) => (bytes.len(), Some(abort(self.options, status, &sentence, turn))),
        }
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
            Progress::Wait { options: self.options, browser: self.browser }
        } else {
            refuse(self.options, "503 Service Unavailable", "nothing can be stored now", turn);
            after(self.options)
        }
    }

    fn write(&self, turn: &Turn<'_>) -> Result<Write, String> {
        let fields = fields(self.body.content(), turn.shared.limits.form_fields)
            .map_err(|error| format!("no form: {error}"))?;
        let write = match self.user {
            Some(user) => changes(&fields).map(|changes| Write::Update(user, Box::new(changes))),
            None => newcomer(&fields, turn.now.unix_s).map(|visitor| Write::Create(Box::new(visitor))),
        };
        write.map_err(|error| error.to_string())
    }
}

/// Answers a write that has ended.
pub(super) fn finish(
    options: ResponseOptions,
    browser: bool,
    outcome: Outcome,
    turn: &mut Turn<'_>,
) -> Progress {
    match outcome {
        Outcome::Created(id) => {
            turn.counters.requests += 1;
            turn.counters.creates += 1;
            answer::created(&mut reply(options, turn), id, browser);
        }
        Outcome::Updated => {
            turn.counters.requests += 1;
            turn.counters.updates += 1;
            answer::updated(&mut reply(options, turn), browser);
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
