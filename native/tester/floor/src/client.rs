//! The floor's client.

use std::io;
use std::os::fd::AsRawFd;

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use socket2::Socket;

use super::{EVENTS, FAREWELL_BYTES, FloorError, Load, Measured, wait, write};
use load::{Sources, histogram, now_ns, thread_cpu_ns};

struct Connection {
    socket: Socket,
    /// Whether a request was sent.
    asked: bool,
    /// Received bytes of the response.
    received: usize,
}

/// Exchanges requests and responses as fast as one thread can.
///
/// A load that reconnects sends a farewell of seven bytes after each operation, closes, and connects again. Its
/// source addresses are spread (see [`Sources`]), so the loop does not run out of ports.
pub fn exchange(load: &Load) -> Result<Measured, FloorError> {
    load.check()?;
    let mut poll = Poll::new().map_err(FloorError::io("cannot create an epoll instance"))?;
    let registry = poll.registry().try_clone().map_err(FloorError::io("cannot copy a descriptor"))?;
    let mut opener = Opener { sources: Sources::new(load.target, load.reconnects, 0), registry, load };
    let mut space = vec![0; load.response];
    let mut latency = histogram()?;
    let mut events = Events::with_capacity(EVENTS);
    let mut operations = 0u64;

    let clocks = || (now_ns(), thread_cpu_ns());
    let before = clocks();
    let mut connections =
        (0..load.connections).map(|place| opener.open(place)).collect::<Result<Vec<_>, _>>()?;
    let (start, cpu) = if load.reconnects { before } else { clocks() };
    let end = start + load.duration.as_nanos() as u64;
    let (mut now, mut first_started) = (start, start);
    while now < end {
        wait(&mut poll, &mut events, load.target)?;
        for event in &events {
            let place = event.token().0;
            let connection = &mut connections[place];
            if !connection.asked {
                write(&connection.socket, &load.request, load.target)?;
                connection.asked = true;
            }
            match recv(&connection.socket, &mut space, RecvFlags::empty()) {
                Ok((0, _)) | Err(Errno::CONNRESET) => return Err(FloorError::Closed(load.target)),
                Ok((read, _)) => connection.received += read,
                Err(Errno::AGAIN | Errno::INTR) => continue,
                Err(error) => return Err(FloorError::io("cannot read from the responder")(error)),
            }
            if connection.received < load.response {
                continue;
            }
            if load.reconnects {
                write(&connection.socket, &[b'.'; FAREWELL_BYTES], load.target)?;
            }
            operations += 1;
            if place == 0 {
                let done = now_ns();
                latency.saturating_record(done - first_started);
                first_started = done;
            }
            if load.reconnects {
                // Dropping the old socket closes it, which removes it from epoll.
                connections[place] = opener.open(place)?;
            } else {
                connection.received = 0;
                write(&connection.socket, &load.request, load.target)?;
            }
        }
        now = now_ns();
    }
    Ok(Measured { operations, elapsed_ns: now - start, cpu_ns: thread_cpu_ns() - cpu, latency })
}

struct Opener<'l> {
    sources: Sources,
    registry: Registry,
    load: &'l Load,
}

impl Opener<'_> {
    /// Opens a connection without waiting: on loopback the connection is open when connect returns. A load that
    /// reconnects also sends the request.
    #[inline]
    fn open(&mut self, place: usize) -> Result<Connection, FloorError> {
        let target = self.load.target;
        let connect = |source| FloorError::Connect { target, source };
        let socket = self.sources.connect().map_err(|source| self.refusal(source))?;
        let asked = if self.load.reconnects {
            match send(&socket, &self.load.request, SendFlags::NOSIGNAL) {
                Ok(_) => true,
                Err(Errno::AGAIN | Errno::INTR) => false,
                Err(error) => return Err(connect(error.into())),
            }
        } else {
            socket.set_tcp_nodelay(true).map_err(connect)?;
            false
        };
        let interest = if asked { Interest::READABLE } else { Interest::READABLE | Interest::WRITABLE };
        self.registry
            .register(&mut SourceFd(&socket.as_raw_fd()), Token(place), interest)
            .map_err(FloorError::io("cannot register with epoll"))?;
        Ok(Connection { socket, asked, received: 0 })
    }

    fn refusal(&self, source: io::Error) -> FloorError {
        let target = self.load.target;
        match Errno::from_io_error(&source) {
            Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN) => FloorError::OutOfPorts(target),
            _ => FloorError::Connect { target, source },
        }
    }
}
