//! A connection with one request at a time, for binds, searches and single entries.

use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use people::{Container, Population, Profile, Spec};
use tls::{Connector, Stream};
use wire::ber::{self, tag};
use wire::ldap::control::PagedResults;
use wire::ldap::request::{
    SearchOptions, add_controls, write_add, write_attribute, write_bind, write_extended, write_search,
};
use wire::ldap::{Attributes, Control, Reply, ResultCode, Scope, filter, oid};

use super::error::answer;
use super::inbox::{Inbox, not_ldap};
use super::{Config, SeedingError};
use load::{CONNECT_MS, sasl};

/// Search options for one entry by its DN.
pub(super) const ENTRY_ITSELF: SearchOptions =
    SearchOptions { scope: Scope::Base, size_limit: 1, time_limit_s: 0, types_only: false, dereference: 0 };

/// Search options for the entries directly below a DN.
pub(super) const ENTRIES_BELOW: SearchOptions =
    SearchOptions { scope: Scope::One, size_limit: 0, time_limit_s: 0, types_only: false, dereference: 0 };

/// Entries per page: the maximum of Active Directory (MaxPageSize).
const PAGE_ENTRIES: i64 = 1_000;

/// A bound connection.
#[derive(Debug)]
pub(super) struct Session {
    server: String,
    stream: Stream<TcpStream>,
    inbox: Inbox,
    timeout: Duration,
    last_id: i32,
}

/// The final answer to a request.
pub(super) struct Answer {
    pub(super) code: ResultCode,
    pub(super) text: String,
    /// The cookie of the next page; empty after the last page.
    cookie: Vec<u8>,
}

impl Session {
    /// Connects, and binds if the configuration has a bind DN.
    pub(super) fn open(config: &Config) -> Result<Self, SeedingError> {
        let stream = connect(config)?;
        let timeout = Duration::from_millis(config.timeout_ms.max(1));
        let server = config.server();
        let limits = stream.set_read_timeout(Some(timeout)).and(stream.set_write_timeout(Some(timeout)));
        limits.map_err(|source| SeedingError::Broken { server: server.clone(), source })?;
        let stream = Stream::new(stream);
        let mut session = Self { server, stream, inbox: Inbox::default(), timeout, last_id: 0 };
        if let Some(tls) = &config.tls {
            session.secure(&Connector::new(&tls.trust, &config.host, &[])?, tls.start)?;
        }
        session.bind(config)?;
        Ok(session)
    }

    /// The connection, without outstanding requests.
    pub(super) fn into_stream(self) -> Stream<TcpStream> {
        self.stream
    }

    fn secure(&mut self, connector: &Connector, start: bool) -> Result<(), SeedingError> {
        if start {
            let Answer { code, text, .. } =
                self.ask(|out, id| write_extended(out, id, oid::START_TLS, None))?;
            if code != ResultCode::SUCCESS {
                return Err(SeedingError::StartTls { server: self.server.clone(), answer: text });
            }
            if !self.inbox.is_empty() {
                // Cleartext bytes after the answer would be taken for data under TLS (command injection).
                return Err(not_ldap(&self.server, "something came behind the answer to StartTLS"));
            }
        }
        let done = self.stream.connect(connector).and_then(|()| self.stream.shake());
        match done.map_err(|source| self.broken(source))? {
            true => Ok(()),
            false => Err(self.broken(io::ErrorKind::TimedOut.into())),
        }
    }

    /// Binds, unless the configuration is for an anonymous connection.
    fn bind(&mut self, config: &Config) -> Result<(), SeedingError> {
        let (dn, password) = match (config.credentials(), config.sasl) {
            (Some(credentials), _) => credentials,
            (None, Some(_)) => ("the certificate's owner", &b""[..]),
            (None, None) => return Ok(()),
        };
        let Answer { code, text, .. } = self.ask(|out, id| match config.sasl {
            Some(mechanism) => sasl::write_bind(mechanism, out, id, dn.as_bytes(), password),
            None => write_bind(out, id, 3, dn.as_bytes(), password),
        })?;
        if code == ResultCode::SUCCESS {
            return Ok(());
        }
        Err(SeedingError::Bind { server: self.server.clone(), dn: dn.to_owned(), code, answer: text })
    }

    /// Adds the missing entries above the people.
    pub(super) fn create_containers(&mut self, people: &Population) -> Result<(), SeedingError> {
        let base = &people.spec().base;
        if base.is_empty() || self.exists(base)? {
            return Ok(());
        }
        people::containers(base)?.iter().try_for_each(|container| self.create(container))
    }

    /// Passes every person directly below the base to `visit`.
    pub(super) fn people_below(
        &mut self,
        Spec { base, profile, .. }: &Spec,
        visit: &mut dyn FnMut(Attributes<'_>) -> Result<(), SeedingError>,
    ) -> Result<(), SeedingError> {
        let class = profile.object_class().as_bytes();
        let person = |out: &mut Vec<u8>| filter::write_equality(out, b"objectClass", class);
        let search = |out: &mut Vec<u8>, id| {
            write_search(out, id, base.as_bytes(), &ENTRIES_BELOW, person, [&b"*"[..]])
        };
        self.ask_all(base, *profile == Profile::Ad, &search, visit)
    }

    /// Passes every entry of a search below `base` to `visit`. Some servers limit every search, so they need
    /// pages (`paged`). Other servers limit only the paged searches of some users, so they are searched
    /// without pages.
    pub(super) fn ask_all(
        &mut self,
        base: &str,
        paged: bool,
        search: &dyn Fn(&mut Vec<u8>, i32),
        visit: &mut dyn FnMut(Attributes<'_>) -> Result<(), SeedingError>,
    ) -> Result<(), SeedingError> {
        let mut cookie = Vec::new();
        loop {
            let request = |out: &mut Vec<u8>, id| {
                search(out, id);
                if paged {
                    let mut page = Vec::new();
                    PagedResults { size: PAGE_ENTRIES, cookie: &cookie }.encode(&mut page);
                    let control = Control { oid: oid::PAGED_RESULTS, critical: true, value: Some(&page) };
                    // The error is impossible: a message has just been written.
                    let _ = add_controls(out, 0, &[control]);
                }
            };
            let Answer { code, text, cookie: next } = self.ask_each(request, visit)?;
            if code != ResultCode::SUCCESS {
                let (server, base) = (self.server.clone(), base.to_owned());
                return Err(SeedingError::Unseen { server, base, code, answer: text });
            }
            if next.is_empty() {
                return Ok(());
            }
            cookie = next;
        }
    }

    pub(super) fn exists(&mut self, dn: &str) -> Result<bool, SeedingError> {
        let any = |out: &mut Vec<u8>| filter::write_present(out, b"objectClass");
        let answer = self.ask(|out, id| {
            write_search(out, id, dn.as_bytes(), &ENTRY_ITSELF, any, [&b"1.1"[..]]);
        })?;
        // A user without read access may still write. If this search fails, the adds show whether the entry
        // exists.
        Ok(answer.code == ResultCode::SUCCESS)
    }

    fn create(&mut self, container: &Container) -> Result<(), SeedingError> {
        let Answer { code, text, .. } = self.ask(|out, id| {
            write_add(out, id, container.dn.as_bytes(), |out| {
                ber::write_nested(out, tag::SEQUENCE, |out| {
                    for (name, values) in &container.attributes {
                        write_attribute(out, name.as_bytes(), values.iter().map(Vec::as_slice));
                    }
                });
            });
        })?;
        match code {
            ResultCode::SUCCESS | ResultCode::ENTRY_ALREADY_EXISTS => Ok(()),
            _ => {
                let dn = container.dn.clone();
                Err(SeedingError::Container { server: self.server.clone(), dn, answer: text })
            }
        }
    }

    /// Allows answers that are `bytes` longer than usual.
    pub(super) fn expect(&mut self, bytes: usize) {
        self.inbox.expect(bytes);
    }

    /// Sends a request and waits for its final answer.
    pub(super) fn ask(&mut self, request: impl FnOnce(&mut Vec<u8>, i32)) -> Result<Answer, SeedingError> {
        let server = self.server.clone();
        let mut entries = 0;
        self.ask_each(request, &mut |_| {
            entries += 1;
            if entries > 1 { Err(not_ldap(&server, "more entries than were asked for")) } else { Ok(()) }
        })
    }

    /// Sends a request, passes received entries to `visit`, and waits for the final answer.
    pub(super) fn ask_each(
        &mut self,
        request: impl FnOnce(&mut Vec<u8>, i32),
        visit: &mut dyn FnMut(Attributes<'_>) -> Result<(), SeedingError>,
    ) -> Result<Answer, SeedingError> {
        self.last_id += 1;
        let mut out = Vec::new();
        request(&mut out, self.last_id);
        self.stream.write_all(&out).map_err(|source| self.broken(source))?;
        let mut heard = Instant::now();
        loop {
            let mut final_answer = None;
            let id = self.last_id;
            self.inbox.take(&self.server, |response| match response.reply {
                Reply::Done { outcome, .. } if response.id == id => {
                    let page = response.controls.iter().find(|control| control.oid == oid::PAGED_RESULTS);
                    let page = page.and_then(|page| PagedResults::decode(page.value?).ok());
                    let cookie = page.map_or_else(Vec::new, |page| page.cookie.to_vec());
                    final_answer = Some(Answer { code: outcome.code, text: answer(&outcome), cookie });
                    Ok(())
                }
                Reply::Entry { attributes, .. } if response.id == id => {
                    heard = Instant::now();
                    visit(attributes)
                }
                _ if response.id == id => Ok(()),
                _ => Err(not_ldap(&self.server, "an answer to another question")),
            })?;
            if let Some(answer) = final_answer {
                return Ok(answer);
            }
            // Incomplete or unsolicited messages may arrive without end.
            if heard.elapsed() > self.timeout {
                return Err(self.broken(io::ErrorKind::TimedOut.into()));
            }
            match self.stream.read_some(self.inbox.space()) {
                Ok(0) => {
                    return Err(SeedingError::Closed { server: self.server.clone(), notice: String::new() });
                }
                Ok(read) => self.inbox.came(read),
                Err(source) => return Err(self.broken(source)),
            }
        }
    }

    fn broken(&self, source: io::Error) -> SeedingError {
        let server = self.server.clone();
        if let Some(fault) = self.stream.fault(&source) {
            return SeedingError::Tls { server, fault };
        }
        match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                SeedingError::Silent { server, seconds: self.timeout.as_secs() }
            }
            // A signal, such as SIGINT of Ctrl-C.
            io::ErrorKind::Interrupted => SeedingError::Interrupted,
            _ => SeedingError::Broken { server, source },
        }
    }
}

/// Connects to the first of the host's addresses that answers.
fn connect(config: &Config) -> Result<TcpStream, SeedingError> {
    let failed = |source| SeedingError::Connect { server: config.server(), source };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (config.host.as_str(), config.port).to_socket_addrs().map_err(failed)? {
        match TcpStream::connect_timeout(&address, Duration::from_millis(CONNECT_MS)) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(failed)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}
