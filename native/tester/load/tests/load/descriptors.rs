//! A lack of file descriptors is a limit of the load generator: the failure has its own name and causes no
//! busy loop.
//!
//! The descriptor limit holds for a whole process, so this test runs in its own process.

use crate::own_process::in_own_process;
use std::net::TcpListener;
use std::time::Duration;

use load::{Clock, Engine};
use rustix::process::{Resource, Rlimit, setrlimit};

#[test]
fn a_lack_of_file_descriptors_is_named_and_retried_after_a_pause() {
    if in_own_process(a_lack_of_file_descriptors_is_named_and_retried_after_a_pause) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = serde_json::json!({
        "target": {"host": "127.0.0.1", "port": port, "base": ""},
        "scenarios": [{"name": "p", "text":
            "[[operation]]\nname = 'o'\nstep = [{ think = '1h' }, { search = '(cn=a)' }]"}]});
    let mut engine =
        Engine::start(serde_json::from_value(config).unwrap(), None, None, &load::Tables::new()).unwrap();
    setrlimit(Resource::Nofile, Rlimit { current: Some(40), maximum: Some(40) }).unwrap();
    engine.start_lanes("p", 100).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let snapshot = engine.stop(Duration::from_secs(1)).unwrap();
    let connect = snapshot.steps.iter().find(|step| &*step.step == "main: connect").unwrap();
    let (kinds, failed): (Vec<_>, u64) = (
        connect.failures.iter().map(|(kind, _)| kind).collect(),
        connect.failures.iter().map(|(_, n)| n).sum(),
    );
    assert_eq!(kinds, ["out-of-fds"]);
    // Five tries fit into 300 ms with pauses of 10, 20, 40, 80, 160 ms.
    assert!((60..=600).contains(&failed), "{failed}");
    assert!(connect.clock(Clock::Service).len() > 5, "those that got one are connected");
}
