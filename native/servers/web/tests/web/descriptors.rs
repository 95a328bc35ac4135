//! Without free file descriptors, cached open files are closed in favour of requested files.
//!
//! The descriptor limit holds for a whole process, so this test runs in its own process.

use std::os::fd::AsRawFd;

use crate::common::Web;
use crate::own_process::in_own_process;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The number of free descriptors after the server has started.
const ROOM: u64 = 10;

#[test]
fn more_files_than_there_are_descriptors_are_served() {
    if in_own_process(more_files_than_there_are_descriptors_are_served) {
        return;
    }
    let web = Web::start();
    (0..100).for_each(|n| web.file(&n.to_string(), n.to_string()));
    let mut client = web.client();
    assert_eq!(client.get("/0", None).text(), "0");
    let next = std::fs::File::open("/dev/null").unwrap().as_raw_fd() as u64;
    let limit = Rlimit { current: Some(next + ROOM), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).unwrap();
    for n in (0..100).chain(0..100) {
        assert_eq!(client.get(&format!("/{n}"), None).text(), n.to_string());
    }
}
