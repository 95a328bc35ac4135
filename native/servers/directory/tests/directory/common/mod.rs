//! A directory on a socket, and a client that sends exactly the given bytes.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use directory::{Config, Running};
use rustix::time::{ClockId, clock_gettime};
use tls::{ClientSpec, Connector, Stream};
use wire::ldap::control::{Control, PagedResults, write_control};
use wire::ldap::filter::{write_and, write_equality, write_present};
use wire::ldap::frame::message_length;
use wire::ldap::request::{self, SearchOptions, write_attribute};
use wire::ldap::{Reply, Response, ResultCode, Scope, oid, op};
use wire::{ber, ber::tag};

/// A timeout that only a hanging test exceeds.
const PATIENCE: Duration = Duration::from_secs(20);

pub type Attributes<'a> = &'a [(&'a str, &'a [&'a str])];

/// Parses a configuration from JSON, as the engine does.
pub fn config(json: &str) -> Config {
    serde_json::from_str(json).unwrap()
}

/// A directory that contains only its suffix.
pub fn start(json: &str) -> Running {
    directory::start(config(json), None).unwrap()
}

/// A directory that contains only its suffix, and a client.
pub fn serve_suffix(json: &str) -> (Running, Client) {
    let directory = start(json);
    let client = Client::connect(directory.addr());
    (directory, client)
}

/// A directory that contains `ou=Dynamic,o=Intranet`, and the client that added it.
pub fn serve(json: &str) -> (Running, Client) {
    let (directory, mut client) = serve_suffix(json);
    client.add_container();
    (directory, client)
}

/// A directory with the entry Ann, which has these passwords, and a client.
pub fn serve_ann(json: &str, passwords: &[&str]) -> (Running, Client) {
    let (directory, mut client) = serve(json);
    let added = client.add_person_with("Ann", &[("userPassword", passwords)]);
    assert_eq!(added.code, ResultCode::SUCCESS);
    (directory, client)
}

/// A directory with `Person 0` and so on, and a client.
pub fn serve_people(json: &str, count: usize) -> (Running, Client) {
    let (directory, mut client) = serve(json);
    for i in 0..count {
        assert_eq!(client.add_person(&format!("Person {i}")).code, ResultCode::SUCCESS);
    }
    (directory, client)
}

pub fn person(name: &str) -> String {
    format!("cn={name},ou=Dynamic,o=Intranet")
}

/// A TLS connector that trusts the directory's generated certificate.
pub fn trusting(directory: &Running) -> Connector {
    let ca_pem = directory.made_ca().map(str::to_owned);
    Connector::new(&ClientSpec { ca_pem, ..ClientSpec::default() }, "127.0.0.1", &[]).unwrap()
}

/// Waits up to a few seconds for a condition: a thread publishes its counts after it has sent the answers.
pub fn eventually(mut is: impl FnMut() -> bool) -> bool {
    (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is()
    })
}

/// A result message, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub id: i32,
    pub tag: u8,
    pub code: ResultCode,
    pub matched_dn: String,
    pub diagnostic: String,
    pub name: Option<Vec<u8>>,
    pub value: Option<Vec<u8>>,
    /// The values of the controls by identifier, undecoded.
    pub controls: Vec<(Vec<u8>, Vec<u8>)>,
}

/// A search result entry, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: i32,
    pub dn: String,
    pub attributes: Vec<(String, Vec<String>)>,
}

impl Entry {
    pub fn values(&self, name: &str) -> Vec<&str> {
        self.attributes
            .iter()
            .filter(|(other, _)| other.eq_ignore_ascii_case(name))
            .flat_map(|(_, values)| values.iter().map(String::as_str))
            .collect()
    }

    pub fn names(&self) -> Vec<&str> {
        self.attributes.iter().map(|(name, _)| name.as_str()).collect()
    }
}

impl Answer {
    /// The cookie in the paged results control.
    pub fn cookie(&self) -> Option<Vec<u8>> {
        let (oid, value) = self.controls.first()?;
        assert_eq!(oid, oid::PAGED_RESULTS);
        Some(PagedResults::decode(value).unwrap().cookie.to_vec())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    Entry(Entry),
    Done(Answer),
}

pub struct Client<S = TcpStream> {
    pub stream: S,
    buffer: Vec<u8>,
    next_id: i32,
}

impl Client {
    pub fn connect(addr: SocketAddr) -> Self {
        Self::of(TcpStream::connect(addr).unwrap())
    }

    /// A client on an existing connection.
    pub fn of(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new(), next_id: 1 }
    }

    /// Connects from `127.0.0.address`; all addresses of 127.0.0.0/8 belong to this machine.
    pub fn connect_from(address: u8, directory: &Running) -> Self {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from(([127, 0, 0, address], 0)).into()).unwrap();
        socket.connect(&directory.addr().into()).unwrap();
        Self::of(socket.into())
    }

    /// Whether bytes of an answer have arrived.
    pub fn has_answer(&self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let peeked = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false).unwrap();
        match peeked {
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            peeked => peeked.is_ok_and(|count| count > 0) || panic!("the server closed the connection"),
        }
    }

    /// The same client over TLS, after StartTLS.
    pub fn secured(mut self, connector: &Connector) -> Client<Secured> {
        let answer = self.extended(oid::START_TLS, None);
        assert_eq!((answer.tag, answer.code), (op::EXTENDED_RESPONSE, ResultCode::SUCCESS));
        assert_eq!(answer.name.as_deref(), Some(oid::START_TLS));
        self.over_tls(connector)
    }

    /// The same client after a TLS handshake.
    pub fn over_tls(self, connector: &Connector) -> Client<Secured> {
        let mut stream = Stream::new(self.stream);
        stream.connect(connector).unwrap();
        assert!(stream.shake().unwrap());
        Client { stream: Secured(stream), buffer: self.buffer, next_id: self.next_id }
    }
}

/// A blocking TLS connection.
pub struct Secured(pub Stream<TcpStream>);

impl Read for Secured {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_some(room)
    }
}

impl Write for Secured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl<S: Read + Write> Client<S> {
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub fn next_id(&mut self) -> i32 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Returns the bytes of the next message, `None` at the end of the connection.
    pub fn raw(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(length) = message_length(&self.buffer, usize::MAX).unwrap() {
                return Some(self.buffer.drain(..length).collect());
            }
            let mut chunk = [0; 65_536];
            match self.stream.read(&mut chunk) {
                Ok(0) => return None,
                Ok(count) => self.buffer.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("no answer: {error}"),
            }
        }
    }

    pub fn receive(&mut self) -> Message {
        parse(&self.raw().expect("the server closed the connection"))
    }

    pub fn done(&mut self) -> Answer {
        match self.receive() {
            Message::Done(answer) => answer,
            Message::Entry(entry) => panic!("an entry where an end was expected: {entry:?}"),
        }
    }

    /// Whether the server closes the connection without a further message.
    pub fn is_closed(&mut self) -> bool {
        self.raw().is_none()
    }

    pub fn bind(&mut self, name: &str, password: &str) -> Answer {
        let id = self.next_id();
        self.request(|out| request::write_bind(out, id, 3, name.as_bytes(), password.as_bytes()))
    }

    pub fn request(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Answer {
        let mut out = Vec::new();
        write(&mut out);
        self.send(&out);
        self.done()
    }

    pub fn add(&mut self, dn: &str, attributes: Attributes<'_>) -> Answer {
        let id = self.next_id();
        self.request(|out| write_add(out, id, dn, attributes))
    }

    pub fn add_container(&mut self) -> Answer {
        let attributes: Attributes<'_> = &[("objectClass", &["organizationalUnit"]), ("ou", &["Dynamic"])];
        self.add("ou=Dynamic,o=Intranet", attributes)
    }

    pub fn add_person(&mut self, name: &str) -> Answer {
        self.add_person_with(name, &[("sn", &["Person"])])
    }

    /// Adds a person with further attributes.
    pub fn add_person_with(&mut self, name: &str, attributes: Attributes<'_>) -> Answer {
        let first: Attributes<'_> = &[("objectClass", &["RTPerson"]), ("cn", &[name])];
        self.add(&person(name), &[first, attributes].concat())
    }

    pub fn delete(&mut self, dn: &str) -> Answer {
        let id = self.next_id();
        self.request(|out| request::write_delete(out, id, dn.as_bytes()))
    }

    pub fn modify(&mut self, dn: &str, changes: &[(u8, &str, &[&str])]) -> Answer {
        let id = self.next_id();
        self.request(|out| {
            request::write_modify(out, id, dn.as_bytes(), |out| {
                for (operation, name, values) in changes {
                    let values = values.iter().map(|value| value.as_bytes());
                    request::write_change(out, *operation, name.as_bytes(), values);
                }
            });
        })
    }

    pub fn rename(&mut self, dn: &str, rdn: &str, new_superior: Option<&str>) -> Answer {
        let (id, new_superior) = (self.next_id(), new_superior.map(str::as_bytes));
        self.request(|out| {
            request::write_modify_dn(out, id, dn.as_bytes(), rdn.as_bytes(), true, new_superior)
        })
    }

    pub fn compare(&mut self, dn: &str, attribute: &str, value: &str) -> ResultCode {
        let id = self.next_id();
        self.request(|out| {
            request::write_compare(out, id, dn.as_bytes(), attribute.as_bytes(), value.as_bytes());
        })
        .code
    }

    pub fn extended(&mut self, name: &[u8], value: Option<&[u8]>) -> Answer {
        let id = self.next_id();
        self.request(|out| request::write_extended(out, id, name, value))
    }

    pub fn search(&mut self, search: &Search<'_>) -> (Vec<Entry>, Answer) {
        let id = self.next_id();
        self.send(&search.message(id));
        self.collect()
    }

    /// Returns the entry of this name with these attributes; without a list, with all user attributes.
    pub fn read(&mut self, base: &str, attributes: &[&str]) -> Option<Entry> {
        let search = Search { base, scope: Scope::Base, attributes, ..Search::default() };
        let (mut entries, done) = self.search(&search);
        assert!([ResultCode::SUCCESS, ResultCode::NO_SUCH_OBJECT].contains(&done.code), "{done:?}");
        entries.pop()
    }

    /// Requests a page of this many entries: the first page, or the page after `cookie`.
    pub fn page(&mut self, size: i64, cookie: &[u8]) -> (Vec<Entry>, Answer) {
        self.search(&Search { controls: paged(size, cookie), ..Search::default() })
    }

    /// Returns the entries of each page.
    pub fn pages(&mut self, first_size: i64, next_size: i64) -> Vec<Vec<Entry>> {
        let (mut size, mut cookie, mut pages) = (first_size, Vec::new(), Vec::new());
        loop {
            let (entries, done) = self.page(size, &cookie);
            assert_eq!(done.code, ResultCode::SUCCESS);
            pages.push(entries);
            (size, cookie) = (next_size, done.cookie().unwrap());
            if cookie.is_empty() {
                return pages;
            }
        }
    }

    /// Changes the password of `user`, or else of the bound user (RFC 3062).
    pub fn change_password(&mut self, user: Option<&str>, old: Option<&str>, new: Option<&str>) -> Answer {
        self.extended(oid::PASSWORD_MODIFY, Some(&password_change(user, old, new)))
    }

    /// Returns the entries up to the next search result.
    pub fn collect(&mut self) -> (Vec<Entry>, Answer) {
        let mut entries = Vec::new();
        loop {
            match self.receive() {
                Message::Entry(entry) => entries.push(entry),
                Message::Done(answer) => return (entries, answer),
            }
        }
    }
}

/// A search whose defaults are the defaults of a lookup.
pub struct Search<'a> {
    pub base: &'a str,
    pub scope: Scope,
    pub size_limit: u32,
    pub time_limit_s: u32,
    pub types_only: bool,
    pub filter: Vec<u8>,
    pub attributes: &'a [&'a str],
    pub controls: Vec<u8>,
}

impl Default for Search<'_> {
    fn default() -> Self {
        Self {
            base: "ou=Dynamic,o=Intranet",
            scope: Scope::Subtree,
            size_limit: 0,
            time_limit_s: 0,
            types_only: false,
            filter: filter(|out| write_present(out, b"objectClass")),
            attributes: &[],
            controls: Vec::new(),
        }
    }
}

impl Search<'_> {
    /// The encoded request.
    pub fn message(&self, id: i32) -> Vec<u8> {
        let options = SearchOptions {
            scope: self.scope,
            size_limit: self.size_limit,
            time_limit_s: self.time_limit_s,
            types_only: self.types_only,
            dereference: 0,
        };
        let (base, names) = (self.base.as_bytes(), self.attributes.iter().map(|name| name.as_bytes()));
        let filter = |out: &mut Vec<u8>| out.extend_from_slice(&self.filter);
        let mut plain = Vec::new();
        request::write_search(&mut plain, id, base, &options, filter, names);
        with_controls(&plain, &self.controls)
    }
}

/// Returns the message with these encoded controls added.
pub fn with_controls(message: &[u8], controls: &[u8]) -> Vec<u8> {
    if controls.is_empty() {
        return message.to_vec();
    }
    let content = ber::Reader::new(message).expect(tag::SEQUENCE).unwrap();
    let mut out = Vec::new();
    ber::write_nested(&mut out, tag::SEQUENCE, |out| {
        out.extend_from_slice(content);
        ber::write_element(out, tag::context_constructed(0), controls);
    });
    out
}

pub fn filter(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

pub fn lookup(name: &str) -> Vec<u8> {
    filter(|out| {
        write_and(out, |out| {
            write_equality(out, b"objectClass", b"RTPerson");
            write_equality(out, b"cn", name.as_bytes());
        });
    })
}

/// The critical control that requests a page of this many entries (RFC 2696).
pub fn paged(size: i64, cookie: &[u8]) -> Vec<u8> {
    let (mut value, mut controls) = (Vec::new(), Vec::new());
    PagedResults { size, cookie }.encode(&mut value);
    write_control(&mut controls, &Control { oid: oid::PAGED_RESULTS, critical: true, value: Some(&value) });
    controls
}

/// The value of a request to change a password (RFC 3062).
pub fn password_change(user: Option<&str>, old: Option<&str>, new: Option<&str>) -> Vec<u8> {
    filter(|out| {
        ber::write_nested(out, tag::SEQUENCE, |out| {
            for (number, field) in [user, old, new].into_iter().enumerate() {
                if let Some(field) = field {
                    ber::write_element(out, tag::context(number as u8), field.as_bytes());
                }
            }
        });
    })
}

pub fn write_add(out: &mut Vec<u8>, id: i32, dn: &str, attributes: Attributes<'_>) {
    request::write_add(out, id, dn.as_bytes(), |out| {
        ber::write_nested(out, tag::SEQUENCE, |out| {
            for (name, values) in attributes {
                write_attribute(out, name.as_bytes(), values.iter().map(|value| value.as_bytes()));
            }
        });
    });
}

fn parse(message: &[u8]) -> Message {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let response = Response::decode(message).unwrap();
    match response.reply {
        Reply::Entry { dn, attributes } => Message::Entry(Entry {
            id: response.id,
            dn: text(dn),
            attributes: attributes
                .iter()
                .map(Result::unwrap)
                .map(|a| (text(a.name), a.values.iter().map(|value| text(value.unwrap())).collect()))
                .collect(),
        }),
        Reply::Done { tag, outcome } => Message::Done(Answer {
            id: response.id,
            tag,
            code: outcome.code,
            matched_dn: text(outcome.matched_dn),
            diagnostic: text(outcome.diagnostic),
            name: outcome.name.map(<[u8]>::to_vec),
            value: outcome.value.map(<[u8]>::to_vec),
            controls: response
                .controls
                .iter()
                .map(|control| (control.oid.to_vec(), control.value.unwrap_or_default().to_vec()))
                .collect(),
        }),
        other => panic!("unexpected {other:?}"),
    }
}

/// 20,000 entries of 1 KB: 20 MB exceed the socket buffers several times.
pub const ENTRIES: usize = 20_000;

/// A directory of `ENTRIES` entries.
pub fn crowd(json: &str) -> Running {
    let (directory, mut client) = serve(json);
    let filler = "x".repeat(1000);
    for batch in (0..ENTRIES).collect::<Vec<_>>().chunks(500) {
        let mut out = Vec::new();
        for i in batch {
            let name = format!("Person {i}");
            let attributes: Attributes<'_> =
                &[("objectClass", &["RTPerson"]), ("cn", &[&name]), ("description", &[&filler])];
            write_add(&mut out, 1, &person(&name), attributes);
        }
        client.send(&out);
        for _ in batch {
            assert_eq!(client.done().code, ResultCode::SUCCESS);
        }
    }
    directory
}

/// A directory with fifty entries of 200 KB: 10 MB exceed the socket buffers several times.
pub fn serve_large_entries(json: &str) -> (Running, Client) {
    let (directory, mut client) = serve(json);
    let filler = "x".repeat(200_000);
    for i in 0..50 {
        let added = client.add_person_with(&format!("Person {i}"), &[("description", &[&filler])]);
        assert_eq!(added.code, ResultCode::SUCCESS);
    }
    (directory, client)
}

pub fn search_for_all(id: i32) -> Vec<u8> {
    Search::default().message(id)
}

/// The milliseconds of processor time used by this process; a test that calls this needs its own process.
pub fn used_ms() -> u128 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as u128 * 1_000 + used.tv_nsec as u128 / 1_000_000
}

/// Asserts that this process uses hardly any processor time; a test that calls this needs its own process.
pub fn assert_idle() {
    let (before, began) = (used_ms(), Instant::now());
    std::thread::sleep(Duration::from_millis(500));
    let (used, lasted) = (used_ms() - before, began.elapsed().as_millis());
    assert!(used < lasted / 5, "{used} ms of CPU for nothing in {lasted} ms");
}

/// The memory of this process in KiB: `VmRSS` now, `VmHWM` at its peak; a test that calls this needs its own
/// process.
pub fn memory_kib(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
