//! A directory that serves many requests on few connections, and answers in any order, or wrongly.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tls::{Acceptor, ServerSpec, Stream};
use wire::ber::{self, tag};
use wire::ldap::answer::{Verdict, write_entry, write_extended, write_result, write_result_with};
use wire::ldap::control::PagedResults;
use wire::ldap::filter::Kind;
use wire::ldap::frame::message_length;
use wire::ldap::{Operation, Request, ResultCode, oid, op};

use crate::job::Job;
use crate::listener::Listener;

/// The answer to a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Answer,
    /// Two copies of the answer.
    Twice,
    Refuse,
    /// An additional answer with the next message ID.
    Foretell,
    /// An answer with another message ID before the answer.
    WithStranger(i32),
    /// An unsolicited notification before the answer (RFC 4511 section 4.4) that is not a notice of
    /// disconnection.
    WithNotification,
    /// A notice of disconnection, then the end of the connection.
    Goodbye,
    Never,
    /// No answer; the connection ends together with all held requests.
    Hold,
    /// This answer and all later answers are delayed by this many milliseconds.
    Late(u64),
    /// Only this answer is delayed by this many milliseconds.
    Later(u64),
    Close,
    /// The answer is the last on its connection.
    Last,
    /// Half an answer, then the end of the connection.
    Half,
    OtherKind,
}

/// The behaviour of a server.
#[derive(Debug, Clone, Copy)]
pub struct Manners {
    /// The number of requests that it gathers, if that many arrive, before it answers a request.
    pub gathers: usize,
    /// A seed for answers in random order, interleaved by message and split into pieces.
    pub mixes: Option<u64>,
    pub dawdles: bool,
    pub tls: bool,
}

impl Default for Manners {
    fn default() -> Self {
        Self { gathers: 1, mixes: None, dawdles: false, tls: false }
    }
}

/// A received search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    pub connection: u64,
    pub id: i32,
    pub name: String,
}

#[derive(Debug, Default)]
pub struct Seen {
    pub closed: AtomicU64,
    pub answered: AtomicU64,
    pub heard: Mutex<Vec<Heard>>,
    pub binds: Mutex<BTreeMap<u64, Vec<String>>>,
    /// The number of requests whose message ID was still unanswered.
    pub reused: AtomicU64,
    /// The highest number of unanswered requests on one connection.
    pub most: AtomicU64,
    /// The highest number of requests that arrived in one read.
    pub at_once: AtomicU64,
    pub unbinds: AtomicU64,
    pub held: AtomicU64,
    /// Whether connections with held requests end now.
    pub ends: AtomicBool,
}

type Rule = dyn Fn(&Heard, u64) -> Act + Send + Sync;

struct Shared {
    rule: Box<Rule>,
    manners: Manners,
    acceptor: Acceptor,
    seen: Arc<Seen>,
    count: AtomicU64,
}

/// The server; it stops when dropped.
pub struct Crowd {
    listener: Listener,
    pub seen: Arc<Seen>,
}

impl Crowd {
    pub fn right(manners: Manners) -> Self {
        Self::start(manners, |_, _| Act::Answer)
    }

    /// Calls `rule` for each search with the number of earlier searches.
    pub fn start(manners: Manners, rule: impl Fn(&Heard, u64) -> Act + Send + Sync + 'static) -> Self {
        let seen = Arc::<Seen>::default();
        let shared = Arc::new(Shared {
            rule: Box::new(rule),
            manners,
            acceptor: Acceptor::new(&ServerSpec::default(), &[]).unwrap(),
            seen: seen.clone(),
            count: AtomicU64::new(0),
        });
        let listener = Listener::new("127.0.0.1:0", move |stream, connection| {
            Session::new(&shared, stream, connection).serve();
            shared.seen.closed.fetch_add(1, Ordering::SeqCst);
        });
        Self { listener, seen }
    }

    pub fn address(&self) -> SocketAddr {
        self.listener.address
    }

    /// The number of opened connections.
    pub fn opened(&self) -> u64 {
        self.listener.accepted()
    }

    pub fn answered(&self) -> u64 {
        self.seen.answered.load(Ordering::SeqCst)
    }

    /// The highest number of unanswered requests on one connection.
    pub fn most(&self) -> u64 {
        self.seen.most.load(Ordering::SeqCst)
    }

    /// The number of requests whose message ID was still unanswered.
    pub fn reused(&self) -> u64 {
        self.seen.reused.load(Ordering::SeqCst)
    }

    /// A scenario for this server.
    pub fn job(&self, text: &str) -> Job {
        Job::directory(self.address(), text)
    }
}

struct Session<'s> {
    shared: &'s Shared,
    stream: Stream<TcpStream>,
    socket: TcpStream,
    connection: u64,
    rng: fastrand::Rng,
    open: BTreeSet<i32>,
    /// For each request without an answer so far, the messages of its answer, in order.
    waiting: Vec<(i32, Vec<Vec<u8>>)>,
    /// Delayed answers with the time at which they are sent.
    later: Vec<(Instant, i32, Vec<Vec<u8>>)>,
}

/// The reason to leave a session: its connection ends.
struct Over;

impl<'s> Session<'s> {
    fn new(shared: &'s Shared, stream: TcpStream, connection: u64) -> Self {
        let rng = fastrand::Rng::with_seed(shared.manners.mixes.unwrap_or_default() + connection);
        let socket = stream.try_clone().unwrap();
        let mut stream = Stream::new(stream);
        if shared.manners.tls {
            stream.accept(&shared.acceptor).unwrap();
        }
        Self {
            shared,
            stream,
            socket,
            connection,
            rng,
            open: BTreeSet::new(),
            waiting: Vec::new(),
            later: Vec::new(),
        }
    }

    fn serve(&mut self) {
        let (mut bytes, mut chunk) = (Vec::new(), vec![0; 64 << 10]);
        if self.shared.manners.tls && self.stream.shake().is_err() {
            return;
        }
        let room = if self.shared.manners.dawdles { 16_384 } else { chunk.len() };
        loop {
            let now = Instant::now();
            let due = self.later.extract_if(.., |(when, ..)| *when <= now);
            self.waiting.extend(due.map(|(_, id, messages)| (id, messages)));
            let is_idle = self.waiting.is_empty() && self.later.is_empty();
            let wait = if is_idle { 30_000 } else { 3 };
            self.socket.set_read_timeout(Some(Duration::from_millis(wait))).unwrap();
            match self.stream.read_some(&mut chunk[..room]) {
                Ok(0) => return,
                Ok(n) => bytes.extend_from_slice(&chunk[..n]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if is_idle || self.answer().is_err() {
                        return;
                    }
                    continue;
                }
                Err(_) => return,
            }
            if self.shared.manners.dawdles {
                std::thread::sleep(Duration::from_micros(300));
            }
            let mut came = 0;
            while let Ok(Some(length)) = message_length(&bytes, 32 << 20) {
                let message: Vec<u8> = bytes.drain(..length).collect();
                came += 1;
                if self.hear(&message).is_err() {
                    return;
                }
            }
            self.shared.seen.at_once.fetch_max(came, Ordering::SeqCst);
            if self.waiting.len() >= self.shared.manners.gathers && self.answer().is_err() {
                return;
            }
        }
    }

    fn hear(&mut self, message: &[u8]) -> Result<(), Over> {
        let request = Request::decode(message).expect("the engine sends LDAP");
        let seen = &self.shared.seen;
        if !self.open.insert(request.id) {
            seen.reused.fetch_add(1, Ordering::SeqCst);
        }
        seen.most.fetch_max(self.open.len() as u64, Ordering::SeqCst);
        let id = request.id;
        match &request.operation {
            Operation::Bind(bind) => {
                let name = String::from_utf8(bind.name.to_vec()).unwrap();
                let refused = name.contains("refused");
                seen.binds.lock().unwrap().entry(self.connection).or_default().push(name);
                let code = if refused { ResultCode::INVALID_CREDENTIALS } else { ResultCode::SUCCESS };
                self.waiting.push((id, vec![result(id, op::BIND_RESPONSE, code)]));
                Ok(())
            }
            Operation::Unbind => {
                seen.unbinds.fetch_add(1, Ordering::SeqCst);
                Err(Over)
            }
            Operation::Search(search) => {
                let Kind::Equality(equality) = search.filter.kind() else { panic!("{:?}", search.filter) };
                let name = String::from_utf8(equality.value.to_vec()).unwrap();
                let is_page = |control: &wire::ldap::Control<'_>| control.oid == oid::PAGED_RESULTS;
                let page = request.controls.iter().find(is_page);
                let page = page.map(|control| PagedResults::decode(control.value.unwrap()).unwrap());
                let page = page.map(|page| std::str::from_utf8(page.cookie).unwrap().parse().unwrap_or(0));
                self.search(id, name, page)
            }
            other => panic!("{other:?}"),
        }
    }

    /// Answers a search with the entry of that name; a paged search with five pages of one entry each.
    fn search(&mut self, id: i32, name: String, page: Option<u32>) -> Result<(), Over> {
        let heard = Heard { connection: self.connection, id, name: name.clone() };
        self.shared.seen.heard.lock().unwrap().push(heard.clone());
        let act = (self.shared.rule)(&heard, self.shared.count.fetch_add(1, Ordering::SeqCst));
        let mut messages = vec![entry(id, &name, page.unwrap_or(0)), done(id, page)];
        match act {
            Act::Answer => {}
            Act::Twice => messages.extend(messages.clone()),
            Act::Refuse => messages = vec![result(id, op::SEARCH_DONE, ResultCode::BUSY)],
            Act::Foretell => messages.push(done(id % 127 + 1, None)),
            Act::WithStranger(stranger) => messages.insert(0, done(stranger, None)),
            Act::WithNotification => {
                messages.insert(0, notification(ResultCode::SUCCESS, b"1.3.6.1.4.1.4203.1.9.1"));
            }
            Act::Goodbye => {
                let notice = notification(ResultCode::UNAVAILABLE, oid::NOTICE_OF_DISCONNECTION);
                let _ = self.stream.write_all(&notice);
                return Err(Over);
            }
            Act::Never => return Ok(()),
            Act::Hold => {
                let (seen, socket) = (self.shared.seen.clone(), self.socket.try_clone().unwrap());
                seen.held.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || {
                    while !seen.ends.load(Ordering::SeqCst) {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    let _ = socket.shutdown(Shutdown::Both);
                });
                return Ok(());
            }
            Act::Later(ms) => {
                self.later.push((Instant::now() + Duration::from_millis(ms), id, messages));
                return Ok(());
            }
            Act::Late(ms) => {
                self.answer()?;
                std::thread::sleep(Duration::from_millis(ms));
            }
            Act::Close => return Err(Over),
            Act::Last => {
                self.waiting.push((id, messages));
                let _ = self.answer();
                return Err(Over);
            }
            Act::Half => {
                let _ = self.stream.write_all(&messages[0][..messages[0].len() / 2]);
                return Err(Over);
            }
            Act::OtherKind => messages = vec![result(id, op::DELETE_RESPONSE, ResultCode::SUCCESS)],
        }
        self.waiting.push((id, messages));
        Ok(())
    }

    fn answer(&mut self) -> Result<(), Over> {
        let mut out = Vec::new();
        let mut waiting = std::mem::take(&mut self.waiting);
        while !waiting.is_empty() {
            let which = if self.shared.manners.mixes.is_some() { self.rng.usize(..waiting.len()) } else { 0 };
            let (id, messages) = &mut waiting[which];
            let all = if self.shared.manners.mixes.is_some() { 1 } else { messages.len() };
            messages.drain(..all).for_each(|message| out.extend(message));
            if messages.is_empty() {
                self.open.remove(id);
                self.shared.seen.answered.fetch_add(1, Ordering::SeqCst);
                waiting.remove(which);
            }
        }
        let mut rest = &out[..];
        while !rest.is_empty() {
            let most = rest.len();
            let size = if self.shared.manners.mixes.is_some() { self.rng.usize(1..=most) } else { most };
            self.stream.write_all(&rest[..size]).map_err(|_| Over)?;
            rest = &rest[size..];
            if !rest.is_empty() {
                std::thread::sleep(Duration::from_micros(50));
            }
        }
        Ok(())
    }
}

/// An entry; a large entry if its name requests that.
fn entry(id: i32, name: &str, page: u32) -> Vec<u8> {
    let (mut body, mut out) = (Vec::new(), Vec::new());
    ber::write_octets(&mut body, format!("uid={name},cn={page},o=x").as_bytes());
    let fill = if name.starts_with("large") { "x".repeat(200_000) } else { "x".to_owned() };
    ber::write_nested(&mut body, tag::SEQUENCE, |out| {
        for (attribute, value) in [("uid", name), ("description", &fill)] {
            ber::write_nested(out, tag::SEQUENCE, |out| {
                ber::write_octets(out, attribute.as_bytes());
                ber::write_nested(out, tag::SET, |out| ber::write_octets(out, value.as_bytes()));
            });
        }
    });
    write_entry(&mut out, id, &body);
    out
}

fn result(id: i32, response: u8, code: ResultCode) -> Vec<u8> {
    let mut out = Vec::new();
    write_result(&mut out, id, response, &Verdict { code, ..Verdict::SUCCESS });
    out
}

fn notification(code: ResultCode, name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_extended(&mut out, 0, &Verdict { code, ..Verdict::SUCCESS }, Some(name), None);
    out
}

/// The end of a search, or of one of its pages.
fn done(id: i32, page: Option<u32>) -> Vec<u8> {
    let Some(page) = page else { return result(id, op::SEARCH_DONE, ResultCode::SUCCESS) };
    let (next, mut value, mut out) = (page + 1, Vec::new(), Vec::new());
    let cookie = if next < 5 { next.to_string() } else { String::new() };
    PagedResults { size: 0, cookie: cookie.as_bytes() }.encode(&mut value);
    let control = wire::ldap::Control { oid: oid::PAGED_RESULTS, critical: false, value: Some(&value) };
    write_result_with(&mut out, id, op::SEARCH_DONE, &Verdict::SUCCESS, &[control]);
    out
}
