//! Requests and responses over open connections.

use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use socket2::Socket;

use super::{EVENTS, FloorError, Load, Measured, SILENCE_LIMIT, wait, write};
use load::{histogram, now_ns, thread_cpu_ns};

struct Exchange {
    socket: Socket,
    /// Received bytes of the response.
    received: usize,
}

/// Exchanges requests and responses as fast as one thread can.
pub fn exchange(load: &Load) -> Result<Measured, FloorError> {
    load.check()?;
    let mut poll = Poll::new().map_err(FloorError::io("cannot create an epoll instance"))?;
    let mut exchanges = open(load, &poll)?;
    let request = &load.request;
    let mut space = vec![0; load.response];
    let mut latency = histogram()?;
    let mut events = Events::with_capacity(EVENTS);
    let mut operations = 0u64;

    let (start, cpu) = (now_ns(), thread_cpu_ns());
    let end = start + load.duration.as_nanos() as u64;
    for exchange in &exchanges {
        write(&exchange.socket, request, load.target)?;
    }
    let (mut now, mut first_sent) = (start, start);
    while now < end {
        wait(&mut poll, &mut events, load.target)?;
        for event in &events {
            let place = event.token().0;
            let exchange = &mut exchanges[place];
            match recv(&exchange.socket, &mut space, RecvFlags::empty()) {
                Ok((0, _)) | Err(Errno::CONNRESET) => return Err(FloorError::Closed(load.target)),
                Ok((read, _)) => exchange.received += read,
                Err(Errno::AGAIN | Errno::INTR) => continue,
                Err(error) => return Err(FloorError::io("cannot read from the responder")(error)),
            }
            if exchange.received < load.response {
                continue;
            }
            exchange.received = 0;
            operations += 1;
            if place == 0 {
                let done = now_ns();
                latency.saturating_record(done - first_sent);
                first_sent = done;
            }
            write(&exchange.socket, request, load.target)?;
        }
        now = now_ns();
    }
    Ok(Measured { operations, elapsed_ns: now - start, cpu_ns: thread_cpu_ns() - cpu, latency })
}

/// Opens every connection and waits until it is open.
fn open(load: &Load, poll: &Poll) -> Result<Vec<Exchange>, FloorError> {
    let target = load.target;
    let failed = |source: io::Error| FloorError::Connect { target, source };
    (0..load.connections)
        .map(|place| {
            let stream = TcpStream::connect_timeout(&target, SILENCE_LIMIT).map_err(failed)?;
            stream.set_nodelay(true).and_then(|()| stream.set_nonblocking(true)).map_err(failed)?;
            poll.registry()
                .register(&mut SourceFd(&stream.as_raw_fd()), Token(place), Interest::READABLE)
                .map_err(FloorError::io("cannot register with epoll"))?;
            Ok(Exchange { socket: stream.into(), received: 0 })
        })
        .collect()
}
