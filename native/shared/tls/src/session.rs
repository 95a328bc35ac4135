//! TLS on a socket, with the semantics of a non-blocking socket.
//!
//! Servers and lanes use edge-triggered polling (epoll(7)) and skip the read that would only return EAGAIN. A
//! [`Session`] follows the same rules as a socket, so that callers need not distinguish the two:
//!
//! - After a read that does not fill the buffer, both the socket and the decrypted data are empty.
//! - A write takes bytes only when their encrypted form has been handed to the kernel. Until then it would block,
//!   and the caller has to offer the same bytes again; bytes already encrypted are not encrypted twice.
//!
//! After a TLS error the socket is read and written in plaintext: a client that connected without TLS
//! can be answered, and its further bytes can be dropped.

use std::io::{self, ErrorKind, Read, Write};

use rustls::pki_types::CertificateDer;
use rustls::{ClientConnection, Connection, Error, HandshakeKind, ServerConnection};

use crate::records::Records;
use crate::{Acceptor, Connector};

/// The maximum number of consecutive socket reads that yield no decrypted data, in one read of a session. The
/// limit keeps a peer that sends only handshakes and empty records from occupying a thread.
const READS: usize = 64;

/// TLS on a socket; the caller passes the socket with each call.
pub struct Session {
    connection: Connection,
    /// Bytes encrypted and not yet reported as written.
    committed: usize,
    /// Record boundaries of the peer's bytes.
    records: Records,
    /// Bytes read from and written to the socket since `take_moved` was last called.
    moved: usize,
    /// The peer has sent close_notify.
    ended: bool,
    /// TLS has ended in an error.
    failed: bool,
}

impl Session {
    /// The server's side.
    pub fn accept(acceptor: &Acceptor) -> io::Result<Self> {
        ServerConnection::new(acceptor.config.clone()).map(Self::new).map_err(io::Error::other)
    }

    /// The client's side.
    pub fn connect(connector: &Connector) -> io::Result<Self> {
        let made = ClientConnection::new(connector.config.clone(), connector.name.clone());
        made.map(Self::new).map_err(io::Error::other)
    }

    fn new(connection: impl Into<Connection>) -> Self {
        Self {
            connection: connection.into(),
            committed: 0,
            records: Records::default(),
            moved: 0,
            ended: false,
            failed: false,
        }
    }

    #[inline]
    pub fn is_open(&self) -> bool {
        !self.connection.is_handshaking()
    }

    /// Whether the peer has sent close_notify (RFC 8446 section 6.1). A read reports it after all
    /// earlier data; the socket may stay open.
    #[inline]
    pub const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether a record is incomplete: a connection that ends here ends within a message.
    pub const fn is_within_record(&self) -> bool {
        self.records.is_within()
    }

    /// Bytes read from and written to the socket since the last call. Reads and writes report only complete records,
    /// which may take long; this count shows progress within a record.
    pub fn take_moved(&mut self) -> usize {
        std::mem::take(&mut self.moved)
    }

    /// Whether the handshake resumed an earlier session.
    pub fn is_resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    pub fn peer(&self) -> Option<&CertificateDer<'static>> {
        self.connection.peer_certificates().and_then(<[_]>::first)
    }

    /// Continues the handshake; returns whether it is complete.
    pub fn shake<S: Read + Write>(&mut self, socket: &mut S) -> io::Result<bool> {
        loop {
            let sent = self.push(socket)?;
            if self.is_open() {
                return Ok(sent);
            }
            match self.pull(socket) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads until the buffer is full or no data is left.
    pub fn read<S: Read + Write>(&mut self, socket: &mut S, room: &mut [u8]) -> io::Result<usize> {
        if self.failed {
            return socket.read(room);
        }
        let (mut count, mut emptied, mut fruitless) = (0, false, 0);
        // The loop continues because a return before the buffer is full would mean that no data is left.
        while fruitless < READS {
            let taken = self.take(room.get_mut(count..).unwrap_or_default())?;
            count += taken;
            fruitless = if taken > 0 { 0 } else { fruitless + 1 };
            if count == room.len() || (emptied && count > 0) {
                return Ok(count);
            }
            match self.pull(socket) {
                Ok(pulled) if pulled.ended => return Ok(count),
                Ok(pulled) => emptied = pulled.emptied,
                // The next read reports a socket error again. A TLS error is reported only once, and later
                // bytes of the socket are not authenticated.
                Err(_) if count > 0 && !self.failed => return Ok(count),
                Err(error) => return Err(error),
            }
        }
        if count > 0 { Ok(count) } else { Err(ErrorKind::Interrupted.into()) }
    }

    /// For blocking sockets: reads, and returns as soon as any data is available.
    pub fn read_some<S: Read + Write>(&mut self, socket: &mut S, room: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.take(room)?;
            if count > 0 || self.pull(socket)?.ended {
                return Ok(count);
            }
        }
    }

    /// Writes, and returns the number of bytes taken.
    pub fn write<S: Read + Write>(&mut self, socket: &mut S, bytes: &[u8]) -> io::Result<usize> {
        if self.failed {
            return socket.write(bytes);
        }
        if self.committed == 0 {
            if !self.push(socket)? {
                return Err(ErrorKind::WouldBlock.into());
            }
            self.committed = self.connection.writer().write(bytes)?;
        }
        if !self.push(socket)? {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(std::mem::take(&mut self.committed))
    }

    /// Sends close_notify, which distinguishes the end from a truncation (RFC 8446 section 6.1).
    pub fn close<S: Read + Write>(&mut self, socket: &mut S) {
        if self.is_open() && !self.failed {
            self.connection.send_close_notify();
            // Best effort: a disconnected peer does not need the alert.
            let _ = self.push(socket);
        }
    }

    /// Reads decrypted data.
    #[inline]
    fn take(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self.connection.reader().read(room) {
            // There is no data yet, or the stream has ended, which the socket reports, too.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::UnexpectedEof) => Ok(0),
            taken => taken,
        }
    }

    /// Reads from the socket once.
    fn pull<S: Read + Write>(&mut self, socket: &mut S) -> io::Result<Pulled> {
        let mut source = Source { socket, records: &mut self.records, filled: false };
        let count = self.connection.read_tls(&mut source)?;
        let emptied = !source.filled;
        self.moved = self.moved.saturating_add(count);
        if count == 0 && self.connection.is_handshaking() {
            self.failed = true;
            return Err(ErrorKind::UnexpectedEof.into());
        }
        match self.connection.process_new_packets() {
            Ok(state) => self.ended = state.peer_has_closed(),
            Err(error) => return Err(self.fail(error, socket)),
        }
        // Sends the answer to a handshake message, if any. Bytes that the socket does not take now are sent
        // with the next write.
        self.push(socket)?;
        Ok(Pulled { ended: count == 0, emptied })
    }

    #[cold]
    fn fail<S: Read + Write>(&mut self, error: Error, socket: &mut S) -> io::Error {
        self.failed = true;
        // A peer without TLS would not understand the alert.
        if !(matches!(error, Error::InvalidMessage(_)) && self.connection.is_handshaking()) {
            // Best effort: a disconnected peer does not need the alert.
            let _ = self.push(socket);
        }
        io::Error::new(ErrorKind::InvalidData, error)
    }

    /// Writes encrypted data. Returns whether all of it is written.
    #[inline]
    fn push<S: Read + Write>(&mut self, socket: &mut S) -> io::Result<bool> {
        while self.connection.wants_write() {
            match self.connection.write_tls(socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.moved = self.moved.saturating_add(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("open", &self.is_open()).finish_non_exhaustive()
    }
}

/// The result of one socket read.
struct Pulled {
    /// Whether the end of the stream has been read.
    ended: bool,
    /// Whether the read did not fill the buffer.
    emptied: bool,
}

/// The socket, with the record boundaries of its bytes, and whether the last read filled the buffer.
struct Source<'s, S> {
    socket: &'s mut S,
    records: &'s mut Records,
    filled: bool,
}

impl<S: Read> Read for Source<'_, S> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.socket.read(room)?;
        self.filled = count == room.len();
        self.records.pass(room.get(..count).unwrap_or_default());
        Ok(count)
    }
}
