//! A lane's socket, with TLS if it is used.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use socket2::Socket;

use crate::connection::endpoint::Endpoint;
use crate::connection::security::{Raw, Security, TlsLayer};
use crate::record::failure::Failure;

#[derive(Debug)]
pub(crate) enum Link {
    /// Not connected. Holds the failure that ended the last connection, until the lane records it.
    Down(Option<Failure>),
    /// Connecting. On loopback the connection is open already, but only a write shows that.
    Opening(Channel),
    Up(Channel),
}

/// A socket, with its TLS layer if it uses TLS.
#[derive(Debug)]
pub(crate) struct Channel {
    socket: Socket,
    tls: Option<Box<TlsLayer>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    /// The number of bytes that the socket took.
    Bytes(usize),
    /// The socket's buffer is full: write the same bytes again later.
    WouldBlock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadOutcome {
    /// The number of bytes read; 0 at the end of the stream.
    Bytes(usize),
    WouldBlock,
}

impl Link {
    /// Starts to connect.
    #[inline]
    pub(crate) fn open(endpoint: &mut Endpoint) -> Result<Self, Failure> {
        let tls = endpoint.security.as_ref().map(Security::tls).transpose()?;
        match endpoint.sources.connect() {
            Ok(socket) => {
                if tls.is_some() {
                    // The end of a handshake and the first request are two small segments: by Nagle's
                    // algorithm the second segment waits for the acknowledgement of the first segment, which
                    // the server's kernel may hold back for 40 ms (RFC 1122 4.2.3.2).
                    socket.set_tcp_nodelay(true).map_err(|error| Failure::of_system(&error))?;
                }
                Ok(Self::Opening(Channel { socket, tls }))
            }
            Err(error) => Err(Failure::of_system(&error)),
        }
    }

    pub(crate) const fn is_opening(&self) -> bool {
        matches!(self, Self::Opening(_))
    }

    /// Whether TLS is used, or will be.
    pub(crate) const fn uses_tls(&self) -> bool {
        matches!(self, Self::Opening(Channel { tls: Some(_), .. }) | Self::Up(Channel { tls: Some(_), .. }))
    }

    /// Marks the connection as open.
    #[inline]
    pub(crate) fn promote(&mut self) {
        if let Self::Opening(channel) = std::mem::replace(self, Self::Down(None)) {
            *self = Self::Up(channel);
        }
    }

    /// Switches Nagle's algorithm off. Several small requests are in flight, and each would wait until the
    /// previous request is acknowledged.
    pub(crate) fn send_at_once(&self) {
        if let Self::Up(channel) | Self::Opening(channel) = self {
            // If the call fails, the requests are slower, but correct.
            let _ = channel.socket.set_tcp_nodelay(true);
        }
    }

    /// Checks that connecting has not failed.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let Self::Opening(channel) = self else { return Ok(()) };
        match rustix::net::sockopt::socket_error(channel.socket.as_fd()) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) | Err(error) => Err(Failure::of_connect(error)),
        }
    }

    /// Continues the TLS handshake if the connection uses TLS. Returns whether the connection can be used.
    pub(crate) fn continue_handshake(&mut self) -> Result<bool, Failure> {
        match self {
            Self::Opening(Channel { socket, tls: Some(tls) }) => tls.continue_handshake(socket),
            _ => Ok(true),
        }
    }

    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<WriteOutcome, Failure> {
        let opening = self.is_opening();
        let (Self::Up(channel) | Self::Opening(channel)) = self else {
            return Err(Failure::Closed);
        };
        if let Some(tls) = &mut channel.tls {
            return send_tls(tls, &channel.socket, bytes);
        }
        match rustix::net::send(channel.socket.as_fd(), bytes, SendFlags::NOSIGNAL) {
            Ok(n) => Ok(WriteOutcome::Bytes(n)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(WriteOutcome::WouldBlock),
            Err(error) if opening => Err(Failure::of_connect(error)),
            Err(error) => Err(Failure::of_connection(error)),
        }
    }

    #[inline]
    pub(crate) fn receive(&mut self, space: &mut [u8]) -> Result<ReadOutcome, Failure> {
        let Self::Up(channel) = self else { return Ok(ReadOutcome::WouldBlock) };
        if let Some(tls) = &mut channel.tls {
            return receive_tls(tls, &channel.socket, space);
        }
        match rustix::net::recv(channel.socket.as_fd(), space, RecvFlags::empty()) {
            Ok((n, _)) => Ok(ReadOutcome::Bytes(n)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(ReadOutcome::WouldBlock),
            Err(error) => Err(Failure::of_connection(error)),
        }
    }

    /// Ends the TLS session with a close_notify alert (RFC 8446 section 6.1), if the connection uses TLS.
    #[inline]
    pub(crate) fn close(&mut self) {
        if let Self::Up(Channel { socket, tls: Some(tls) }) = self {
            tls.session.close(&mut Raw(socket));
        }
    }

    /// Registers with the poller; closing the socket deregisters it.
    #[inline]
    pub(crate) fn watch(
        &self,
        registry: &Registry,
        token: usize,
        how: Interest,
        again: bool,
    ) -> Result<(), Failure> {
        let (Self::Up(channel) | Self::Opening(channel)) = self else { return Ok(()) };
        let fd = channel.socket.as_raw_fd();
        let token = Token(token);
        let done = match again {
            true => registry.reregister(&mut SourceFd(&fd), token, how),
            false => registry.register(&mut SourceFd(&fd), token, how),
        };
        done.map_err(|_| Failure::Io)
    }
}

// Not inlined, so that the path without TLS stays small.
#[cold]
#[inline(never)]
fn send_tls(tls: &mut TlsLayer, socket: &Socket, bytes: &[u8]) -> Result<WriteOutcome, Failure> {
    Ok(now(tls.session.write(&mut Raw(socket), bytes))?.map_or(WriteOutcome::WouldBlock, WriteOutcome::Bytes))
}

#[cold]
#[inline(never)]
fn receive_tls(tls: &mut TlsLayer, socket: &Socket, space: &mut [u8]) -> Result<ReadOutcome, Failure> {
    Ok(now(tls.session.read(&mut Raw(socket), space))?.map_or(ReadOutcome::WouldBlock, ReadOutcome::Bytes))
}

/// Maps "would block" and "interrupted" to `None`.
fn now(moved: io::Result<usize>) -> Result<Option<usize>, Failure> {
    match moved {
        Ok(count) => Ok(Some(count)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
        Err(error) => Err(Failure::of_stream(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::source::Sources;
    use std::net::TcpListener;
    use tls::ClientSpec;

    /// Whether the first request of a new connection waits until earlier bytes are acknowledged.
    fn waits(security: Option<Security>) -> bool {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sources = Sources::new(listener.local_addr().unwrap(), false, 0);
        match Link::open(&mut Endpoint { sources, security }).unwrap() {
            Link::Opening(channel) => !channel.socket.tcp_nodelay().unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_first_tls_request_does_not_wait_for_the_acknowledgement_of_the_handshake() {
        let spec = ClientSpec { insecure: true, ..ClientSpec::default() };
        let security = Security::new(&spec, "127.0.0.1", &[], None).unwrap();
        assert!(!waits(Some(security)));
        // Without TLS nothing is sent before the first request, so the system call is omitted.
        assert!(waits(None));
    }
}
