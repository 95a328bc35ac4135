//! One request and its answer, without the socket.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::mpsc::TrySendError;

use http::{
    Answer, CLOSING, Incoming, Lines, ResponseOptions, is_known_method, origin_form, problem, unescape,
};
use net::ConnectionId;
use wire::http::{Framing, HeadError, RequestHead, query};

use super::rest::Rest;
use super::turn::Turn;
use crate::cgi::{Described, Fault, Job, Output, Variables, program};
use crate::dynamic::{PARSED_PAGE, TEMPLATES, Templates, Text, expand};
use crate::files::{Conditions, Found, Missing, OpenedFile, PathError, Verdict, beneath};

/// What comes after some bytes of a request.
pub(super) enum Progress {
    /// Read this request's body.
    Body(Box<Form>),
    /// Wait for a program.
    Wait(ResponseOptions),
    /// Go on with the body of the answer.
    Send(Box<Rest>, Then),
    /// The answer is out.
    Done(Then),
    /// The client cannot be followed or goes beyond a limit: send it away.
    Abort,
}

/// What comes after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// Read the next request.
    Next,
    /// Close.
    Close,
    /// The same, with bytes of the client unread.
    Linger,
}

/// A request for a program whose body is on its way.
pub(super) struct Form {
    options: ResponseOptions,
    job: Job,
    body: Incoming,
}

/// A request, and all that is known of it.
pub(super) struct Request<'a> {
    pub(super) head: RequestHead<'a>,
    pub(super) common: Lines,
    pub(super) conditions: Conditions<'a>,
    /// What the client sent, from the head on.
    pub(super) bytes: &'a [u8],
    pub(super) id: ConnectionId,
    pub(super) from: IpAddr,
}

/// In-process text without `?size=`: the constant answer of paper 001.
const TEXT_BYTES: usize = 6_250;

const fn after(options: ResponseOptions) -> Then {
    if options.keep_alive { Then::Next } else { Then::Close }
}

/// Answers bytes that do not become a request.
pub(super) fn refuse_head(error: HeadError, bytes: &[u8], turn: &mut Turn<'_>) -> Progress {
    abort(CLOSING, http::refusal(error, bytes), &error.to_string(), turn)
}

/// Answers a client that cannot be followed, or has more to say than is taken: it has to go.
fn abort(options: ResponseOptions, status: &str, sentence: &str, turn: &mut Turn<'_>) -> Progress {
    refuse(ResponseOptions { keep_alive: false, ..options }, status, &[], sentence, turn);
    Progress::Abort
}

fn refuse(
    options: ResponseOptions,
    status: &str,
    extra: &[(&str, &str)],
    sentence: &str,
    turn: &mut Turn<'_>,
) -> Progress {
    turn.counters.requests += 1;
    match status.as_bytes().first() {
        Some(b'4') => turn.counters.rejected += 1,
        Some(b'5') => turn.counters.failed += 1,
        _ => {}
    }
    reply(options, turn).sentence(status, extra, sentence);
    Progress::Done(after(options))
}

fn reply<'a>(options: ResponseOptions, turn: &'a mut Turn<'_>) -> Answer<'a> {
    Answer { out: &mut turn.out, date: &turn.now.date, options }
}

/// Answers a request, or goes on to its body or to a program.
#[inline]
pub(super) fn begin(request: &Request<'_>, turn: &mut Turn<'_>) -> Progress {
    let Request { head, common, .. } = request;
    let mut options = ResponseOptions {
        keep_alive: head.keep_alive,
        http10: common.http10,
        head_only: head.method == "HEAD",
    };
    let problem = problem(head, common, turn.shared.limits.target_bytes);
    let path = origin_form(head.path);
    if problem.is_none()
        && let Some(rest) = path.strip_prefix("/cgi-bin/")
    {
        return cgi(request, path, rest, options, turn);
    }
    // Nothing else takes a body. A client that sends one is answered, and then its bytes are dropped with
    // the connection.
    let has_body = head.framing != Framing::Length(0);
    options.keep_alive &= !has_body;
    let progress = match (problem, head.method) {
        (Some((status, sentence)), _) => refuse(options, status, &[], sentence, turn),
        (None, "GET" | "HEAD") => match path.strip_prefix("/dynamic/") {
            Some(kind) => dynamic(kind, request, options, turn),
            None => file(path, &request.conditions, options, turn),
        },
        (None, method) => wrong_method(method, "GET, HEAD", options, turn),
    };
    match progress {
        Progress::Done(_) if has_body => Progress::Done(Then::Linger),
        Progress::Send(rest, _) if has_body => Progress::Send(rest, Then::Linger),
        progress => progress,
    }
}

fn wrong_method(method: &str, allowed: &str, options: ResponseOptions, turn: &mut Turn<'_>) -> Progress {
    if !is_known_method(method) {
        return refuse(options, "501 Not Implemented", &[], "an unknown method", turn);
    }
    let sentence = format!("not by this method, but by {allowed}");
    refuse(options, "405 Method Not Allowed", &[("Allow: ", allowed)], &sentence, turn)
}

/// Answers with a file.
#[inline]
fn file(path: &str, conditions: &Conditions<'_>, options: ResponseOptions, turn: &mut Turn<'_>) -> Progress {
    let name = match beneath(path) {
        Ok(name) => name,
        Err(PathError::Nothing) => return not_found(options, turn),
        Err(PathError::Malformed) => {
            return refuse(options, "400 Bad Request", &[], "a path that cannot be decoded", turn);
        }
    };
    // However it is spelled, no program is shown as a file: the folder may be one of the docroot's.
    if name.starts_with(b"cgi-bin/") {
        return not_found(options, turn);
    }
    // A file that became shorter between its opening and now is opened again, once.
    for _ in 0..2 {
        let found = match &mut turn.files {
            Some(files) => files.find(&name, turn.now.ms),
            None => Err(Missing::NotFound),
        };
        let file = match found {
            Ok(Found::File(file)) => file,
            Ok(Found::Folder) => return to_folder(path, options, turn),
            Err(Missing::NotFound) => return not_found(options, turn),
            Err(Missing::Forbidden) => {
                return refuse(options, "403 Forbidden", &[], "this file may not be read", turn);
            }
            Err(Missing::Busy) => {
                let sentence = "no file can be opened now, try again later";
                return refuse(options, "503 Service Unavailable", &[], sentence, turn);
            }
            Err(Missing::Failed) => break,
        };
        let start = turn.out.len();
        let sent = if file.is_parsed {
            page(&file, options, turn)
        } else {
            send_file(&file, conditions, options, turn)
        };
        if let Some(progress) = sent {
            return progress;
        }
        turn.out.truncate(start);
        if let Some(files) = &mut turn.files {
            files.forget(&file);
        }
    }
    refuse(options, "500 Internal Server Error", &[], "the file cannot be read", turn)
}

fn not_found(options: ResponseOptions, turn: &mut Turn<'_>) -> Progress {
    refuse(options, "404 Not Found", &[], "there is nothing here", turn)
}

/// Sends the client to the path with a slash behind it, to which the links of the folder's page refer.
fn to_folder(path: &str, options: ResponseOptions, turn: &mut Turn<'_>) -> Progress {
    // Two slashes in front would begin the name of another server.
    let location = format!("/{}/", path.trim_start_matches('/'));
    refuse(options, "301 Moved Permanently", &[("Location: ", &location)], "a folder", turn)
}

/// Answers with a file, or a part of it, or the news that the client has it; `None` where it cannot be read.
#[inline]
fn send_file(
    file: &Rc<OpenedFile>,
    conditions: &Conditions<'_>,
    options: ResponseOptions,
    turn: &mut Turn<'_>,
) -> Option<Progress> {
    let size = file.size;
    let lines = [
        ("Content-Type: ", file.content_type),
        ("Last-Modified: ", &file.modified),
        ("ETag: ", &file.tag),
        ("Accept-Ranges: ", "bytes"),
    ];
    let mut answer = reply(options, turn);
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
            return Some(Progress::Done(after(options)));
        }
        Verdict::Failed => {
            let sentence = "the file is another one than the request means";
            return Some(refuse(options, "412 Precondition Failed", &[], sentence, turn));
        }
        Verdict::Unsatisfiable => {
            let (all, sentence) = (format!("bytes */{size}"), "the file has no such bytes");
            let extra = [("Content-Range: ", all.as_str())];
            return Some(refuse(options, "416 Range Not Satisfiable", &extra, sentence, turn));
        }
    };
    answer.length(range.end - range.start);
    let mut rest = Rest::File { file: Rc::clone(file), at: range.start, end: range.end };
    let is_done = options.head_only || rest.push(&mut turn.out).ok()?;
    turn.counters.requests += 1;
    turn.counters.files += 1;
    Some(sent(rest, is_done, options))
}

fn sent(rest: Rest, is_done: bool, options: ResponseOptions) -> Progress {
    if is_done { Progress::Done(after(options)) } else { Progress::Send(Box::new(rest), after(options)) }
}

/// Answers with a page, parsed; `None` where it cannot be read.
fn page(file: &OpenedFile, options: ResponseOptions, turn: &mut Turn<'_>) -> Option<Progress> {
    let most = turn.shared.limits.page_bytes;
    if file.size > most as u64 {
        let sentence = format!("a page of over {most} bytes is not parsed");
        return Some(refuse(options, "500 Internal Server Error", &[], &sentence, turn));
    }
    let mut source = Vec::new();
    while (source.len() as u64) < file.size {
        let at = source.len() as u64;
        let read = file.push(&mut source, at, file.size, most).ok()?;
        if read == 0 {
            return None;
        }
    }
    Some(parsed(&source, options, turn))
}

fn parsed(source: &[u8], options: ResponseOptions, turn: &mut Turn<'_>) -> Progress {
    turn.counters.pages += 1;
    let unix_s = turn.now.unix_s;
    made("text/html", options, turn, |page| expand(source, unix_s, page))
}

/// Answers with a body that `write` makes as a whole.
fn made(
    kind: &str,
    options: ResponseOptions,
    turn: &mut Turn<'_>,
    write: impl FnOnce(&mut Vec<u8>),
) -> Progress {
    let mut page = std::mem::take(&mut turn.scratch);
    page.clear();
    write(&mut page);
    turn.counters.requests += 1;
    let mut answer = reply(options, turn);
    answer.head("200 OK", &[("Content-Type: ", kind)]);
    answer.length(page.len() as u64);
    let mut rest = Rest::Page { page, at: 0 };
    let is_done = options.head_only || rest.push(&mut turn.out).unwrap_or(true);
    match rest {
        Rest::Page { page, .. } if is_done => {
            turn.scratch = page;
            Progress::Done(after(options))
        }
        rest => sent(rest, is_done, options),
    }
}

/// Answers with what is made in the process.
fn dynamic(kind: &str, request: &Request<'_>, options: ResponseOptions, turn: &mut Turn<'_>) -> Progress {
    match kind {
        "constant" | "random" => {
            let most = turn.shared.limits.dynamic_bytes;
            let Some(length) = size(request.head.query).filter(|length| *length <= most) else {
                let sentence = format!("size takes 0 to {most}");
                return refuse(options, "400 Bad Request", &[], &sentence, turn);
            };
            let text = if kind == "random" {
                turn.text += 1;
                Text::random(length, turn.text - 1)
            } else {
                Text::constant(length)
            };
            turn.counters.requests += 1;
            turn.counters.in_process += 1;
            let mut answer = reply(options, turn);
            answer.head("200 OK", &[("Content-Type: ", "text/plain")]);
            answer.length(length as u64);
            let mut rest = Rest::Text(text);
            let is_done = options.head_only || rest.push(&mut turn.out).unwrap_or(true);
            sent(rest, is_done, options)
        }
        "env" => {
            turn.counters.in_process += 1;
            let variables = Variables::new(&described(request, "/dynamic/env", &[], turn));
            made("text/plain", options, turn, |text| variables.push(text))
        }
        "page.shtml" => parsed(&PARSED_PAGE, options, turn),
        _ => {
            let number = kind.strip_prefix("template/").and_then(digits).filter(|number| *number < TEMPLATES);
            let Some(number) = number else { return not_found(options, turn) };
            turn.counters.requests += 1;
            turn.counters.templates += 1;
            let mut answer = reply(options, turn);
            answer.head("200 OK", &[("Content-Type: ", "text/html")]);
            answer.length(Templates::LENGTH as u64);
            if !options.head_only {
                turn.shared.templates.push(number, turn.now.unix_s, &mut turn.out);
            }
            Progress::Done(after(options))
        }
    }
}

/// What a query says about the size of a text; `None` where that is no number.
fn size(text: &str) -> Option<usize> {
    match query(text.as_bytes(), b"size") {
        None => Some(TEXT_BYTES),
        Some(number) => digits(std::str::from_utf8(number).ok()?),
    }
}

fn digits(text: &str) -> Option<usize> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A request as the variables of a program describe it.
fn described<'a>(
    request: &Request<'a>,
    script: &'a str,
    path_info: &'a [u8],
    turn: &Turn<'a>,
) -> Described<'a> {
    let head = request.head;
    Described {
        method: head.method,
        path: origin_form(head.path),
        query: head.query,
        head: request.bytes.get(..head.length).unwrap_or_default(),
        http10: request.common.http10,
        script,
        path_info,
        has_body: head.framing != Framing::Length(0),
        from: request.from,
        tls: turn.shared.tls.is_some(),
        host: &turn.shared.host,
        port: turn.shared.port,
    }
}

/// Hands a request to a program, or goes on to its body.
fn cgi(
    request: &Request<'_>,
    path: &str,
    rest: &str,
    mut options: ResponseOptions,
    turn: &mut Turn<'_>,
) -> Progress {
    let Request { head, common, .. } = request;
    let has_body = head.framing != Framing::Length(0);
    let refused = |options: &mut ResponseOptions| {
        options.keep_alive &= !has_body;
        *options
    };
    let linger = |progress| if has_body { Progress::Done(Then::Linger) } else { progress };
    if turn.jobs.is_none() {
        return linger(not_found(refused(&mut options), turn));
    }
    if !matches!(head.method, "GET" | "HEAD" | "POST") {
        return linger(wrong_method(head.method, "GET, HEAD, POST", refused(&mut options), turn));
    }
    let Some((name, path_info)) = program(rest) else {
        return linger(not_found(refused(&mut options), turn));
    };
    let Some(path_info) = unescape(path_info.bytes()).filter(|path| !path.contains(&0)) else {
        let sentence = "a path that cannot be decoded";
        return linger(refuse(refused(&mut options), "400 Bad Request", &[], sentence, turn));
    };
    let script = path.get(..path.len() - rest.len() + name.len()).unwrap_or_default();
    let variables = Variables::new(&described(request, script, &path_info, turn));
    let job = Job { ticket: request.id, program: name.to_owned(), variables, body: Vec::new() };
    if !has_body {
        return submit(job, options, turn);
    }
    let body = match Incoming::new(head.framing, turn.shared.limits.body_bytes) {
        Ok(body) => body,
        Err((status, sentence)) => return abort(options, status, &sentence, turn),
    };
    // RFC 9110 section 10.1.1: not to HTTP/1.0 clients.
    if common.expects && !common.http10 {
        turn.out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
    }
    Progress::Body(Box::new(Form { options, job, body }))
}

impl Form {
    /// Takes the next bytes of the body; says how many.
    pub(super) fn feed(&mut self, bytes: &[u8], turn: &mut Turn<'_>) -> Result<usize, Progress> {
        let fed = self.body.feed(bytes, turn.shared.limits.body_bytes);
        fed.map_err(|(status, sentence)| abort(self.options, status, &sentence, turn))
    }

    pub(super) fn is_done(&self) -> bool {
        self.body.is_done()
    }

    /// The body is all there: hands it to the program.
    pub(super) fn submit(mut self, turn: &mut Turn<'_>) -> Progress {
        self.job.body = self.body.content().to_vec();
        self.job.variables.add_length(self.job.body.len());
        submit(self.job, self.options, turn)
    }
}

fn submit(job: Job, options: ResponseOptions, turn: &mut Turn<'_>) -> Progress {
    match turn.jobs.as_ref().map(|jobs| jobs.try_send(job)) {
        Some(Ok(())) => Progress::Wait(options),
        Some(Err(TrySendError::Full(_) | TrySendError::Disconnected(_))) | None => {
            finish(options, Err(Fault::Busy), turn)
        }
    }
}

/// Answers a request whose program has ended.
pub(super) fn finish(
    options: ResponseOptions,
    outcome: Result<Output, Fault>,
    turn: &mut Turn<'_>,
) -> Progress {
    let output = match outcome {
        Ok(output) => output,
        Err(fault) => {
            let status = fault.status();
            turn.counters.cgi_failed += u64::from(status.starts_with("502") || status.starts_with("504"));
            return refuse(options, status, &[], &fault.to_string(), turn);
        }
    };
    turn.counters.requests += 1;
    turn.counters.cgi += 1;
    let mut answer = reply(options, turn);
    answer.head(output.status(), &[]);
    answer.out.extend_from_slice(output.lines());
    match output.document() {
        Some(document) => answer.length(document.len() as u64),
        None => answer.end(),
    }
    let is_done = options.head_only || output.document().is_none();
    let mut rest = Rest::Output { output, at: 0 };
    let is_done = is_done || rest.push(&mut turn.out).unwrap_or(true);
    sent(rest, is_done, options)
}
