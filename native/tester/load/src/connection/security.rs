//! TLS on the connections of lanes.
//!
//! The handshake belongs to connecting, StartTLS (RFC 4511 section 4.14) with it: a connection is there
//! when it is of use, and what becomes of it before is recorded under the `connect` step.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use rustix::net::{RecvFlags, SendFlags};
use serde::{Deserialize, Serialize};
use socket2::Socket;
use tls::{ClientSpec, ConfigError, Connector, Session};

use crate::record::failure::Failure;

/// TLS settings for a directory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// Trusted authorities, and the client's own certificate.
    pub trust: ClientSpec,
    /// Whether to connect in the clear and then ask for TLS (StartTLS).
    pub start: bool,
}

/// How a protocol asks for TLS on a connection that began in the clear.
#[derive(Debug)]
pub(crate) struct StartTls {
    pub(crate) request: fn(&mut Vec<u8>),
    /// Whether it is granted; `None` while more of the answer has to come.
    pub(crate) granted: fn(&[u8]) -> Option<Result<(), Failure>>,
}

/// What makes a thread's connections secure.
#[derive(Debug, Clone)]
pub struct Security {
    connector: Connector,
    ask: Option<&'static StartTls>,
}

impl Security {
    pub(crate) fn new(
        spec: &ClientSpec,
        host: &str,
        alpn: &[&[u8]],
        ask: Option<&'static StartTls>,
    ) -> Result<Self, ConfigError> {
        Ok(Self { connector: Connector::new(spec, host, alpn)?, ask })
    }

    /// The same for another thread: sessions to go on with are each thread's own.
    pub(crate) fn for_thread(&self) -> Self {
        Self { connector: self.connector.for_thread(), ask: self.ask }
    }

    /// What makes one connection secure.
    pub(crate) fn tls(&self) -> Result<Box<TlsLayer>, Failure> {
        let session = Session::connect(&self.connector).map_err(|_| Failure::Io)?;
        let asking = self.ask.map(|ask| StartTlsExchange { ask, sent: false, answer: Vec::new() });
        Ok(Box::new(TlsLayer { session, asking }))
    }
}

/// TLS on one connection.
#[derive(Debug)]
pub(crate) struct TlsLayer {
    pub(crate) session: Session,
    /// Until TLS has been asked for and granted.
    asking: Option<StartTlsExchange>,
}

#[derive(Debug)]
struct StartTlsExchange {
    ask: &'static StartTls,
    sent: bool,
    answer: Vec<u8>,
}

/// The longest answer to a request for TLS: a result with a diagnostic.
const ANSWER_BYTES: usize = 4 << 10;

impl TlsLayer {
    /// Goes on with becoming secure; whether it is done.
    pub(crate) fn shake(&mut self, socket: &Socket) -> Result<bool, Failure> {
        let mut raw = Raw(socket);
        if let Some(asking) = &mut self.asking {
            if !asking.go_on(&mut raw)? {
                return Ok(false);
            }
            self.asking = None;
        }
        self.session.shake(&mut raw).map_err(|error| Failure::of_stream(&error))
    }
}

impl StartTlsExchange {
    fn go_on(&mut self, raw: &mut Raw<'_>) -> Result<bool, Failure> {
        if !self.sent {
            let mut request = Vec::new();
            (self.ask.request)(&mut request);
            match raw.write(&request) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                // Some forty bytes, the first of the connection: they are taken whole.
                sent => self.sent = sent.map_err(|error| Failure::of_stream(&error))? == request.len(),
            }
        }
        let mut room = [0; ANSWER_BYTES];
        match raw.read(&mut room) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(Failure::of_stream(&error)),
            Ok(0) => return Err(Failure::Closed),
            Ok(count) => self.answer.extend_from_slice(&room[..count]),
        }
        match (self.ask.granted)(&self.answer) {
            Some(granted) => granted.map(|()| true),
            None if self.answer.len() > ANSWER_BYTES => Err(Failure::Malformed),
            None => Ok(false),
        }
    }
}

/// A socket as TLS reads and writes it.
pub(crate) struct Raw<'s>(pub(crate) &'s Socket);

impl Read for Raw<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::net::recv(self.0.as_fd(), room, RecvFlags::empty())?.0)
    }
}

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.0.as_fd(), bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
