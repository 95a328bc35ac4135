//! Running out of file descriptors: the files kept open make room for those asked for.
//!
//! The limit holds for a whole process, so this test has one of its own.

use std::os::fd::AsRawFd;

use crate::client::Client;
use crate::own_process::in_own_process;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that are left when the server has begun.
const ROOM: u64 = 10;

#[test]
fn more_files_than_there_are_descriptors_are_served() {
    if in_own_process(more_files_than_there_are_descriptors_are_served) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for n in 0..100 {
        std::fs::write(folder.path().join(n.to_string()), n.to_string()).unwrap();
    }
    let config = web::Config { docroot: Some(folder.path().into()), ..web::Config::default() };
    let running = web::start(config).unwrap();
    let mut client = Client::new(running.addr());
    assert_eq!(client.get("/0", None).text(), "0");
    let next = std::fs::File::open("/dev/null").unwrap().as_raw_fd() as u64;
    let limit = Rlimit { current: Some(next + ROOM), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).unwrap();
    for n in (0..100).chain(0..100) {
        assert_eq!(client.get(&format!("/{n}"), None).text(), n.to_string());
    }
}
