//! A small LDAP server on a real socket that answers rightly, or with any error that a test requests.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use load::{Snapshot, now_ns};
use people::Population;
use wire::ber::{self, tag};
use wire::ldap::answer::{Verdict, write_entry, write_result, write_result_with};
use wire::ldap::control::PagedResults;
use wire::ldap::filter::{Filter, Kind};
use wire::ldap::frame::message_length;
use wire::ldap::{Operation, Request, ResultCode, SearchRequest, op};

use super::gate::Gate;
use crate::job::Job;
use crate::listener::Listener;

/// The number of recorded messages. A test that a busy machine delays receives thousands.
pub const MOST_MESSAGES: usize = 100_000;

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Do {
    /// The right answer in another order and case, with operational attributes.
    Right,
    /// The right answer in another order and case, with operational attributes.
    RightButOtherwise,
    /// The right answer in pieces of this many bytes.
    InPieces(usize),
    /// The right answer, delayed by this many milliseconds.
    Slowly(u64),
    /// Only a result code.
    Code(ResultCode),
    /// The next person's entry.
    SomebodyElse,
    /// The right name with the next person's attributes.
    Impostor,
    /// The last byte is changed.
    OneByteChanged,
    /// One attribute is missing.
    WithoutOneAttribute,
    /// One value of an attribute with several values is missing.
    WithoutOneValue,
    /// An attribute has one more value.
    WithOneValueMore,
    /// The entry has an attribute that no person has.
    WithOneAttributeMore,
    /// One attribute is sent twice.
    WithOneAttributeTwice,
    /// The right entry is sent twice.
    Twice,
    /// The answer contains this server-generated password (RFC 3062).
    Generate(&'static str),
    /// A refusal that repeats the request's text.
    Echo,
    /// Pages as requested; the cookie is the start of the next page.
    Pages,
    /// A cookie without entries, forever.
    CookieForEver,
    /// All entries without the page control.
    WithoutPages,
    /// No entry.
    Nobody,
    /// Another message ID.
    OtherId,
    /// The response of another operation.
    OtherOperation,
    /// A notice of disconnection (RFC 4511 section 4.4.1), then the end of the connection.
    Goodbye,
    /// Bytes that are not LDAP.
    Nonsense,
    /// Half the answer, then the end of the connection.
    HalfAndClose,
    /// The right answer, then the end of the connection.
    RightThenClose,
    /// The right answer, then the end of the connection after this many milliseconds.
    RightThenCloseAfter(u64),
    /// The right answer, then this many unsolicited bytes.
    RightThenMore(usize),
    /// The connection is closed.
    Close,
    /// The connection is reset.
    Reset,
    /// No answer.
    Never,
}

type Rule = dyn Fn(u8, u64) -> Do + Send + Sync;

/// Received requests by tag.
#[derive(Debug, Default)]
pub struct Seen {
    answered: Mutex<BTreeMap<u8, u64>>,
    /// DNs that were added and not deleted, with their attributes.
    pub added: Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
    /// The first [`MOST_MESSAGES`] messages.
    pub messages: Mutex<Vec<Vec<u8>>>,
    /// For each message the number of its connection, from 0.
    pub over: Mutex<Vec<u64>>,
}

impl Seen {
    /// The number of requests with this tag whose whole answer was sent.
    pub fn answered(&self, tag: u8) -> u64 {
        self.answered.lock().unwrap().get(&tag).copied().unwrap_or(0)
    }
}

struct Shared {
    people: Arc<Population>,
    rule: Box<Rule>,
    seen: Arc<Seen>,
    gate: Arc<Gate>,
    requests: AtomicU64,
}

/// The server; it stops when dropped.
pub struct Responder {
    listener: Listener,
    pub people: Arc<Population>,
    pub seen: Arc<Seen>,
    pub gate: Arc<Gate>,
}

impl Responder {
    /// Answers all requests rightly.
    pub fn right(people: &Arc<Population>) -> Self {
        Self::start(people, |_, _| Do::Right)
    }

    /// Answers lookups with `what`, and all other requests rightly.
    pub fn lookups(people: &Arc<Population>, what: Do) -> Self {
        Self::only(people, op::SEARCH_REQUEST, what)
    }

    /// Answers requests of one tag with `what`, and all other requests rightly.
    pub fn only(people: &Arc<Population>, only: u8, what: Do) -> Self {
        Self::start(people, move |tag, _| if tag == only { what } else { Do::Right })
    }

    /// Calls `rule` for each request with its tag and the number of earlier requests.
    pub fn start(people: &Arc<Population>, rule: impl Fn(u8, u64) -> Do + Send + Sync + 'static) -> Self {
        let (people, seen, gate) = (people.clone(), Arc::<Seen>::default(), Arc::<Gate>::default());
        let shared = Arc::new(Shared {
            people: people.clone(),
            rule: Box::new(rule),
            seen: seen.clone(),
            gate: gate.clone(),
            requests: AtomicU64::new(0),
        });
        let listener =
            Listener::new("127.0.0.1:0", move |stream, connection| serve(&shared, stream, connection));
        Self { listener, people, seen, gate }
    }

    pub fn address(&self) -> SocketAddr {
        self.listener.address
    }

    /// The number of accepted connections.
    pub fn connections(&self) -> u64 {
        self.listener.accepted()
    }

    /// Whether this many requests with a tag are answered.
    pub fn has_answered(&self, tag: u8, count: u64) -> impl Fn() -> bool {
        move || self.seen.answered(tag) >= count
    }

    /// The received requests, as far as `of` selects them.
    pub fn requests<T>(&self, of: impl Fn(&Operation<'_>) -> Option<T>) -> Vec<T> {
        self.requests_over(of).into_iter().map(|(_, request)| request).collect()
    }

    /// Like [`Self::requests`], with the numbers of their connections.
    pub fn requests_over<T>(&self, of: impl Fn(&Operation<'_>) -> Option<T>) -> Vec<(u64, T)> {
        let (messages, over) = (self.seen.messages.lock().unwrap(), self.seen.over.lock().unwrap());
        let of = |message: &[u8]| of(&Request::decode(message).unwrap().operation);
        over.iter().zip(&*messages).filter_map(|(over, message)| Some((*over, of(message)?))).collect()
    }

    /// The names of the entries that the requests with a tag are about.
    pub fn names(&self, tag: u8) -> Vec<String> {
        self.requests(|operation| (tags(operation).0 == tag).then(|| entry_name(operation)))
    }

    /// Runs one lane until this many requests with a tag are answered.
    pub fn run(&self, text: &str, (tag, count): (u8, u64)) -> [Snapshot; 1] {
        self.job(text).run_until(1, self.has_answered(tag, count))
    }

    /// A scenario about the people of this server.
    pub fn job(&self, text: &str) -> Job {
        Job { people: Some(self.people.clone()), ..Job::directory(self.address(), text) }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.gate.open();
    }
}

/// The reason to stop serving: the connection ends.
struct Over;

fn serve(shared: &Shared, mut stream: TcpStream, connection: u64) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        while let Ok(Some(length)) = message_length(&bytes, 1 << 20) {
            let message: Vec<u8> = bytes.drain(..length).collect();
            if react(shared, &mut stream, &message, connection).is_err() {
                return;
            }
        }
        match stream.read(&mut chunk) {
            Ok(n) if n > 0 => bytes.extend_from_slice(&chunk[..n]),
            _ => return,
        }
    }
}

fn react(shared: &Shared, stream: &mut TcpStream, message: &[u8], connection: u64) -> Result<(), Over> {
    let asked_ns = now_ns();
    let request = Request::decode(message).expect("the engine sends LDAP");
    let (tag, response) = tags(&request.operation);
    remember(shared, message, connection);
    if matches!(request.operation, Operation::Unbind) {
        *shared.seen.answered.lock().unwrap().entry(tag).or_default() += 1;
        shared.gate.pass(connection, asked_ns, false);
        return Err(Over);
    }
    let what = (shared.rule)(tag, shared.requests.fetch_add(1, Ordering::SeqCst));
    let mut out = Vec::new();
    write_answer(shared, &request, response, what, &mut out);
    shared.gate.pass(connection, asked_ns, tag == op::SEARCH_REQUEST);
    match what {
        Do::Never => return Ok(()),
        Do::Close => return Err(Over),
        Do::Reset => {
            // A close with unread data or zero linger sends a reset.
            let socket = socket2::SockRef::from(&*stream);
            socket.set_linger(Some(Duration::ZERO)).unwrap();
            return Err(Over);
        }
        Do::HalfAndClose => {
            let _ = stream.write_all(&out[..out.len() / 2]);
            return Err(Over);
        }
        Do::Nonsense => {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            return Ok(());
        }
        Do::Slowly(ms) => std::thread::sleep(Duration::from_millis(ms)),
        _ => {}
    }
    // Counted before the client can read the answer.
    *shared.seen.answered.lock().unwrap().entry(tag).or_default() += 1;
    if let Do::RightThenMore(bytes) = what {
        out.resize(out.len() + bytes, 0x30);
    }
    let piece = if let Do::InPieces(bytes) = what { bytes } else { out.len().max(1) };
    for part in out.chunks(piece) {
        stream.write_all(part).map_err(|_| Over)?;
        if part.len() < out.len() {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
    if let Do::RightThenCloseAfter(ms) = what {
        std::thread::sleep(Duration::from_millis(ms));
        return Err(Over);
    }
    if matches!(what, Do::Goodbye | Do::RightThenClose) { Err(Over) } else { Ok(()) }
}

fn remember(shared: &Shared, message: &[u8], connection: u64) {
    let mut messages = shared.seen.messages.lock().unwrap();
    if messages.len() < MOST_MESSAGES {
        messages.push(message.to_vec());
        shared.seen.over.lock().unwrap().push(connection);
    }
}

/// The tags of a request and of its response.
pub const fn tags(operation: &Operation<'_>) -> (u8, u8) {
    match operation {
        Operation::Bind(_) => (op::BIND_REQUEST, op::BIND_RESPONSE),
        Operation::Unbind => (op::UNBIND_REQUEST, 0),
        Operation::Search(_) => (op::SEARCH_REQUEST, op::SEARCH_DONE),
        Operation::Modify(_) => (op::MODIFY_REQUEST, op::MODIFY_RESPONSE),
        Operation::Add(_) => (op::ADD_REQUEST, op::ADD_RESPONSE),
        Operation::Delete(_) => (op::DELETE_REQUEST, op::DELETE_RESPONSE),
        Operation::ModifyDn(_) => (op::MODIFY_DN_REQUEST, op::MODIFY_DN_RESPONSE),
        Operation::Compare(_) => (op::COMPARE_REQUEST, op::COMPARE_RESPONSE),
        Operation::Abandon(_) => (op::ABANDON_REQUEST, 0),
        Operation::Extended(_) => (op::EXTENDED_REQUEST, op::EXTENDED_RESPONSE),
    }
}

/// The name of the entry that a request is about.
pub fn entry_name(operation: &Operation<'_>) -> String {
    let name = match operation {
        Operation::Bind(bind) => bind.name,
        Operation::Search(search) => search.base,
        Operation::Modify(modify) => modify.dn,
        Operation::Add(add) => add.dn,
        Operation::Delete(dn) => dn,
        Operation::Compare(compare) => compare.dn,
        _ => b"",
    };
    String::from_utf8(name.to_vec()).unwrap()
}

fn write_answer(shared: &Shared, request: &Request<'_>, response: u8, what: Do, out: &mut Vec<u8>) {
    let id = if what == Do::OtherId { request.id % 127 + 1 } else { request.id };
    let response = if what == Do::OtherOperation { op::MODIFY_DN_RESPONSE } else { response };
    let code = match what {
        Do::Code(code) => code,
        Do::Generate(password) => {
            let mut value = Vec::new();
            ber::write_nested(&mut value, tag::SEQUENCE, |out| {
                ber::write_element(out, tag::context(0), password.as_bytes());
            });
            let (id, verdict) = (request.id, &Verdict::SUCCESS);
            return wire::ldap::answer::write_extended(out, id, verdict, None, Some(&value));
        }
        Do::Pages | Do::CookieForEver | Do::WithoutPages => return write_page(shared, request, what, out),
        Do::Echo => {
            let said = echo(&request.operation);
            let verdict =
                Verdict { code: ResultCode::UNWILLING_TO_PERFORM, diagnostic: &said, ..Verdict::SUCCESS };
            return write_result(out, id, response, &verdict);
        }
        Do::Goodbye => {
            return wire::ldap::answer::write_extended(
                out,
                0,
                &Verdict { code: ResultCode::UNAVAILABLE, ..Verdict::SUCCESS },
                Some(wire::ldap::oid::NOTICE_OF_DISCONNECTION),
                None,
            );
        }
        _ => perform(shared, request, id, what, out),
    };
    write_result(out, id, response, &Verdict { code, ..Verdict::SUCCESS });
}

/// Answers a search of all people in pages.
fn write_page(shared: &Shared, request: &Request<'_>, what: Do, out: &mut Vec<u8>) {
    let all = shared.people.spec().size;
    let is_page = |control: &wire::ldap::Control<'_>| control.oid == wire::ldap::oid::PAGED_RESULTS;
    let control = request.controls.iter().find(is_page).expect("a search in pages");
    let page = PagedResults::decode(control.value.unwrap()).unwrap();
    let first: u64 = std::str::from_utf8(page.cookie).unwrap().parse().unwrap_or(0);
    let last = match what {
        Do::Pages => all.min(first + page.size as u64),
        Do::WithoutPages => all,
        _ => first,
    };
    (first..last).for_each(|i| write_person(&shared.people, i, what, request.id, out));
    if what == Do::WithoutPages {
        return write_result(out, request.id, op::SEARCH_DONE, &Verdict::SUCCESS);
    }
    let cookie = if last == all { String::new() } else { last.to_string() };
    let mut value = Vec::new();
    PagedResults { size: 0, cookie: cookie.as_bytes() }.encode(&mut value);
    let control = wire::ldap::Control { oid: control.oid, critical: false, value: Some(&value) };
    write_result_with(out, request.id, op::SEARCH_DONE, &Verdict::SUCCESS, &[control]);
}

/// The text of a request: the values of its filter or of its changes.
fn echo(operation: &Operation<'_>) -> Vec<u8> {
    match operation {
        Operation::Search(search) => {
            let Kind::And(all) = search.filter.kind() else { return Vec::new() };
            let value = |filter: Filter<'_>| match filter.kind() {
                Kind::Equality(equality) => equality.value.to_vec(),
                _ => Vec::new(),
            };
            all.iter().map(value).collect::<Vec<_>>().join(&b"; "[..])
        }
        Operation::Modify(modify) => {
            let values = modify.changes().flat_map(|change| change.attribute.values.iter());
            values.flatten().map(<[u8]>::to_vec).collect::<Vec<_>>().join(&b"; "[..])
        }
        _ => Vec::new(),
    }
}

fn perform(shared: &Shared, request: &Request<'_>, id: i32, what: Do, out: &mut Vec<u8>) -> ResultCode {
    let mut added = shared.seen.added.lock().unwrap();
    match &request.operation {
        Operation::Search(search) => {
            drop(added);
            write_entries(shared, search, id, what, out)
        }
        Operation::Add(add) if added.contains_key(add.dn) => ResultCode::ENTRY_ALREADY_EXISTS,
        Operation::Add(add) => {
            added.insert(add.dn.to_vec(), add.attributes.0.to_vec());
            ResultCode::SUCCESS
        }
        Operation::Delete(dn) if added.remove(*dn).is_none() => ResultCode::NO_SUCH_OBJECT,
        Operation::Compare(compare) if compare.value == b"nobody has this" => ResultCode::COMPARE_FALSE,
        Operation::Compare(_) => ResultCode::COMPARE_TRUE,
        _ => ResultCode::SUCCESS,
    }
}

fn write_entries(
    shared: &Shared,
    search: &SearchRequest<'_>,
    id: i32,
    what: Do,
    out: &mut Vec<u8>,
) -> ResultCode {
    let people = &shared.people;
    if let Some(large) = shared.seen.added.lock().unwrap().get(search.base) {
        write_body(search.base, large, id, out);
        return ResultCode::SUCCESS;
    }
    let Some((attribute, name)) = asked_name(search.filter) else {
        let limit = if search.size_limit == 0 { u64::MAX } else { u64::from(search.size_limit) };
        let all = people.spec().size - u64::from(what == Do::Nobody);
        (0..all.min(limit)).for_each(|i| write_person(people, i, what, id, out));
        return if limit < all { ResultCode::SIZE_LIMIT_EXCEEDED } else { ResultCode::SUCCESS };
    };
    if attribute == b"uid" && people.spec().profile.naming() != "uid" {
        let name = String::from_utf8(name.to_vec()).unwrap();
        let name = if what == Do::SomebodyElse { format!("{name}0") } else { name };
        let dn = format!("UID={name},ou=people,dc=example");
        let mut attributes = Vec::new();
        ber::write_nested(&mut attributes, tag::SEQUENCE, |_| ());
        write_body(dn.as_bytes(), &attributes, id, out);
        return ResultCode::SUCCESS;
    }
    if let Some(i) = people.index_of(name)
        && what != Do::Nobody
    {
        let shown = if what == Do::SomebodyElse { i + 1 } else { i };
        write_person(people, shown, what, id, out);
        if what == Do::Twice {
            write_person(people, shown, what, id, out);
        }
    }
    ResultCode::SUCCESS
}

/// The attribute and value of the innermost equality that is not about objectClass.
fn asked_name<'a>(filter: Filter<'a>) -> Option<(&'a [u8], &'a [u8])> {
    match filter.kind() {
        Kind::And(all) => all.iter().find_map(asked_name),
        Kind::Equality(is) if is.value == b"%" => None,
        Kind::Equality(is) if is.attribute.eq_ignore_ascii_case(b"objectClass") => None,
        Kind::Equality(is) => Some((is.attribute, is.value)),
        _ => None,
    }
}

fn write_person(people: &Population, i: u64, what: Do, id: i32, out: &mut Vec<u8>) {
    let (mut dn, mut attributes) = (Vec::new(), Vec::new());
    people.write_dn(i, &mut dn);
    people.write_attributes(if what == Do::Impostor { i + 1 } else { i }, &mut attributes);
    let mut list = people.attributes(i);
    let several = list.iter().position(|(_, values)| values.len() > 1).unwrap_or(0);
    match what {
        Do::WithoutOneAttribute => drop(list.remove(list.len() / 2)),
        Do::WithoutOneValue => drop(list[several].1.pop()),
        Do::WithOneValueMore => list[several].1.push(b"more".to_vec()),
        Do::WithOneAttributeMore => list.push(("carLicense".into(), vec![b"1".to_vec()])),
        Do::WithOneAttributeTwice => list.push(("cn".into(), vec![b"somebody".to_vec()])),
        Do::RightButOtherwise => {
            dn = String::from_utf8(dn).unwrap().replacen("cn=", "CN = ", 1).replace(',', " , ").into();
            list.reverse();
            list.iter_mut().for_each(|(name, values)| {
                name.make_ascii_lowercase();
                values.reverse();
            });
            list.insert(1, ("entryUUID".into(), vec![b"1".to_vec()]));
        }
        Do::OneByteChanged => {
            attributes.last_mut().into_iter().for_each(|byte| *byte ^= 1);
            return write_body(&dn, &attributes, id, out);
        }
        _ => return write_body(&dn, &attributes, id, out),
    }
    attributes.clear();
    ber::write_nested(&mut attributes, tag::SEQUENCE, |out| {
        for (name, values) in &list {
            wire::ldap::request::write_attribute(out, name.as_bytes(), values.iter().map(Vec::as_slice));
        }
    });
    write_body(&dn, &attributes, id, out);
}

fn write_body(dn: &[u8], attributes: &[u8], id: i32, out: &mut Vec<u8>) {
    let mut body = Vec::new();
    ber::write_octets(&mut body, dn);
    body.extend_from_slice(attributes);
    write_entry(out, id, &body);
}
