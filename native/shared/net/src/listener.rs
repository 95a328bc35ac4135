//! Listening sockets: one per thread, all on one port.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use mio::net::TcpListener;
use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};

use crate::limits::OutOfRange;

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// No thread, or more threads than the server can use.
    #[error("a server needs at least one thread, and {0} are more than it can use; 1 for each core")]
    Threads(usize),
    #[error("{host}:{port} is in use; stop what listens there, or choose another port (0 takes a free one)")]
    PortInUse { host: String, port: u16 },
    #[error("cannot listen on {host}:{port}: {source}")]
    Listen { host: String, port: u16, source: io::Error },
    #[error(transparent)]
    Limit(#[from] OutOfRange),
    #[error(transparent)]
    Tls(#[from] tls::ConfigError),
    #[error("cannot find the address of {host:?}: {source}; use 127.0.0.1 for this machine only")]
    Host { host: String, source: io::Error },
}

impl ListenError {
    pub(crate) fn listening(host: &str, port: u16, source: io::Error) -> Self {
        let host = host.to_owned();
        match source.kind() {
            io::ErrorKind::AddrInUse => Self::PortInUse { host, port },
            _ => Self::Listen { host, port, source },
        }
    }
}

/// Connections that may wait to be accepted; the kernel lowers this to `somaxconn`. A connect sweep opens
/// connections faster than a busy thread accepts them.
const BACKLOG: i32 = 4096;

/// The number of bytes of answers that the kernel buffers beyond the client's receive window. It equals
/// `FLUSH_BYTES`, the size of one write. By default the kernel's buffers grow to 2.5 MiB for each client that
/// requests all entries and does not read; a thousand such clients bring the whole machine's TCP to its limit
/// (`tcp_mem`). The limit does not slow down clients that read.
const UNSENT_BYTES: u32 = 64 << 10;

/// A vanished client is noticed after ten minutes: the kernel probes after five minutes without traffic, and
/// then every minute. Linux's default begins after two hours. The connection of a laptop that sleeps for less
/// time stays open. A connection with traffic is never probed.
const KEEPALIVE: TcpKeepalive = TcpKeepalive::new()
    .with_time(Duration::from_secs(300))
    .with_interval(Duration::from_secs(60))
    .with_retries(5);

/// Opens `count` listeners on one address. The kernel spreads new connections over them (`SO_REUSEPORT`), so
/// no thread passes connections to another thread.
pub fn listen(host: &str, port: u16, count: usize) -> Result<Vec<TcpListener>, ListenError> {
    let failed = |source| ListenError::listening(host, port, source);
    let mut address = resolve(host, port)?;
    if count > 1 && port != 0 {
        // With SO_REUSEPORT, a port of another server of ours would be shared silently. Without it the kernel
        // reports that the port is in use.
        open(address, false).map_err(failed)?;
    }
    let mut listeners = Vec::with_capacity(count);
    for _ in 0..count {
        let socket = open(address, count > 1).map_err(failed)?;
        let bound = socket.local_addr().map_err(failed)?;
        address = bound.as_socket().unwrap_or(address);
        listeners.push(TcpListener::from_std(socket.into()));
    }
    Ok(listeners)
}

fn resolve(host: &str, port: u16) -> Result<SocketAddr, ListenError> {
    let mut addresses =
        (host, port).to_socket_addrs().map_err(|source| ListenError::Host { host: host.into(), source })?;
    addresses.next().ok_or_else(|| ListenError::Host {
        host: host.into(),
        source: io::Error::new(io::ErrorKind::NotFound, "no address"),
    })
}

fn open(address: SocketAddr, shared: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    if shared {
        socket.set_reuse_port(true)?;
    }
    // On Linux accepted sockets inherit these options, which saves a system call per connection.
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_notsent_lowat(UNSENT_BYTES)?;
    socket.set_tcp_keepalive(&KEEPALIVE)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "this is a test")]
mod tests {
    use std::io::ErrorKind;
    use std::net::TcpStream;

    use socket2::SockRef;

    use super::*;

    #[test]
    fn accepted_sockets_inherit_the_options_of_their_listener() {
        for count in [1, 2] {
            let listeners = listen("127.0.0.1", 0, count).unwrap();
            let client = TcpStream::connect(listeners[0].local_addr().unwrap()).unwrap();
            let accepted = listeners.iter().cycle().find_map(|listener| match listener.accept() {
                Ok((stream, _)) => Some(stream),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    None
                }
            });
            let accepted = accepted.unwrap();
            let socket = SockRef::from(&accepted);
            assert!(socket.keepalive().unwrap() && socket.tcp_nodelay().unwrap());
            assert_eq!(socket.tcp_keepalive_time().unwrap(), Duration::from_secs(300));
            assert_eq!(socket.tcp_keepalive_interval().unwrap(), Duration::from_secs(60));
            assert_eq!(socket.tcp_keepalive_retries().unwrap(), 5);
            // Accepted sockets have the congestion control of the machine, as the sockets of other measured
            // servers have.
            assert_eq!(socket.tcp_congestion().unwrap(), SockRef::from(&client).tcp_congestion().unwrap());
        }
    }
}
