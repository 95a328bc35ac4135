//! A lack of file descriptors is a limit of the load generator: the failure has its own name and causes no
//! busy loop.
//!
//! The descriptor limit holds for a whole process, so this test runs in its own process.

use std::net::TcpListener;
use std::time::Duration;

use load::Clock;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::engine::harness::Totals;
use crate::job::Job;
use crate::own_process::in_own_process;

#[test]
fn a_lack_of_file_descriptors_is_named_and_retried_after_a_pause() {
    if in_own_process(a_lack_of_file_descriptors_is_named_and_retried_after_a_pause) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = "[[operation]]\nname = 'o'\nstep = [{ think = '1h' }, { search = '(cn=a)' }]";
    let mut engine = Job::directory(listener.local_addr().unwrap(), text).engine();
    setrlimit(Resource::Nofile, Rlimit { current: Some(40), maximum: Some(40) }).unwrap();
    engine.start_lanes("mix", 100).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let mut totals = Totals::default();
    totals.add(engine.stop(Duration::from_secs(1)).unwrap());
    let connect = totals.of("main: connect");
    assert_eq!(connect.failures.keys().collect::<Vec<_>>(), ["out-of-fds"]);
    // Five tries fit into 300 ms with pauses of 10, 20, 40, 80, 160 ms.
    let failed = connect.failures["out-of-fds"];
    assert!((60..=600).contains(&failed), "{failed}");
    assert!(connect.clock(Clock::Service).len() > 5, "those that got one are connected");
}
