//! Many requests outstanding on a few connections, from one thread.

use std::io::{self, Read};
use std::ops::Range;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use tls::Fault;
use wire::ldap::Response;
use wire::ldap::request::write_unbind;

use super::connection::{Connection, final_outcome};
use super::error::answer;
use super::inbox::not_ldap;
use super::person::{Meaning, Work};
use super::session::Session;
use super::{Config, Progress, Report, SeedingError};

/// How often progress is reported.
pub(super) const REPORT: Duration = Duration::from_millis(100);

/// The maximum wait for outstanding requests after the caller has stopped the work.
const GRACE: Duration = Duration::from_secs(5);

/// The maximum distance from the first unanswered person to the last requested person, so that after a kill
/// only this many people have to be searched for. All windows together are a sixteenth of this distance.
pub(super) const REACH: u64 = 4_096;

/// Reads of one connection before the clock and the caller get their turn: a server may send faster than
/// this thread reads.
const READS: usize = 64;

/// Bytes of requests prepared ahead for one connection.
const AHEAD: usize = 256 << 10;

/// Does the work for all people in `range`.
pub(super) fn run(
    config: &Config,
    work: Work<'_>,
    range: Range<u64>,
    sessions: Vec<Session>,
    progress: Progress<'_>,
) -> Result<Report, SeedingError> {
    let mut pipeline = Pipeline::new(config, work, range, sessions)?;
    let result = pipeline.pump(progress);
    let report = Report { done: pipeline.done(), changed: pipeline.changed };
    // The last progress report. A `Break` has no effect, because no work is left.
    let _ = progress(report.done);
    result?;
    pipeline.unbind();
    Ok(report)
}

/// Searches for the first existing person.
pub(super) fn first(
    config: &Config,
    work: Work<'_>,
    range: Range<u64>,
    sessions: Vec<Session>,
    progress: Progress<'_>,
) -> Result<Option<u64>, SeedingError> {
    let mut pipeline = Pipeline::new(config, work, range, sessions)?;
    pipeline.ends_when_found = true;
    pipeline.pump(progress)?;
    let first = pipeline.first;
    pipeline.unbind();
    Ok(first)
}

struct Pipeline<'p> {
    server: String,
    work: Work<'p>,
    start: u64,
    /// The person of the next request.
    next: u64,
    end: u64,
    changed: u64,
    /// The first person that the work has changed, or found to exist.
    first: Option<u64>,
    ends_when_found: bool,
    poll: Poll,
    connections: Vec<Connection>,
    timeout: Duration,
    last_answer: Instant,
}

impl<'p> Pipeline<'p> {
    fn new(
        config: &Config,
        work: Work<'p>,
        range: Range<u64>,
        sessions: Vec<Session>,
    ) -> Result<Self, SeedingError> {
        let broken = |source| SeedingError::Broken { server: config.server(), source };
        let poll = Poll::new().map_err(broken)?;
        let mut connections = Vec::with_capacity(sessions.len());
        for (place, session) in sessions.into_iter().enumerate() {
            let mut stream = session.into_stream().try_map(polled).map_err(broken)?;
            let both = Interest::READABLE | Interest::WRITABLE;
            poll.registry().register(stream.socket(), Token(place), both).map_err(broken)?;
            connections.push(Connection::new(stream, config.window));
        }
        Ok(Self {
            server: config.server(),
            work,
            start: range.start,
            next: range.start,
            end: range.end.max(range.start),
            changed: 0,
            first: None,
            ends_when_found: false,
            poll,
            connections,
            timeout: Duration::from_millis(config.timeout_ms.max(1)),
            last_answer: Instant::now(),
        })
    }

    /// Sends requests and reads answers until all people are done, or the caller stops the work.
    fn pump(&mut self, progress: Progress<'_>) -> Result<(), SeedingError> {
        let mut events = Events::with_capacity(64);
        let mut reported = Instant::now();
        let mut stopped: Option<Instant> = None;
        // Connections whose socket was not read until empty: a poll does not report these connections again.
        let mut unread: Vec<usize> = Vec::new();
        loop {
            self.ask()?;
            if self.oldest().is_none() {
                return Ok(());
            }
            let patience = REPORT.saturating_sub(reported.elapsed());
            self.wait(&mut events, if unread.is_empty() { patience } else { Duration::ZERO })?;
            let mut ready = std::mem::take(&mut unread);
            ready.extend(events.iter().map(|event| event.token().0));
            ready.sort_unstable();
            ready.dedup();
            for place in ready {
                if !self.read(place)? {
                    unread.push(place);
                }
            }
            if reported.elapsed() >= REPORT {
                reported = Instant::now();
                if stopped.is_none() && progress(self.done()).is_break() {
                    stopped = Some(reported);
                    self.end = self.next;
                }
            }
            match stopped {
                Some(since) if since.elapsed() > GRACE => return Ok(()),
                _ if self.last_answer.elapsed() > self.timeout => {
                    let seconds = self.timeout.as_secs();
                    return Err(SeedingError::Silent { server: self.server.clone(), seconds });
                }
                _ => {}
            }
        }
    }

    fn wait(&mut self, events: &mut Events, at_most: Duration) -> Result<(), SeedingError> {
        match self.poll.poll(events, Some(at_most)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            done => done.map_err(|source| broken(&self.server, source)),
        }
    }

    /// The first person with a request outstanding.
    fn oldest(&self) -> Option<u64> {
        self.connections.iter().filter_map(Connection::oldest).min()
    }

    fn done(&self) -> u64 {
        self.oldest().unwrap_or(self.next) - self.start
    }

    /// Fills every window and writes as much as the sockets take.
    fn ask(&mut self) -> Result<(), SeedingError> {
        if self.oldest().is_none() {
            // Nothing was outstanding, so the timeout starts now.
            self.last_answer = Instant::now();
        }
        for place in 0..self.connections.len() {
            let reach = self.oldest().unwrap_or(self.next).saturating_add(REACH);
            let mut people = self.next..self.end.min(reach);
            let connection = &mut self.connections[place];
            while connection.out.len() - connection.sent < AHEAD
                && connection.ask_one(&mut self.work, &mut people)
            {}
            self.next = people.start;
            if let Err(source) = connection.flush() {
                // The server may have sent the reason before it closed the connection.
                self.read(place)?;
                return Err(broken(&self.server, source));
            }
        }
        Ok(())
    }

    /// Reads received answers; returns whether the socket is empty. An end of the connection is an error.
    fn read(&mut self, place: usize) -> Result<bool, SeedingError> {
        for _ in 0..READS {
            let connection = &mut self.connections[place];
            match connection.stream.read(connection.inbox.space()) {
                Ok(0) => {
                    return Err(SeedingError::Closed { server: self.server.clone(), notice: String::new() });
                }
                Ok(read) => connection.inbox.came(read),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(broken(&self.server, source)),
            }
            self.take_answers(place)?;
            if self.ends_when_found && self.first.is_some() {
                self.end = self.next;
            }
        }
        Ok(false)
    }

    fn take_answers(&mut self, place: usize) -> Result<(), SeedingError> {
        let Self { server, work, changed, first, connections, last_answer, .. } = self;
        let Connection { inbox, slots, free, .. } = &mut connections[place];
        inbox.take(server, |response| {
            let slot = usize::try_from(response.id - 1).unwrap_or(usize::MAX);
            let Some(person) = slots.get(slot).copied().flatten() else {
                return Err(not_ldap(server, "an answer to nothing that was asked"));
            };
            let Some(meaning) = judge(server, work, person, response)? else { return Ok(()) };
            // A refusal has already ended the work. The refused person keeps the slot, and is not counted as
            // done.
            if meaning == Meaning::Changed {
                *changed += 1;
                *first = Some(first.map_or(person, |first| first.min(person)));
            }
            // Only a final answer renews the timeout: other messages may arrive without end.
            *last_answer = Instant::now();
            slots[slot] = None;
            free.push(slot);
            Ok(())
        })
    }

    /// Unbinds. A failure is ignored.
    fn unbind(mut self) {
        for connection in &mut self.connections {
            write_unbind(&mut connection.out, connection.slots.len() as i32 + 1);
            let _ = connection.flush();
            connection.stream.close();
        }
    }
}

/// Makes a socket non-blocking, for a poll.
fn polled(socket: std::net::TcpStream) -> io::Result<TcpStream> {
    socket.set_nonblocking(true)?;
    Ok(TcpStream::from_std(socket))
}

/// The result of an answer, or an error that stops the work; `None` if the answer is not final.
fn judge(
    server: &str,
    work: &Work<'_>,
    person: u64,
    response: &Response<'_>,
) -> Result<Option<Meaning>, SeedingError> {
    let Some(outcome) = final_outcome(server, work.response(), response)? else { return Ok(None) };
    match work.meaning(outcome.code) {
        Meaning::Refused => Err(SeedingError::Refused {
            server: server.to_owned(),
            verb: work.verb(),
            dn: work.dn(person),
            code: outcome.code,
            answer: answer(outcome),
        }),
        meaning => Ok(Some(meaning)),
    }
}

fn broken(server: &str, source: io::Error) -> SeedingError {
    let server = server.to_owned();
    if let Some(fault) = Fault::of(&source) {
        return SeedingError::Tls { server, fault };
    }
    match source.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
            SeedingError::Closed { server, notice: String::new() }
        }
        _ => SeedingError::Broken { server, source },
    }
}
