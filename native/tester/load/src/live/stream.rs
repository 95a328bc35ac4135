//! Connecting to a server.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use super::{Config, LiveError};
use crate::config::CONNECT_MS;

/// Connects to the first of the host's addresses that answers.
pub(super) fn connect(config: &Config) -> Result<TcpStream, LiveError> {
    let failed = |source| LiveError::Connect { server: config.server(), source };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (config.host.as_str(), config.port).to_socket_addrs().map_err(failed)? {
        match TcpStream::connect_timeout(&address, Duration::from_millis(CONNECT_MS)) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(failed)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}
