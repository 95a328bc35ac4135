//! An operation belongs to the window in which it was due, whatever happens at the window's edges.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use load::{Clock, Engine, Pace, Snapshot, now_ns};
use people::Profile;
use serde_json::json;
use wire::ldap::{ResultCode, op};

use super::closed_form;
use super::harness::{LOOKUP, Totals, eventually, lookups, people, run_until, session};
use super::responder::{Do, Responder};

const RATE: f64 = 1_000.0;
const STALL: Duration = Duration::from_millis(200);

fn due_between(pace: &Pace, start_ns: u64, end_ns: u64) -> u64 {
    pace.first_at(end_ns) - pace.first_at(start_ns)
}

/// A target, and lanes that have begun lookups at [`RATE`].
fn at_work(lanes: u64) -> (Responder, Engine, Pace) {
    let responder = Responder::right(&people(Profile::Small, 50));
    let mut engine = responder.job(&lookups(1_000_000)).rate(RATE).start(lanes);
    let pace = engine.pace().unwrap();
    let mut warm = Totals::default();
    run_until(&mut engine, &mut warm, |totals| totals.count("lookup") > 20 && totals.backlog < 3);
    (responder, engine, pace)
}

#[test]
fn arrivals_delayed_over_an_edge_of_a_window_stay_in_their_window() {
    for (before_ms, within_ms) in [(100, 250), (0, 0), (50, 100)] {
        let (responder, mut engine, pace) = at_work(1);
        // The target stops `before_ms` before the window begins, and continues `within_ms` before the window
        // ends. If both are 0, the target stops within the window, and continues after the window's end.
        let (mut ramp, mut window) = (Totals::default(), Totals::default());
        let mut start_ns = 0;
        if before_ms == 0 {
            (start_ns, _) = ramp.cut(&mut engine);
            std::thread::sleep(Duration::from_millis(100));
        }
        let shut_ns = now_ns();
        responder.gate.shut();
        std::thread::sleep(Duration::from_millis(before_ms));
        if before_ms > 0 {
            (start_ns, _) = ramp.cut(&mut engine);
        }
        std::thread::sleep(STALL);
        let mut end_ns = 0;
        if before_ms == 0 {
            (end_ns, _) = window.cut(&mut engine);
        }
        let opens_ns = now_ns();
        responder.gate.open();
        if before_ms > 0 {
            std::thread::sleep(Duration::from_millis(within_ms));
            window.add(Snapshot { late: Vec::new(), older: Vec::new(), ..engine.drain().unwrap() });
            (end_ns, _) = window.cut(&mut engine);
        }
        window.finish(&mut engine);
        let lookup = window.of("lookup");
        assert_eq!(lookup.clock(Clock::Latency).len(), due_between(&pace, start_ns, end_ns));
        let (first, n) = (pace.first_at(start_ns), lookup.count);
        closed_form::stalled(&pace, first, n, (shut_ns, opens_ns))
            .hold(lookup.clock(Clock::Latency))
            .unwrap();
        // The first arrival of the stall is due within one gap after the start of the stall.
        let least = STALL.as_secs_f64() - 1.0 / RATE;
        let longest = lookup.clock(Clock::Latency).max();
        assert!(longest as f64 >= least * 1e9, "{longest} ns");
    }
}

#[test]
fn a_window_within_a_stall_has_exactly_the_arrivals_due_in_the_window() {
    let (responder, mut engine, pace) = at_work(2);
    let (mut ramp, mut window) = (Totals::default(), Totals::default());
    // Both the arrivals before the window and the arrivals of the window are served after the window.
    responder.gate.shut();
    std::thread::sleep(STALL);
    let (start_ns, _) = ramp.cut(&mut engine);
    std::thread::sleep(STALL);
    let (end_ns, owed) = window.cut(&mut engine);
    let due = due_between(&pace, start_ns, end_ns);
    assert_eq!((owed, window.steps.len()), (due, 0));
    responder.gate.open();
    window.finish(&mut engine);
    assert_eq!(window.count("lookup"), due);
}

#[test]
fn an_example_belongs_to_the_window_of_its_failure() {
    let kind = Arc::new(AtomicU64::new(0));
    let now = kind.clone();
    let responder = Responder::start(&people(Profile::Small, 50), move |tag, _| {
        match (tag, now.load(Ordering::SeqCst)) {
            (op::SEARCH_REQUEST, 0) => Do::SomebodyElse,
            (op::SEARCH_REQUEST, _) => Do::Code(ResultCode::BUSY),
            _ => Do::Right,
        }
    });
    let mut engine = responder.job(&lookups(1_000_000)).start(1);
    let mut before = Totals::default();
    run_until(&mut engine, &mut before, |totals| totals.failed("lookup") > 3);
    // The lookup under way at the window's end fails with one kind of failure, and every later lookup with
    // another kind.
    responder.gate.shut();
    std::thread::sleep(STALL);
    engine.cut().unwrap();
    kind.store(1, Ordering::SeqCst);
    responder.gate.open();
    let seen = || responder.gate.log().len() as u64;
    let so_far = seen();
    assert!(eventually(|| seen() > so_far + 20));
    let snapshot = engine.stop(Duration::from_secs(5)).unwrap();
    for (steps, kind) in [(&snapshot.late, "wrong-answer"), (&snapshot.steps, "result:busy")] {
        let lookup = steps.iter().find(|row| &*row.step == "lookup").unwrap();
        let kinds: Vec<_> = lookup.examples.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, [kind]);
    }
}

#[test]
fn operations_of_a_closed_schedule_belong_to_the_window_of_their_begin() {
    let responder = Responder::right(&people(Profile::Small, 50));
    let mut engine = responder.job(&lookups(1_000_000)).start(3);
    let mut window = Totals::default();
    run_until(&mut engine, &mut window, |totals| totals.count("lookup") > 100);
    responder.gate.shut();
    std::thread::sleep(STALL);
    window.cut(&mut engine);
    assert_eq!((window.in_flight, window.backlog), (3, 0));
    let longer =
        |window: &Totals| window.of("lookup").clock(Clock::Service).count_between(100_000_000, u64::MAX >> 1);
    // On a busy machine some earlier operations may have lasted 100 ms, too.
    let before = longer(&window);
    responder.gate.open();
    window.finish(&mut engine);
    assert_eq!(longer(&window) - before, 3);
}

#[test]
fn an_unanswered_arrival_is_censored_from_its_due_time() {
    let (responder, mut engine, pace) = at_work(2);
    let (mut ramp, mut window) = (Totals::default(), Totals::default());
    let (start_ns, _) = ramp.cut(&mut engine);
    responder.gate.shut();
    std::thread::sleep(STALL);
    let (end_ns, _) = window.cut(&mut engine);
    assert!(window.backlog + window.in_flight > 150, "{window:?}");
    let last = engine.stop(Duration::ZERO).unwrap();
    let given_up_ns = last.t1_ns;
    window.add_late(last);
    responder.gate.open();
    let lookup = window.of("lookup");
    assert_eq!(lookup.count, due_between(&pace, start_ns, end_ns));
    let (first, n) = (pace.first_at(start_ns), lookup.clock(Clock::Censored).len());
    let answered = lookup.count - n;
    let stopped_ns = given_up_ns - 1_000_000;
    closed_form::stalled(&pace, first + answered, n, (0, stopped_ns))
        .hold(lookup.clock(Clock::Censored))
        .unwrap();
    assert_eq!(lookup.failures["timeout"], n);
}

#[test]
fn an_arrival_whose_connection_is_being_opened_at_the_stop_is_answered() {
    let responder = Responder::right(&people(Profile::Small, 50));
    let text = session(1, &[LOOKUP]).replace("name = 'mix'", "name = 'mix'\ncounts = 'lookup'");
    let mut engine = responder.job(&text).rate(RATE).start(4);
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.count("lookup") > 20);
    responder.gate.shut();
    // The close waits at the gate, too.
    std::thread::sleep(STALL);
    assert!(responder.gate.waiting() >= 4);
    let stopped = std::thread::scope(|threads| {
        let stopped = threads.spawn(|| engine.stop(Duration::from_secs(5)).unwrap());
        std::thread::sleep(STALL);
        responder.gate.open();
        stopped.join().unwrap()
    });
    totals.add(stopped);
    let [bind, lookup] = ["bind", "lookup"].map(|step| totals.of(step));
    assert_eq!(bind.count, lookup.count, "{totals:?}");
    assert_eq!((totals.failed("bind"), totals.failed("lookup")), (0, 0), "{totals:?}");
}

#[test]
fn timeouts_are_censored_at_the_timeout_or_later_whatever_their_share() {
    for every in [200, 50] {
        let responder = Responder::start(&people(Profile::Small, 50), move |tag, n| match (tag, n % every) {
            (wire::ldap::op::SEARCH_REQUEST, 7) => Do::Never,
            _ => Do::Right,
        });
        let job = responder.job(&lookups(1_000_000)).rate(RATE).with(json!({"timeout_ms": 500}));
        let is_ramped = |totals: &Totals| totals.count("lookup") > 20 && totals.backlog < 3;
        let (window, due) = Totals::of_window(&mut job.start(16), 1_200, is_ramped);
        let lookup = window.of("lookup");
        assert_eq!(lookup.count, due);
        let censored = lookup.clock(Clock::Censored);
        assert!(censored.min() >= 499_000_000, "{}", censored.min());
        let expected = lookup.count / every;
        assert!((expected - 1..=expected + 2).contains(&censored.len()), "{window:?}");
    }
}
