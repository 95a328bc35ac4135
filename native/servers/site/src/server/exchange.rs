//! Answers requests, without the socket.

use std::convert::Infallible;
use std::sync::mpsc::Sender;

use http::{Answer, App, Progress, Received, ResponseOptions, Then};
use net::ConnectionId;
use wire::http::cookie;

use super::Shared;
use crate::http::{Lines, Route, Target, answer, changes, entering, fields, newcomer, route, user_number};
use crate::image::IMAGES;
use crate::page::{push_page, push_welcome};
use crate::people_cache::PeopleCache;
use crate::stats::{Counters, Published};
use crate::upd::{Job, Outcome, Write};

type Turn<'t> = http::Turn<Site<'t>>;
type Request<'a> = http::Request<'a, Lines<'a>>;

/// The state of the site on one thread.
pub(super) struct Site<'t> {
    shared: &'t Shared,
    people: PeopleCache<'t>,
    writes: Sender<Job>,
    published: &'t Published,
}

/// A form whose body is being received.
#[derive(Debug)]
pub(super) struct Form {
    /// Whether the client is a browser, which gets other answers than a program.
    browser: bool,
    /// The user to update; `None` creates a new user.
    user: Option<u64>,
}

impl<'t> Site<'t> {
    pub(super) fn new(
        shared: &'t Shared,
        people: PeopleCache<'t>,
        writes: Sender<Job>,
        published: &'t Published,
    ) -> Self {
        Self { shared, people, writes, published }
    }
}

impl App for Site<'_> {
    type Lines<'a> = Lines<'a>;
    type Form = Form;
    /// Whether the client is a browser.
    type Waiting = bool;
    type Outcome = Outcome;
    type Outgoing = Infallible;
    type Counters = Counters;

    #[inline]
    fn begin(request: &Request<'_>, turn: &mut http::Turn<Self>) -> Progress<Self> {
        let (head, options) = (&request.head, request.options);
        match route(head.method, head.path) {
            Route::Found(Target::Users) => receive(request, None, turn),
            Route::Found(Target::Preferences) => match cookie(head.cookies, b"user").and_then(user_number) {
                Some(user) => receive(request, Some(user), turn),
                None => turn.refuse(options, "403 Forbidden", &[], "no cookie says who you are"),
            },
            Route::Found(target) => show(target, request, turn),
            Route::WrongMethod(allowed) => turn.wrong_method(options, allowed),
            Route::NotFound => turn.not_found(options),
        }
    }

    /// Hands the form to the writer.
    fn submit(received: Received<Self>, id: ConnectionId, turn: &mut http::Turn<Self>) -> Progress<Self> {
        let Received { options, form, body } = received;
        let write = match write(&form, body.content(), turn) {
            Ok(write) => write,
            Err(sentence) => return turn.refuse(options, "400 Bad Request", &[], &sentence),
        };
        turn.counters.asp_requests += 1;
        if turn.app.writes.send(Job { ticket: id, write }).is_err() {
            return turn.refuse(options, "503 Service Unavailable", &[], "nothing can be stored now");
        }
        Progress::Wait(options, form.browser)
    }

    fn finish(
        options: ResponseOptions,
        browser: bool,
        outcome: Outcome,
        turn: &mut http::Turn<Self>,
    ) -> Progress<Self> {
        match outcome {
            Outcome::Created(id) => {
                turn.counters.requests += 1;
                turn.counters.creates += 1;
                answer::created(&mut turn.reply(options), id, browser);
            }
            Outcome::Updated => {
                turn.counters.requests += 1;
                turn.counters.updates += 1;
                answer::updated(&mut turn.reply(options), browser);
            }
            Outcome::Unknown => return turn.refuse(options, "404 Not Found", &[], "there is no such user"),
            Outcome::Failed => {
                let sentence = "the change could not be stored; nothing has changed";
                return turn.refuse(options, "503 Service Unavailable", &[], sentence);
            }
        }
        Progress::Done(Then::after(options))
    }

    #[inline]
    fn end_turn(&mut self, counters: &mut Counters) {
        self.people.release();
        self.published.take(counters);
    }
}

fn show<'t>(target: Target, request: &Request<'_>, turn: &mut Turn<'t>) -> Progress<Site<'t>> {
    let options = request.options;
    match target {
        Target::Page => page(request.head.cookies, options, turn),
        Target::Image(n) => image(n, &request.own, options, turn),
        _ => match entering(request.head.query) {
            Some(user) => {
                turn.counters.requests += 1;
                answer::entered(&mut turn.reply(options), user);
            }
            None => {
                let sentence = "no number of a user; ask for /enter?user=1";
                return turn.refuse(options, "400 Bad Request", &[], sentence);
            }
        },
    }
    Progress::Done(Then::after(options))
}

fn image(n: usize, lines: &Lines<'_>, options: ResponseOptions, turn: &mut Turn<'_>) {
    turn.counters.requests += 1;
    turn.counters.images += 1;
    let (Some(bytes), Some(tag)) = (IMAGES.get(n), turn.app.shared.image_tags.get(n)) else { return };
    if lines.if_none_match == Some(tag.as_bytes()) {
        answer::not_modified(&mut turn.reply(options), tag);
    } else {
        answer::image(&mut turn.reply(options), *bytes, tag);
    }
}

fn page(cookies: &[u8], options: ResponseOptions, turn: &mut Turn<'_>) {
    let Some(user) = cookie(cookies, b"user") else {
        turn.counters.requests += 1;
        answer::html(&mut turn.reply(options), "200 OK", |out| push_welcome(out, None));
        return;
    };
    let Turn { app: Site { people, .. }, out, counters, now, .. } = turn;
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
            answer::html(&mut turn.reply(options), "404 Not Found", |out| push_welcome(out, Some(&user)));
        }
        Err(error) => {
            turn.out.truncate(start);
            turn.counters.failed += 1;
            let sentence = format!("the database cannot be read: {error}");
            turn.reply(options).sentence("500 Internal Server Error", &[], &sentence);
        }
    }
}

/// Begins to receive the body of a form.
fn receive<'t>(request: &Request<'_>, user: Option<u64>, turn: &mut Turn<'t>) -> Progress<Site<'t>> {
    let form = |kind: &[u8]| {
        let kind = kind.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        kind.eq_ignore_ascii_case(b"application/x-www-form-urlencoded")
    };
    if !request.own.content_type.is_none_or(form) {
        let sentence = "send application/x-www-form-urlencoded";
        return turn.refuse(request.options, "415 Unsupported Media Type", &[], sentence);
    }
    request.receive(Form { browser: request.own.html, user }, turn)
}

/// The write that a form requests.
fn write(form: &Form, body: &[u8], turn: &Turn<'_>) -> Result<Write, String> {
    let fields =
        fields(body, turn.app.shared.limits.form_fields).map_err(|error| format!("no form: {error}"))?;
    let write = match form.user {
        Some(user) => changes(&fields).map(|changes| Write::Update(user, Box::new(changes))),
        None => newcomer(&fields, turn.now.unix_s).map(|visitor| Write::Create(Box::new(visitor))),
    };
    write.map_err(|error| error.to_string())
}
