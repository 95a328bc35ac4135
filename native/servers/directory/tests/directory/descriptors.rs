//! Without free file descriptors, connected clients are served and new clients wait.
//!
//! The descriptor limit holds for a whole process, so this test runs in its own process.

use std::net::TcpStream;
use std::os::fd::AsRawFd;

use crate::common::{Client, assert_idle, eventually, serve};
use crate::own_process::in_own_process;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{Domain, Socket, Type};
use wire::ldap::ResultCode;

/// The number of clients that connect, and the number of clients for which descriptors are free.
const GUESTS: usize = 20;
const ROOM: u64 = 5;

#[test]
fn without_free_descriptors_connected_clients_are_served_and_new_clients_wait() {
    if in_own_process(without_free_descriptors_connected_clients_are_served_and_new_clients_wait) {
        return;
    }
    let (directory, mut inside) = serve("{}");
    assert_eq!(inside.bind("", "").code, ResultCode::SUCCESS);
    let sockets: Vec<_> =
        (0..GUESTS).map(|_| Socket::new(Domain::IPV4, Type::STREAM, None).unwrap()).collect();
    // The kernel assigns the lowest free number, so all numbers below this one are in use.
    let last = sockets.last().unwrap().as_raw_fd() as u64;
    let limit = Rlimit { current: Some(last + 1 + ROOM), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).unwrap();
    let mut guests: Vec<Client> = sockets
        .into_iter()
        .map(|socket| {
            socket.connect(&directory.addr().into()).unwrap();
            Client::of(TcpStream::from(socket))
        })
        .collect();
    let connected = || directory.stats().traffic.connections - 1;
    assert!(eventually(|| connected() == ROOM), "{}", connected());
    assert_idle();
    assert_eq!(connected(), ROOM);
    assert_eq!(inside.bind("", "").code, ResultCode::SUCCESS);
    // A client that disconnects frees two descriptors in this process: its own and the server's.
    while !guests.is_empty() {
        let mut first = guests.remove(0);
        assert_eq!(first.bind("", "").code, ResultCode::SUCCESS);
    }
    assert_eq!(connected(), GUESTS as u64);
    assert_eq!(inside.bind("", "").code, ResultCode::SUCCESS);
}
