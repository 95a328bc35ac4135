//! A lane's connection as the kernel sees it, and TLS where it is spoken.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use socket2::Socket;

use crate::connection::security::{Guard, Raw, Security};
use crate::connection::source::Sources;
use crate::record::failure::Failure;

/// A lane's connection.
#[derive(Debug)]
pub(crate) enum Link {
    /// None, and what ended the last one if the lane has not been told.
    Down(Option<Failure>),
    /// On its way: on loopback it is there already, but only writing will tell.
    Opening(Line),
    /// Open.
    Up(Line),
}

/// A socket, and what protects what it carries.
#[derive(Debug)]
pub(crate) struct Line {
    socket: Socket,
    guard: Option<Box<Guard>>,
}

/// What became of bytes to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// So many of them are on their way.
    Bytes(usize),
    /// Not now; the same bytes have to be offered again.
    Later,
}

/// What became of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Got {
    /// So many bytes; 0 is the end.
    Bytes(usize),
    /// Not now.
    Later,
}

impl Link {
    /// Starts to connect.
    #[inline]
    pub(crate) fn open(sources: &mut Sources, security: Option<&Security>) -> Result<Self, Failure> {
        let guard = security.map(Security::guard).transpose()?;
        match sources.connect() {
            Ok(socket) => Ok(Self::Opening(Line { socket, guard })),
            Err(error) => Err(Failure::of_system(&error)),
        }
    }

    #[inline]
    pub(crate) const fn is_opening(&self) -> bool {
        matches!(self, Self::Opening(_))
    }

    /// Whether TLS is spoken, or will be.
    #[inline]
    pub(crate) const fn is_guarded(&self) -> bool {
        matches!(self, Self::Opening(Line { guard: Some(_), .. }) | Self::Up(Line { guard: Some(_), .. }))
    }

    /// What was on its way has arrived.
    #[inline]
    pub(crate) fn promote(&mut self) {
        if let Self::Opening(line) = std::mem::replace(self, Self::Down(None)) {
            *self = Self::Up(line);
        }
    }

    /// Asks how connecting goes; whether it is over.
    pub(crate) fn check(&mut self) -> Result<bool, Failure> {
        let Self::Opening(line) = self else { return Ok(true) };
        match rustix::net::sockopt::socket_error(line.socket.as_fd()) {
            Ok(Ok(())) => {}
            Ok(Err(error)) | Err(error) => return Err(Failure::of_connect(error)),
        }
        match &mut line.guard {
            None => Ok(true),
            Some(guard) => guard.shake(&line.socket),
        }
    }

    /// Writes once.
    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<Sent, Failure> {
        let opening = self.is_opening();
        let (Self::Up(line) | Self::Opening(line)) = self else {
            return Err(Failure::Closed);
        };
        if let Some(guard) = &mut line.guard {
            return send_guarded(guard, &line.socket, bytes);
        }
        match rustix::net::send(line.socket.as_fd(), bytes, SendFlags::NOSIGNAL) {
            Ok(n) => Ok(Sent::Bytes(n)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Sent::Later),
            Err(error) if opening => Err(Failure::of_connect(error)),
            Err(error) => Err(Failure::of_connection(error)),
        }
    }

    /// Reads once.
    #[inline]
    pub(crate) fn receive(&mut self, space: &mut [u8]) -> Result<Got, Failure> {
        let Self::Up(line) = self else { return Ok(Got::Later) };
        if let Some(guard) = &mut line.guard {
            return receive_guarded(guard, &line.socket, space);
        }
        match rustix::net::recv(line.socket.as_fd(), space, RecvFlags::empty()) {
            Ok((n, _)) => Ok(Got::Bytes(n)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Got::Later),
            Err(error) => Err(Failure::of_connection(error)),
        }
    }

    /// Says that this is the end, where that has to be said.
    #[inline]
    pub(crate) fn close(&mut self) {
        if let Self::Up(Line { socket, guard: Some(guard) }) = self {
            guard.session.close(&mut Raw(socket));
        }
    }

    /// Tells the poller about it; closing the socket is all it takes to end that.
    #[inline]
    pub(crate) fn watch(
        &self,
        registry: &Registry,
        lane: u32,
        how: Interest,
        again: bool,
    ) -> Result<(), Failure> {
        let (Self::Up(line) | Self::Opening(line)) = self else { return Ok(()) };
        let fd = line.socket.as_raw_fd();
        let token = Token(lane as usize);
        let done = match again {
            true => registry.reregister(&mut SourceFd(&fd), token, how),
            false => registry.register(&mut SourceFd(&fd), token, how),
        };
        done.map_err(|_| Failure::Io)
    }
}

// Out of the way of those who do without TLS.
#[cold]
#[inline(never)]
fn send_guarded(guard: &mut Guard, socket: &Socket, bytes: &[u8]) -> Result<Sent, Failure> {
    Ok(now(guard.session.write(&mut Raw(socket), bytes))?.map_or(Sent::Later, Sent::Bytes))
}

#[cold]
#[inline(never)]
fn receive_guarded(guard: &mut Guard, socket: &Socket, space: &mut [u8]) -> Result<Got, Failure> {
    Ok(now(guard.session.read(&mut Raw(socket), space))?.map_or(Got::Later, Got::Bytes))
}

/// How much TLS has moved now.
fn now(moved: io::Result<usize>) -> Result<Option<usize>, Failure> {
    match moved {
        Ok(count) => Ok(Some(count)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
        Err(error) => Err(Failure::of_stream(&error)),
    }
}
