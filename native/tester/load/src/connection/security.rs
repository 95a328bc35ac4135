//! TLS on the connections of lanes.
//!
//! The TLS handshake, with StartTLS (RFC 4511 section 4.14) before it, is a part of connecting. Failures
//! before its end are recorded under the `connect` step.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use rustix::net::{RecvFlags, SendFlags};
use serde::{Deserialize, Serialize};
use socket2::Socket;
use tls::{ClientSpec, ConfigError, Connector, Session};

use crate::record::failure::Failure;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// Trusted authorities, and the client's own certificate.
    pub trust: ClientSpec,
    /// Whether to connect in the clear and request TLS afterwards (StartTLS).
    pub start: bool,
}

/// How a protocol requests TLS on a connection that began in the clear.
#[derive(Debug)]
pub(crate) struct StartTls {
    pub(crate) request: fn(&mut Vec<u8>),
    /// Reads the answer; `None` if the answer is incomplete.
    pub(crate) granted: fn(&[u8]) -> Option<Result<(), Failure>>,
}

/// The TLS settings of a thread's connections.
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

    /// The same settings for another thread, which has its own TLS sessions.
    pub(crate) fn for_thread(&self) -> Self {
        Self { connector: self.connector.for_thread(), ask: self.ask }
    }

    /// The TLS layer of a new connection.
    pub(crate) fn tls(&self) -> Result<Box<TlsLayer>, Failure> {
        let session = Session::connect(&self.connector).map_err(|_| Failure::Io)?;
        let start_tls = self.ask.map(|ask| StartTlsExchange { ask, sent: false, answer: Vec::new() });
        Ok(Box::new(TlsLayer { session, start_tls }))
    }
}

#[derive(Debug)]
pub(crate) struct TlsLayer {
    pub(crate) session: Session,
    /// The StartTLS exchange, until TLS is granted.
    start_tls: Option<StartTlsExchange>,
}

#[derive(Debug)]
struct StartTlsExchange {
    ask: &'static StartTls,
    sent: bool,
    answer: Vec<u8>,
}

/// The longest answer to a StartTLS request: a result with a diagnostic message.
const ANSWER_BYTES: usize = 4 << 10;

impl TlsLayer {
    /// Continues StartTLS and the handshake. Returns whether the connection is secure.
    pub(crate) fn continue_handshake(&mut self, socket: &Socket) -> Result<bool, Failure> {
        let mut raw = Raw(socket);
        if let Some(exchange) = &mut self.start_tls {
            if !exchange.advance(&mut raw)? {
                return Ok(false);
            }
            self.start_tls = None;
        }
        self.session.shake(&mut raw).map_err(|error| Failure::of_stream(&error))
    }
}

impl StartTlsExchange {
    fn advance(&mut self, raw: &mut Raw<'_>) -> Result<bool, Failure> {
        if !self.sent {
            let mut request = Vec::new();
            (self.ask.request)(&mut request);
            match raw.write(&request) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                // The request has some forty bytes and is the first on the connection, so the socket takes
                // all of it.
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

/// A socket as the TLS session reads and writes it.
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
