//! Connections that fail, and recovery.

use std::net::TcpListener;
use std::time::Duration;

use load::Clock;
use people::Profile;
use serde_json::json;
use wire::ldap::op;

use super::harness::{CYCLE, LOOKUP, Totals, lookups, people, run_until, session};
use super::responder::{Do, Responder};
use crate::job::Job;

#[test]
fn a_refused_connect_is_retried_with_growing_pauses() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let people = Some(people(Profile::Small, 5));
    let totals = Job { people, ..Job::directory(free, &lookups(7)) }.run(10, 300);
    assert_eq!(totals.kinds(), ["connect-refused"]);
    assert_eq!(totals.count("bind"), 0);
    let tries = totals.count("connect");
    assert!((20..=60).contains(&tries), "{tries} tries of 10 lanes in 300 ms");
    assert_eq!(totals.count("sequence"), tries, "each try is a pass that failed");
    assert!(totals.of("connect").examples.is_empty(), "what was to be asked did not fail");
}

#[test]
fn lanes_reconnect_when_the_target_returns() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let people = Some(people(Profile::Small, 5));
    let mut engine = Job { people, ..Job::directory(address, &lookups(7)) }.start(3);
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.failed("connect") >= 6);
    // The same port, now with a server.
    let listener = TcpListener::bind(address).unwrap();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut byte = [0];
        std::io::Read::read_exact(&mut stream, &mut byte).unwrap();
        byte[0]
    });
    assert_eq!(served.join().unwrap(), 0x30, "an LDAP message");
    engine.stop(Duration::ZERO).unwrap();
}

#[test]
fn a_listener_that_accepts_no_connection_causes_a_connect_timeout() {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    socket.listen(0).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    // Fills the listener's queue; further connections get no answer at all.
    let _queued: Vec<_> =
        (0..2).map(|_| std::net::TcpStream::connect_timeout(&address, Duration::from_millis(100))).collect();
    let job = Job::directory(address, &lookups(7)).with(json!({"connect_timeout_ms": 50}));
    let totals = Job { people: Some(people(Profile::Small, 5)), ..job }.run(2, 150);
    assert_eq!(totals.kinds(), ["connect-timeout"], "{totals:?}");
    assert!(totals.of("connect").clock(Clock::Censored).min() >= 49_000_000);
}

#[test]
fn a_missing_answer_is_a_timeout_and_closes_the_connection() {
    let responder = Responder::lookups(&people(Profile::Small, 5), Do::Never);
    let totals = responder.job(&lookups(7)).with(json!({"timeout_ms": 40})).run(3, 200);
    assert_eq!(totals.kinds(), ["timeout"]);
    let lookup = totals.of("lookup");
    let censored = lookup.clock(Clock::Censored);
    assert!(lookup.clock(Clock::Service).is_empty() && censored.min() >= 39_000_000, "{totals:?}");
    // Timers are up to 10 ms late, and later on a busy machine.
    assert!(censored.value_at_quantile(0.5) < 80_000_000, "{}", censored.max());
    assert!(totals.count("connect") > 3);
}

#[test]
fn a_slow_answer_is_no_failure() {
    let responder = Responder::lookups(&people(Profile::Small, 5), Do::Slowly(30));
    let totals = responder.job(&lookups(7)).run(3, 200);
    assert!(totals.kinds().is_empty());
    assert!(totals.of("lookup").clock(Clock::Service).min() >= 29_000_000);
}

#[test]
fn each_way_of_closing_a_connection_has_a_separate_failure_name() {
    for (what, kind) in
        [(Do::Close, "closed"), (Do::HalfAndClose, "closed"), (Do::Goodbye, "closed"), (Do::Reset, "reset")]
    {
        let responder = Responder::start(&people(Profile::Paper, 5), move |tag, n| match (tag, n % 4) {
            (op::SEARCH_REQUEST, 3) => what,
            _ => Do::Right,
        });
        let totals = responder.job(&lookups(7)).run(2, 150);
        assert_eq!(totals.kinds(), [kind], "{what:?}");
        assert!(totals.failed("lookup") > 1, "{what:?}: lanes come back");
        assert!(totals.count("lookup") > totals.failed("lookup"), "{what:?}");
        assert_eq!(totals.of("lookup").clock(Clock::Censored).len(), totals.failed("lookup"));
    }
}

#[test]
fn a_connection_lost_during_a_think_time_fails_the_next_step() {
    let responder = Responder::only(&people(Profile::Small, 5), op::BIND_REQUEST, Do::RightThenClose);
    let steps = ["{ think = '20ms', distribution = 'constant' }", LOOKUP];
    let totals = responder.job(&session(1, &steps)).run(2, 200);
    assert_eq!(totals.kinds(), ["closed"]);
    assert_eq!(totals.failed("bind"), 0);
    assert!(totals.failed("lookup") >= 4 && totals.failed("lookup") == totals.count("lookup"), "{totals:?}");
}

#[test]
fn thousands_of_connections_use_many_source_addresses_without_a_failure() {
    let responder = Responder::right(&people(Profile::Small, 5));
    let totals = responder.job(CYCLE).run_steps(16, "sequence", 2_000);
    assert!(totals.kinds().is_empty(), "{totals:?}");
}
