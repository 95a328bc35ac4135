//! A lane's connection as the kernel sees it.

use std::os::fd::{AsFd, AsRawFd};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use socket2::Socket;

use crate::failure::Failure;
use crate::source::Sources;

/// A lane's connection.
#[derive(Debug)]
pub(crate) enum Link {
    /// None, and what ended the last one if the lane has not been told.
    Down(Option<Failure>),
    /// On its way: on loopback it is there already, but only writing will tell.
    Opening(Socket),
    /// Open.
    Up(Socket),
}

/// What became of bytes to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// So many of them are on their way.
    Bytes(usize),
    /// Not now.
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
    pub(crate) fn open(sources: &mut Sources) -> Result<Self, Failure> {
        match sources.connect() {
            Ok(socket) => Ok(Self::Opening(socket)),
            Err(error) => Err(Failure::of_connect(Errno::from_io_error(&error).unwrap_or(Errno::IO))),
        }
    }

    #[inline]
    pub(crate) const fn is_opening(&self) -> bool {
        matches!(self, Self::Opening(_))
    }

    /// What was on its way has arrived.
    #[inline]
    pub(crate) fn promote(&mut self) {
        if let Self::Opening(socket) = std::mem::replace(self, Self::Down(None)) {
            *self = Self::Up(socket);
        }
    }

    /// Asks the kernel how connecting went.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let Self::Opening(socket) = self else { return Ok(()) };
        match rustix::net::sockopt::socket_error(socket.as_fd()) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) | Err(error) => Err(Failure::of_connect(error)),
        }
    }

    /// Writes once.
    #[inline]
    pub(crate) fn send(&self, bytes: &[u8]) -> Result<Sent, Failure> {
        let (Self::Up(socket) | Self::Opening(socket)) = self else {
            return Err(Failure::Closed);
        };
        match rustix::net::send(socket.as_fd(), bytes, SendFlags::NOSIGNAL) {
            Ok(n) => Ok(Sent::Bytes(n)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Sent::Later),
            Err(error) if self.is_opening() => Err(Failure::of_connect(error)),
            Err(error) => Err(Failure::of_connection(error)),
        }
    }

    /// Reads once.
    #[inline]
    pub(crate) fn receive(&self, space: &mut [u8]) -> Result<Got, Failure> {
        let Self::Up(socket) = self else { return Ok(Got::Later) };
        match rustix::net::recv(socket.as_fd(), space, RecvFlags::empty()) {
            Ok((n, _)) => Ok(Got::Bytes(n)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Got::Later),
            Err(error) => Err(Failure::of_connection(error)),
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
        let (Self::Up(socket) | Self::Opening(socket)) = self else { return Ok(()) };
        let fd = socket.as_raw_fd();
        let token = Token(lane as usize);
        let done = match again {
            true => registry.reregister(&mut SourceFd(&fd), token, how),
            false => registry.register(&mut SourceFd(&fd), token, how),
        };
        done.map_err(|_| Failure::Io)
    }
}
