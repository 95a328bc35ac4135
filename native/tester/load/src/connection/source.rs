//! Source addresses of connections.
//!
//! A connection that the client closes keeps its local port for a minute (TIME_WAIT), and a pair of source
//! and destination address has some 28,000 ports. A connect sweep uses these ports up in seconds, and then
//! measures the shortage of ports. Against a target on this machine, however, each connection may have its
//! own source address: all of 127.0.0.0/8 is this machine. [`Sources`] cycles through 65,536 addresses,
//! enough for 30 million connections a minute.
//!
//! Binding to an address with port 0 makes the kernel search for a free port at once. The search is short
//! because few ports of each address are in use. Without a source address it takes longer with every
//! connection in TIME_WAIT.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};

/// The first source address. The range stays clear of 127.0.0.0/16, where local resolvers listen.
const FIRST: Ipv4Addr = Ipv4Addr::new(127, 32, 0, 0);

/// How many addresses follow [`FIRST`].
const COUNT: u32 = 1 << 16;

#[derive(Debug, Clone)]
pub struct Sources {
    target: SocketAddr,
    /// The index of the next address; `None` if the kernel chooses.
    next: Option<u32>,
}

impl Sources {
    /// Spreads source addresses if `spread` is set and `target` is in 127.0.0.0/8, on a system where all of
    /// that network is local. Threads with different numbers start at different addresses.
    pub fn new(target: SocketAddr, spread: bool, thread: u32) -> Self {
        let possible = spread && is_loopback_v4(target) && can_bind(FIRST);
        // Processes start at different addresses, too: the golden ratio scatters neighbouring process ids.
        let place = (std::process::id() ^ thread.rotate_left(16)).wrapping_mul(0x9e37_79b9) >> 16;
        Self { target, next: possible.then_some(place) }
    }

    /// The source of the next connection; `None` if the kernel chooses.
    #[inline]
    pub fn next_address(&mut self) -> Option<Ipv4Addr> {
        let place = self.next.as_mut()?;
        *place = (*place + 1) % COUNT;
        Some(Ipv4Addr::from_bits(FIRST.to_bits() + *place))
    }

    /// Opens a non-blocking socket and starts to connect it.
    ///
    /// On loopback the handshake is over when this returns, except under overload. So it is worth trying to
    /// write immediately; after `WouldBlock` the caller waits until the socket is writable.
    #[inline]
    pub fn connect(&mut self) -> io::Result<Socket> {
        let kind = Type::STREAM.nonblocking();
        let socket = Socket::new(Domain::for_address(self.target), kind, Some(Protocol::TCP))?;
        if let Some(address) = self.next_address() {
            socket.bind(&SocketAddr::from((address, 0)).into())?;
        }
        match socket.connect(&self.target.into()) {
            Err(error) if error.raw_os_error() == Some(EINPROGRESS) => Ok(socket),
            done => done.map(|()| socket),
        }
    }
}

/// The error of a connect that has not ended yet; `std` has no stable name for it.
const EINPROGRESS: i32 = rustix::io::Errno::INPROGRESS.raw_os_error();

const fn is_loopback_v4(target: SocketAddr) -> bool {
    match target {
        SocketAddr::V4(address) => address.ip().is_loopback(),
        SocketAddr::V6(_) => false,
    }
}

fn can_bind(address: Ipv4Addr) -> bool {
    std::net::UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn connections_to_loopback_use_the_configured_number_of_source_addresses() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sources = Sources::new(listener.local_addr().unwrap(), true, 0);
        let mut seen = HashSet::new();
        for _ in 0..50 {
            let mut client: std::net::TcpStream = sources.connect().unwrap().into();
            let (mut server, peer) = listener.accept().unwrap();
            seen.insert(peer.ip());
            client.write_all(b"x").unwrap();
            server.read_exact(&mut [0]).unwrap();
        }
        assert_eq!(seen.len(), 50);
    }

    #[test]
    fn source_addresses_repeat_after_a_full_round() {
        let mut sources = Sources::new("127.0.0.1:389".parse().unwrap(), true, 3);
        let first = sources.next_address();
        let between: HashSet<_> = (1..COUNT).map(|_| sources.next_address()).collect();
        assert_eq!(between.len(), COUNT as usize - 1);
        assert!(!between.contains(&first));
        assert_eq!(sources.next_address(), first);
    }

    #[test]
    fn threads_start_at_different_source_addresses() {
        let target = "127.0.0.1:389".parse().unwrap();
        let starts: HashSet<_> = (0..16).map(|n| Sources::new(target, true, n).next_address()).collect();
        assert_eq!(starts.len(), 16);
    }

    #[test]
    fn the_kernel_chooses_the_source_address_for_remote_targets_or_if_configured() {
        for (target, spread) in [("192.0.2.1:389", true), ("[::1]:389", true), ("127.0.0.1:389", false)] {
            let mut sources = Sources::new(target.parse().unwrap(), spread, 0);
            assert_eq!(sources.next_address(), None);
        }
    }

    #[test]
    fn a_refused_connection_is_an_error_at_connect_or_at_the_first_write() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let outcome = Sources::new(free, true, 0).connect().and_then(|socket| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            socket.send(b"x")
        });
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
