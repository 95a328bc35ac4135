//! Without free file descriptors, the site serves its open connections and new connections wait.
//!
//! The descriptor limit holds for a whole process, so this test runs in its own process.

use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::common::Site;
use crate::own_process::in_own_process;
use crate::usage::used_ms;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{Domain, Socket, Type};

/// The number of clients that connect, and the number of clients for which descriptors are free.
const GUESTS: usize = 20;
const ROOM: u64 = 5;

#[test]
fn without_free_descriptors_connected_clients_are_served_and_new_clients_wait() {
    if in_own_process(without_free_descriptors_connected_clients_are_served_and_new_clients_wait) {
        return;
    }
    let site = Site::start();
    let mut inside = site.client();
    assert_eq!(inside.get("/", Some(1)).status, 200);
    let sockets: Vec<_> =
        (0..GUESTS).map(|_| Socket::new(Domain::IPV4, Type::STREAM, None).unwrap()).collect();
    // The kernel assigns the lowest free number, so all numbers below this one are in use.
    let last = sockets.last().unwrap().as_raw_fd() as u64;
    let limit = Rlimit { current: Some(last + 1 + ROOM), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).unwrap();
    let mut guests: Vec<Client> = sockets
        .into_iter()
        .map(|socket| {
            socket.connect(&site.running.addr().into()).unwrap();
            Client::of(TcpStream::from(socket))
        })
        .collect();
    let connected = || site.running.stats().traffic.connections - 1;
    site.has_counted(|stats| stats.traffic.connections - 1 == ROOM);
    let (before, began) = (used_ms(), Instant::now());
    std::thread::sleep(Duration::from_millis(500));
    let (used, lasted) = (used_ms() - before, began.elapsed().as_millis());
    assert!(used < lasted / 5, "{used} ms of CPU for nothing in {lasted} ms");
    assert_eq!(connected(), ROOM);
    assert_eq!(inside.get("/", Some(1)).status, 200);
    // A guest that disconnects frees two descriptors: its own and the site's.
    while !guests.is_empty() {
        let mut first = guests.remove(0);
        assert_eq!(first.get("/", Some(1)).status, 200);
    }
    assert_eq!(connected(), GUESTS as u64);
    assert_eq!(inside.get("/", Some(1)).status, 200);
}
