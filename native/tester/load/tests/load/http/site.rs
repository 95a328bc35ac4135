//! A small personalized site on a real socket that answers rightly, or with any error that a test requests.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use load::now_ns;
use people::visitor::Visitors;
use tls::{Acceptor, Stream};
use wire::http::{Framing, RequestHead, cookie, query};

use super::files::file_set;
use super::gate::Gate;
use crate::job::{Job, PEOPLE, visitors};
use crate::listener::Listener;

pub const PAGE_BYTES: usize = 8_290;
const IMAGE_BYTES: usize = 5_480;

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Do {
    /// The right answer.
    Right,
    /// The right answer in chunks of this many bytes.
    Chunked(usize),
    /// The right answer in pieces of this many bytes.
    InPieces(usize),
    /// The right answer, ended by the end of the connection.
    UntilClose,
    /// A head without a length, as some servers answer HEAD.
    HeadAlone,
    /// The right answer with `Connection: close`, then the end of the connection.
    RightThenClose,
    /// The right answer after an interim answer.
    AfterContinue,
    /// The next person's page.
    SomebodyElse,
    /// A page that does not name its user.
    Nobody,
    /// The right person's page with a greeting for another person.
    WrongGreeting,
    /// The right page from before the last update.
    Outdated,
    /// A page of this length.
    OfLength(usize),
    /// A file with one wrong byte at this position.
    WrongByte(usize),
    /// More bytes than Content-Length announces.
    MoreThanSaid,
    /// Fewer bytes than announced, then the end of the connection.
    LessThanSaid,
    /// Fewer bytes than announced, then silence.
    LessThanSaidAndWait,
    /// The end of the connection between two chunks.
    CloseMidChunks,
    /// Chunks of one byte without end.
    EndlessChunks,
    /// Two different lengths.
    TwoLengths,
    /// Only a status.
    Status(u16),
    /// Bytes that are not HTTP.
    Nonsense,
    /// Half a head, then the end of the connection.
    HalfAHead,
    /// The connection is closed.
    Close,
    /// No answer.
    Never,
}

type Rule = dyn Fn(&str, u64) -> Do + Send + Sync;

/// Received requests.
#[derive(Debug, Default)]
pub struct Seen {
    /// The number of TLS handshakes that resumed an earlier session.
    pub resumed: AtomicU64,
    answered: Mutex<BTreeMap<String, u64>>,
    /// The last requests.
    pub requests: Mutex<Vec<Vec<u8>>>,
    /// Background and city of updated users, by number.
    pub values: Mutex<BTreeMap<u64, (String, String)>>,
    /// The values before the last update.
    before: Mutex<BTreeMap<u64, (String, String)>>,
    created: Mutex<BTreeMap<u64, String>>,
}

impl Seen {
    pub fn answered(&self, path: &str) -> u64 {
        self.answered.lock().unwrap().get(path).copied().unwrap_or(0)
    }
}

struct Shared {
    visitors: Arc<Visitors>,
    rule: Box<Rule>,
    acceptor: Option<Acceptor>,
    seen: Arc<Seen>,
    gate: Arc<Gate>,
    requests: AtomicU64,
}

/// The site; it stops when dropped.
pub struct Site {
    listener: Listener,
    pub seen: Arc<Seen>,
    pub gate: Arc<Gate>,
}

impl Site {
    /// Calls `rule` for each request with its path and its number.
    pub fn new(rule: impl Fn(&str, u64) -> Do + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", None, rule)
    }

    /// Like [`Site::new`], but at this address, and over TLS if there is an acceptor.
    pub fn at(
        address: impl ToSocketAddrs,
        acceptor: Option<&Acceptor>,
        rule: impl Fn(&str, u64) -> Do + Send + Sync + 'static,
    ) -> Self {
        let (seen, gate) = (Arc::<Seen>::default(), Arc::<Gate>::default());
        let shared = Arc::new(Shared {
            visitors: visitors(),
            rule: Box::new(rule),
            acceptor: acceptor.cloned(),
            seen: seen.clone(),
            gate: gate.clone(),
            requests: AtomicU64::new(0),
        });
        let listener = Listener::new(address, move |stream, connection| serve(&shared, stream, connection));
        Self { listener, seen, gate }
    }

    pub fn always(what: Do) -> Self {
        Self::new(move |_, _| what)
    }

    pub fn right() -> Self {
        Self::always(Do::Right)
    }

    pub fn port(&self) -> u16 {
        self.listener.address.port()
    }

    pub fn connections(&self) -> u64 {
        self.listener.accepted()
    }

    pub fn job(&self, text: &str) -> Job {
        Job::site(self.port(), text)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.gate.open();
    }
}

struct Answer {
    status: u16,
    extra: String,
    body: Vec<u8>,
}

impl Answer {
    fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, extra: String::new(), body: body.into() }
    }

    fn head(&self, more: &str) -> Vec<u8> {
        format!("HTTP/1.1 {} X\r\n{}{more}\r\n", self.status, self.extra).into_bytes()
    }

    fn whole(&self, more: &str) -> Vec<u8> {
        let length = match self.status {
            204 => String::new(),
            _ => format!("Content-Length: {}\r\n", self.body.len()),
        };
        [self.head(&format!("{length}{more}")), self.body.clone()].concat()
    }
}

fn serve(shared: &Shared, stream: TcpStream, connection: u64) {
    let mut stream = Stream::new(stream);
    if let Some(acceptor) = &shared.acceptor {
        stream.accept(acceptor).unwrap();
        if stream.shake().is_err() {
            return;
        }
        let resumed = stream.session().is_some_and(|session| session.is_resumed());
        shared.seen.resumed.fetch_add(u64::from(resumed), Ordering::Relaxed);
    }
    serve_requests(&mut stream, |stream, message| {
        let asked_ns = now_ns();
        let path = RequestHead::decode(message).unwrap().unwrap().path.to_owned();
        let n = shared.requests.fetch_add(1, Ordering::Relaxed);
        let what = (shared.rule)(&path, n);
        let answer = answer(shared, message, what);
        shared.gate.pass(connection, asked_ns, path == "/");
        // Counted before the client can read the answer.
        *shared.seen.answered.lock().unwrap().entry(path).or_default() += 1;
        let goes_on = send(stream, &answer, what).unwrap_or(false);
        let mut requests = shared.seen.requests.lock().unwrap();
        requests.push(message.to_vec());
        if requests.len() > 64 {
            requests.remove(0);
        }
        goes_on
    });
}

/// Calls `serve` with each request of a connection, until it returns false or the connection ends.
pub fn serve_requests(
    stream: &mut Stream<TcpStream>,
    mut serve: impl FnMut(&mut Stream<TcpStream>, &[u8]) -> bool,
) {
    let (mut buffer, mut chunk) = (Vec::new(), [0; 65_536]);
    loop {
        while let Some(length) = complete(&buffer) {
            let message: Vec<u8> = buffer.drain(..length).collect();
            if !serve(stream, &message) {
                return;
            }
        }
        match stream.read_some(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(n) => buffer.extend_from_slice(&chunk[..n]),
        }
    }
}

/// The length of the first request in the buffer, if it is complete.
fn complete(buffer: &[u8]) -> Option<usize> {
    let head = RequestHead::decode(buffer).expect("a request")?;
    let Framing::Length(body) = head.framing else { panic!("a request with chunks") };
    let length = head.length + body as usize;
    (buffer.len() >= length).then_some(length)
}

fn answer(shared: &Shared, message: &[u8], what: Do) -> Answer {
    let head = RequestHead::decode(message).unwrap().unwrap();
    let user = cookie(head.cookies, b"user").map(|id| std::str::from_utf8(id).unwrap().parse().unwrap());
    let form = &message[head.length..];
    let field = |name: &str| query(form, name.as_bytes()).map(decoded).unwrap_or_default();
    match (head.method, head.path) {
        ("GET", "/") => page(shared, user.expect("a cookie"), what),
        ("GET", path) if path.starts_with("/set/") => {
            let set = file_set();
            let mut files = (0..set.count()).filter_map(|i| set.file(i));
            let file = files.find(|file| file.path() == path).expect("a file of the set");
            let mut body = vec![0; file.size() as usize];
            ::files::fill(file.key(), 0, &mut body);
            if let Do::WrongByte(place) = what {
                body[place] ^= 1;
            } else if let Do::OfLength(length) = what {
                body.resize(length, b'@');
            }
            Answer::new(200, body)
        }
        ("HEAD", "/") => Answer::new(200, ""),
        ("GET", "/image") => Answer::new(200, vec![b'i'; IMAGE_BYTES]),
        ("POST", "/users") => {
            let mut created = shared.seen.created.lock().unwrap();
            let id = 1_000_000 + created.len() as u64;
            created.insert(id, field("given"));
            let extra = format!("Set-Cookie: theme=dark\r\nSet-Cookie: user={id}; Path=/\r\n");
            Answer { extra, ..Answer::new(201, format!("user {id}\n")) }
        }
        ("POST", "/preferences") => {
            let new = (field("background"), field("city"));
            let old = shared.seen.values.lock().unwrap().insert(user.expect("a cookie"), new);
            if let Some(old) = old {
                shared.seen.before.lock().unwrap().insert(user.unwrap(), old);
            }
            Answer::new(204, "")
        }
        other => panic!("{other:?}"),
    }
}

fn page(shared: &Shared, user: u64, what: Do) -> Answer {
    let id = if what == Do::SomebodyElse { (user + 1) % PEOPLE } else { user };
    let created = shared.seen.created.lock().unwrap().get(&id).cloned();
    let mut given = created.unwrap_or_else(|| shared.visitors.visitor(id).given);
    if what == Do::WrongGreeting {
        given.push('x');
    }
    let values = if what == Do::Outdated { &shared.seen.before } else { &shared.seen.values };
    let values = values.lock().unwrap();
    let (background, city) = values.get(&id).cloned().unwrap_or_default();
    let whose = if what == Do::Nobody { String::new() } else { format!("data-user=\"{id}\"") };
    let mut page = format!(
        "<body {whose} data-background=\"{background}\" data-city=\"{}\"><h1>Hello, {}</h1>",
        escaped(&city),
        escaped(&given)
    );
    let length = if let Do::OfLength(length) = what { length } else { PAGE_BYTES };
    page.push_str(&" ".repeat(length - page.len()));
    Answer::new(200, page)
}

/// Escapes like Python's MarkupSafe. Sitebench's own site escapes differently.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&#34;").replace('\'', "&#39;")
}

fn decoded(text: &[u8]) -> String {
    let mut parts = text.split(|&byte| byte == b'%');
    let mut out = parts.next().unwrap().to_vec();
    for part in parts {
        out.push(u8::from_str_radix(std::str::from_utf8(&part[..2]).unwrap(), 16).unwrap());
        out.extend_from_slice(&part[2..]);
    }
    String::from_utf8(out).unwrap()
}

fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(1));
}

/// Sends an answer; returns whether the connection stays open.
fn send(stream: &mut Stream<TcpStream>, answer: &Answer, what: Do) -> std::io::Result<bool> {
    let chunked = |size: usize| {
        let mut out = answer.head("Transfer-Encoding: chunked\r\n");
        for chunk in answer.body.chunks(size) {
            out.extend_from_slice(format!("{:x};x=y\r\n", chunk.len()).as_bytes());
            out.extend_from_slice(chunk);
            out.extend_from_slice(b"\r\n");
        }
        out
    };
    let half = answer.body.len() / 2;
    match what {
        Do::Chunked(size) => stream.write_all(&[chunked(size), b"0\r\nX: y\r\n\r\n".to_vec()].concat())?,
        Do::InPieces(size) => {
            for piece in answer.whole("").chunks(size) {
                stream.write_all(piece)?;
                pause();
            }
        }
        Do::UntilClose => {
            stream.write_all(&[answer.head(""), answer.body.clone()].concat())?;
            return Ok(false);
        }
        Do::HeadAlone => stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")?,
        Do::RightThenClose => {
            stream.write_all(&answer.whole("Connection: close\r\n"))?;
            return Ok(false);
        }
        Do::AfterContinue => {
            let on_its_way = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n";
            stream.write_all(&[&on_its_way[..], &answer.whole("")].concat())?;
        }
        Do::MoreThanSaid => stream.write_all(&[&answer.whole("")[..], b"and more"].concat())?,
        Do::LessThanSaid | Do::LessThanSaidAndWait => {
            let whole = answer.whole("");
            stream.write_all(&whole[..whole.len() - half])?;
            return Ok(what == Do::LessThanSaidAndWait);
        }
        Do::CloseMidChunks => {
            stream.write_all(&chunked(1_000))?;
            return Ok(false);
        }
        Do::EndlessChunks => {
            stream.write_all(&answer.head("Transfer-Encoding: chunked\r\n"))?;
            let many = b"1\r\na\r\n".repeat(50_000);
            loop {
                stream.write_all(&many)?;
            }
        }
        Do::TwoLengths => stream.write_all(&answer.whole("Content-Length: 1\r\n"))?,
        Do::Status(status) => {
            let location = "Location: /elsewhere\r\n".to_owned();
            stream.write_all(&Answer { extra: location, ..Answer::new(status, "sorry") }.whole(""))?;
        }
        Do::Nonsense => stream.write_all(b"220 mail.example ESMTP\r\n\r\n")?,
        Do::HalfAHead => {
            stream.write_all(&answer.whole("")[..20])?;
            return Ok(false);
        }
        Do::Close => return Ok(false),
        Do::Never => {}
        _ => stream.write_all(&answer.whole(""))?,
    }
    Ok(true)
}
