//! A connection with TLS or without.

use std::io::{self, Read, Write};

use crate::{Acceptor, Connector, Fault, Session};

#[derive(Debug)]
pub struct Stream<S> {
    socket: S,
    session: Option<Box<Session>>,
}

impl<S> Stream<S> {
    /// A connection without TLS.
    pub const fn new(socket: S) -> Self {
        Self { socket, session: None }
    }

    /// Begins TLS: the peer sends the first message of the handshake.
    pub fn accept(&mut self, acceptor: &Acceptor) -> io::Result<()> {
        self.session = Some(Box::new(Session::accept(acceptor)?));
        Ok(())
    }

    /// Begins TLS: this side sends the first message of the handshake.
    pub fn connect(&mut self, connector: &Connector) -> io::Result<()> {
        self.session = Some(Box::new(Session::connect(connector)?));
        Ok(())
    }

    pub const fn socket(&mut self) -> &mut S {
        &mut self.socket
    }

    #[inline]
    pub fn session(&self) -> Option<&Session> {
        self.session.as_deref()
    }

    /// Whether a TLS record is incomplete.
    pub fn is_within_record(&self) -> bool {
        self.session().is_some_and(Session::is_within_record)
    }

    /// Bytes that TLS has read from the socket and written to it since the last call; 0 without TLS.
    pub fn take_moved(&mut self) -> usize {
        self.session.as_mut().map_or(0, |session| session.take_moved())
    }

    /// The same connection over another type of socket.
    pub fn try_map<T, E>(self, change: impl FnOnce(S) -> Result<T, E>) -> Result<Stream<T>, E> {
        Ok(Stream { socket: change(self.socket)?, session: self.session })
    }

    /// The fault of an error; `None` if TLS has not caused it.
    pub fn fault(&self, error: &io::Error) -> Option<Fault> {
        self.session.as_ref().and_then(|_| Fault::of(error))
    }
}

impl<S: Read + Write> Stream<S> {
    /// Continues the handshake. Returns whether it is complete.
    pub fn shake(&mut self) -> io::Result<bool> {
        self.session.as_mut().map_or(Ok(true), |session| session.shake(&mut self.socket))
    }

    /// For blocking sockets: reads, and returns as soon as any data is available.
    pub fn read_some(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match &mut self.session {
            None => self.socket.read(room),
            Some(session) => session.read_some(&mut self.socket, room),
        }
    }

    /// Tells the peer that nothing more will be written.
    pub fn close(&mut self) {
        if let Some(session) = &mut self.session {
            session.close(&mut self.socket);
        }
    }
}

impl<S: Read + Write> Read for Stream<S> {
    #[inline]
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match &mut self.session {
            None => self.socket.read(room),
            Some(session) => apart(|| session.read(&mut self.socket, room)),
        }
    }
}

impl<S: Read + Write> Write for Stream<S> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.session {
            None => self.socket.write(bytes),
            Some(session) => apart(|| session.write(&mut self.socket, bytes)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// Not inlined, because inlined code for TLS slows connections without TLS by 2 %.
#[cold]
#[inline(never)]
fn apart<T>(act: impl FnOnce() -> T) -> T {
    act()
}
