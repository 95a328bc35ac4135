//! Answers requests, without the socket.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use http::{App, Progress, Received, ResponseOptions, Then, origin_form};
use net::ConnectionId;
use wire::http::query;
use wire::http::unescape;

use super::Shared;
use super::rest::Rest;
use crate::cgi::{Fault, Job, Output, Variables, program};
use crate::dynamic::{PARSED_PAGE, TEMPLATES, Templates, Text, expand};
use crate::files::{Conditions, Missing, OpenFiles, OpenedFile, Verdict, beneath};
use crate::stats::{Counters, Published};

type Turn<'t> = http::Turn<Web<'t>>;
type Request<'a> = http::Request<'a, Conditions<'a>>;

/// The default of `?size=`: the constant answer of paper 001.
const TEXT_BYTES: usize = 6_250;

/// The state of the server on one thread.
pub(super) struct Web<'t> {
    shared: &'t Shared,
    files: Option<OpenFiles>,
    /// The queue of requests for CGI programs, if programs are configured.
    jobs: Option<SyncSender<Job>>,
    published: &'t Published,
    /// A buffer for bodies of unknown length.
    scratch: Vec<u8>,
    /// The number of the next random text.
    text: u64,
}

impl<'t> Web<'t> {
    pub(super) fn new(shared: &'t Shared, jobs: Option<SyncSender<Job>>, published: &'t Published) -> Self {
        let files = shared.root.as_ref().map(|root| OpenFiles::new(root.clone(), shared.limits.open_files));
        Self { shared, files, jobs, published, scratch: Vec::new(), text: 0 }
    }
}

impl App for Web<'_> {
    type Lines<'a> = Conditions<'a>;
    type Form = Job;
    /// Whether the client has sent its last byte.
    type Waiting = Arc<AtomicBool>;
    type Outcome = Result<Output, Fault>;
    type Outgoing = Box<Rest>;
    type Counters = Counters;

    #[inline]
    fn begin(request: &Request<'_>, turn: &mut http::Turn<Self>) -> Progress<Self> {
        let path = origin_form(request.head.path);
        if let Some(rest) = path.strip_prefix("/cgi-bin/") {
            return cgi(request, path, rest, turn);
        }
        match request.head.method {
            "GET" | "HEAD" => match path.strip_prefix("/dynamic/") {
                Some(kind) => dynamic(kind, request, turn),
                None => file(path, &request.own, request.options, turn),
            },
            _ => turn.wrong_method(request.options, "GET, HEAD"),
        }
    }

    /// Hands the request, now with its body, to the CGI program.
    fn submit(received: Received<Self>, _: ConnectionId, turn: &mut http::Turn<Self>) -> Progress<Self> {
        let Received { options, form: mut job, body } = received;
        job.body = body.into_content();
        job.variables.add_length(job.body.len());
        submit(job, options, turn)
    }

    fn finish(
        options: ResponseOptions,
        _: Arc<AtomicBool>,
        outcome: Result<Output, Fault>,
        turn: &mut http::Turn<Self>,
    ) -> Progress<Self> {
        let output = match outcome {
            Ok(output) => output,
            Err(fault) => {
                let status = fault.status();
                turn.counters.cgi_failed += u64::from(status.starts_with("502") || status.starts_with("504"));
                return turn.refuse(options, status, &[], &fault.to_string());
            }
        };
        turn.counters.requests += 1;
        turn.counters.cgi += 1;
        let mut answer = turn.reply(options);
        answer.head(output.status(), &[]);
        answer.out.extend_from_slice(output.lines());
        match output.document() {
            Some(document) => answer.length(document.len() as u64),
            None => {
                answer.end();
                return Progress::Done(Then::after(options));
            }
        }
        send(Rest::Output { output, at: 0 }, options, turn)
    }

    fn client_ended(ended: &Arc<AtomicBool>) {
        ended.store(true, Relaxed);
    }

    #[inline]
    fn end_turn(&mut self, counters: &mut Counters) {
        self.published.take(counters);
    }
}

#[inline]
fn file<'t>(
    path: &str,
    conditions: &Conditions<'_>,
    options: ResponseOptions,
    turn: &mut Turn<'t>,
) -> Progress<Web<'t>> {
    try_file(path, conditions, options, turn).unwrap_or_else(|missing| {
        let (status, sentence) = missing.answer();
        turn.refuse(options, status, &[], sentence)
    })
}

#[inline]
fn try_file<'t>(
    path: &str,
    conditions: &Conditions<'_>,
    options: ResponseOptions,
    turn: &mut Turn<'t>,
) -> Result<Progress<Web<'t>>, Missing> {
    let name = beneath(path, turn.app.shared.hidden)?;
    // The decoded path is tested. A CGI program is not sent as a file, even if `cgi-bin` is a folder of the
    // docroot.
    if name.starts_with(b"cgi-bin/") {
        return Err(Missing::NotFound);
    }
    // A file that has been truncated since it was opened is opened again once.
    for _ in 0..2 {
        let files = turn.app.files.as_mut().ok_or(Missing::NotFound)?;
        let Some(file) = files.find(&name, turn.now.ms)? else {
            return Ok(to_folder(path, options, turn));
        };
        let start = turn.out.len();
        let sent = if file.is_parsed {
            page(&file, options, turn)
        } else {
            send_file(&file, conditions, options, turn)
        };
        if let Some(progress) = sent {
            return Ok(progress);
        }
        turn.out.truncate(start);
        if let Some(files) = &mut turn.app.files {
            files.forget(&file);
        }
    }
    Err(Missing::Failed)
}

/// Redirects to the path with a trailing slash, which is the base of the relative links in the folder's page.
fn to_folder<'t>(path: &str, options: ResponseOptions, turn: &mut Turn<'t>) -> Progress<Web<'t>> {
    // Two leading slashes would make a network-path reference to another server (RFC 3986 section 4.2).
    let location = format!("/{}/", path.trim_start_matches('/'));
    turn.refuse(options, "301 Moved Permanently", &[("Location: ", &location)], "a folder")
}

/// Answers with a file, a range of a file, or 304 Not Modified; `None` if the file cannot be read.
#[inline]
fn send_file<'t>(
    file: &Rc<OpenedFile>,
    conditions: &Conditions<'_>,
    options: ResponseOptions,
    turn: &mut Turn<'t>,
) -> Option<Progress<Web<'t>>> {
    let size = file.size;
    let lines = [
        ("Content-Type: ", file.content_type),
        ("Last-Modified: ", &file.modified),
        ("ETag: ", &file.tag),
        ("Accept-Ranges: ", "bytes"),
    ];
    let mut answer = turn.reply(options);
    let range = match conditions.judge(file, options.head_only) {
        Verdict::Whole => {
            answer.head("200 OK", &lines);
            0..size
        }
        Verdict::Part(range) => {
            answer.head("206 Partial Content", &lines);
            let sent = format!("bytes {}-{}/{size}", range.start, range.end - 1);
            answer.lines(&[("Content-Range: ", &sent)]);
            range
        }
        Verdict::NotModified => {
            answer.head("304 Not Modified", &[("ETag: ", &file.tag)]);
            answer.end();
            turn.counters.requests += 1;
            turn.counters.not_modified += 1;
            return Some(Progress::Done(Then::after(options)));
        }
        Verdict::Failed => {
            let sentence = "the file is another one than the request means";
            return Some(turn.refuse(options, "412 Precondition Failed", &[], sentence));
        }
        Verdict::Unsatisfiable => {
            let (all, sentence) = (format!("bytes */{size}"), "the file has no such bytes");
            let extra = [("Content-Range: ", all.as_str())];
            return Some(turn.refuse(options, "416 Range Not Satisfiable", &extra, sentence));
        }
    };
    answer.length(range.end - range.start);
    let mut rest = Rest::File { file: Rc::clone(file), at: range.start, end: range.end };
    let is_done = options.head_only || rest.push(&mut turn.out).ok()?;
    turn.counters.requests += 1;
    turn.counters.files += 1;
    Some(after_piece(rest, is_done, options))
}

/// Begins an answer with a body that is generated in the process.
fn begin_generated(kind: &str, length: u64, options: ResponseOptions, turn: &mut Turn<'_>) {
    turn.counters.requests += 1;
    let mut answer = turn.reply(options);
    answer.head("200 OK", &[("Content-Type: ", kind)]);
    answer.length(length);
}

/// Sends the first piece of a body. The body is not read from a file, so appending a piece cannot fail.
fn send<'t>(mut rest: Rest, options: ResponseOptions, turn: &mut Turn<'t>) -> Progress<Web<'t>> {
    let is_done = options.head_only || rest.push(&mut turn.out).unwrap_or(true);
    after_piece(rest, is_done, options)
}

fn after_piece<'t>(rest: Rest, is_done: bool, options: ResponseOptions) -> Progress<Web<'t>> {
    if is_done {
        Progress::Done(Then::after(options))
    } else {
        Progress::Send(Box::new(rest), Then::after(options))
    }
}

/// Answers with a parsed page; `None` if its file cannot be read.
fn page<'t>(file: &OpenedFile, options: ResponseOptions, turn: &mut Turn<'t>) -> Option<Progress<Web<'t>>> {
    let most = turn.app.shared.limits.page_bytes;
    if file.size > most as u64 {
        let sentence = format!("a page of over {most} bytes is not parsed");
        return Some(turn.refuse(options, "500 Internal Server Error", &[], &sentence));
    }
    let mut source = Vec::new();
    while (source.len() as u64) < file.size {
        let at = source.len() as u64;
        let read = file.push(&mut source, at, file.size, most).ok()?;
        if read == 0 {
            return None;
        }
    }
    Some(send_page(&source, options, turn))
}

fn send_page<'t>(source: &[u8], options: ResponseOptions, turn: &mut Turn<'t>) -> Progress<Web<'t>> {
    turn.counters.pages += 1;
    let unix_s = turn.now.unix_s;
    send_generated("text/html", options, turn, |page| expand(source, unix_s, page))
}

/// Answers with a body that `write` generates in one call.
fn send_generated<'t>(
    kind: &str,
    options: ResponseOptions,
    turn: &mut Turn<'t>,
    write: impl FnOnce(&mut Vec<u8>),
) -> Progress<Web<'t>> {
    let mut page = std::mem::take(&mut turn.app.scratch);
    page.clear();
    write(&mut page);
    begin_generated(kind, page.len() as u64, options, turn);
    let mut rest = Rest::Page { page, at: 0 };
    let is_done = options.head_only || rest.push(&mut turn.out).unwrap_or(true);
    match rest {
        Rest::Page { page, .. } if is_done => {
            turn.app.scratch = page;
            Progress::Done(Then::after(options))
        }
        rest => after_piece(rest, is_done, options),
    }
}

/// Answers with a body generated in the process.
fn dynamic<'t>(kind: &str, request: &Request<'_>, turn: &mut Turn<'t>) -> Progress<Web<'t>> {
    let options = request.options;
    match kind {
        "constant" | "random" => {
            let most = turn.app.shared.limits.dynamic_bytes;
            let Some(length) = size(request.head.query).filter(|length| *length <= most) else {
                let sentence = format!("size takes 0 to {most}");
                return turn.refuse(options, "400 Bad Request", &[], &sentence);
            };
            let text = if kind == "random" {
                turn.app.text += 1;
                Text::random(length, turn.app.text - 1)
            } else {
                Text::constant(length)
            };
            turn.counters.in_process += 1;
            let media = if kind == "constant" { "text/html" } else { "text/plain" };
            begin_generated(media, length as u64, options, turn);
            send(Rest::Text(text), options, turn)
        }
        "env" => {
            turn.counters.in_process += 1;
            let variables = variables(request, "/dynamic/env", &[], turn.app.shared);
            send_generated("text/plain", options, turn, |text| variables.push(text))
        }
        "page.shtml" => send_page(&PARSED_PAGE, options, turn),
        _ => {
            let number = kind.strip_prefix("template/").and_then(digits).filter(|number| *number < TEMPLATES);
            let Some(number) = number else { return turn.not_found(options) };
            turn.counters.templates += 1;
            begin_generated("text/html", Templates::LENGTH as u64, options, turn);
            if !options.head_only {
                turn.app.shared.templates.push(number, turn.now.unix_s, &mut turn.out);
            }
            Progress::Done(Then::after(options))
        }
    }
}

/// The `size` parameter of a query, or its default; `None` if the value is not a number.
fn size(text: &str) -> Option<usize> {
    match query(text.as_bytes(), b"size") {
        None => Some(TEXT_BYTES),
        Some(number) => digits(std::str::from_utf8(number).ok()?),
    }
}

fn digits(text: &str) -> Option<usize> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

fn variables(request: &Request<'_>, script: &str, path_info: &[u8], shared: &Shared) -> Variables {
    let site = (shared.host.as_str(), shared.port, shared.secure);
    Variables::new(request, script, path_info, site)
}

/// Hands a request to a CGI program, or first receives the request's body.
fn cgi<'t>(request: &Request<'_>, path: &str, rest: &str, turn: &mut Turn<'t>) -> Progress<Web<'t>> {
    let (head, options) = (&request.head, request.options);
    if turn.app.jobs.is_none() {
        return turn.not_found(options);
    }
    if !matches!(head.method, "GET" | "HEAD" | "POST") {
        return turn.wrong_method(options, "GET, HEAD, POST");
    }
    let Some((name, path_info)) = program(rest) else {
        return turn.not_found(options);
    };
    let Some(path_info) = unescape(path_info.bytes()).filter(|path| !path.contains(&0)) else {
        return turn.refuse(options, "400 Bad Request", &[], "a path that cannot be decoded");
    };
    let script = path.get(..path.len() - rest.len() + name.len()).unwrap_or_default();
    let variables = variables(request, script, &path_info, turn.app.shared);
    let job = Job {
        ticket: request.id,
        program: name.to_owned(),
        variables,
        body: Vec::new(),
        ended: Arc::default(),
        since: Instant::now(),
    };
    if request.has_body { request.receive(job, turn) } else { submit(job, options, turn) }
}

fn submit<'t>(job: Job, options: ResponseOptions, turn: &mut Turn<'t>) -> Progress<Web<'t>> {
    let ended = Arc::clone(&job.ended);
    let sent = turn.app.jobs.as_ref().is_some_and(|jobs| jobs.try_send(job).is_ok());
    if sent { Progress::Wait(options, ended) } else { Web::finish(options, ended, Err(Fault::Busy), turn) }
}
