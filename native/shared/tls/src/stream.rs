//! A connection with TLS or without.

use std::io::{self, Read, Write};

use crate::{Acceptor, Connector, Fault, Session};

/// A connection with TLS or without.
#[derive(Debug)]
pub struct Stream<S> {
    socket: S,
    session: Option<Box<Session>>,
}

impl<S> Stream<S> {
    /// A connection as it is.
    pub const fn new(socket: S) -> Self {
        Self { socket, session: None }
    }

    /// From now on the other side begins a handshake, and then everything is protected.
    pub fn accept(&mut self, acceptor: &Acceptor) -> io::Result<()> {
        self.session = Some(Box::new(Session::accept(acceptor)?));
        Ok(())
    }

    /// From now on this side begins a handshake.
    pub fn connect(&mut self, connector: &Connector) -> io::Result<()> {
        self.session = Some(Box::new(Session::connect(connector)?));
        Ok(())
    }

    /// What is below.
    pub const fn socket(&mut self) -> &mut S {
        &mut self.socket
    }

    /// TLS, if it is spoken.
    #[inline]
    pub fn session(&self) -> Option<&Session> {
        self.session.as_deref()
    }

    /// Whether a record of TLS's has begun that is not all there.
    pub fn is_within_record(&self) -> bool {
        self.session().is_some_and(Session::is_within_record)
    }

    /// Bytes that TLS has read from the socket and written since this was last asked; without TLS, none.
    pub fn take_moved(&mut self) -> usize {
        self.session.as_mut().map_or(0, |session| session.take_moved())
    }

    /// The same connection by another kind of socket.
    pub fn try_map<T, E>(self, change: impl FnOnce(S) -> Result<T, E>) -> Result<Stream<T>, E> {
        Ok(Stream { socket: change(self.socket)?, session: self.session })
    }

    /// What an error means if it is one of TLS's.
    pub fn fault(&self, error: &io::Error) -> Option<Fault> {
        self.session.as_ref().and_then(|_| Fault::of(error))
    }
}

impl<S: Read + Write> Stream<S> {
    /// Goes on with the handshake; whether it is over.
    pub fn shake(&mut self) -> io::Result<bool> {
        self.session.as_mut().map_or(Ok(true), |session| session.shake(&mut self.socket))
    }

    /// Reads, and returns as soon as there is anything: for sockets that wait.
    pub fn read_some(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match &mut self.session {
            None => self.socket.read(room),
            Some(session) => session.read_some(&mut self.socket, room),
        }
    }

    /// Tells the other side that nothing more will be written.
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

/// Kept out of line: inlined, TLS slows plain connections by 2 %.
#[cold]
#[inline(never)]
fn apart<T>(act: impl FnOnce() -> T) -> T {
    act()
}
