//! Operations of several steps: their windows, their think times, and their share of arrivals.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use load::{Clock, Counter};
use people::Profile;
use serde_json::json;
use wire::ldap::op;

use super::harness::{Totals, people, run_until};
use super::responder::{Do, Responder};

/// An operation of a search, the steps `between`, and a compare.
fn two_steps(head: &str, between: &str) -> String {
    format!(
        "[[operation]]\nname = 'o'\n{head}step = [{{ name = 'find', search = '(uid=a)' }}, {between}\
         {{ name = 'ask', compare = 'cn=a,o=x', entry = {{ sn = 'a' }} }}]"
    )
}

/// A target that answers all requests; once the flag is set, it does not answer compares.
fn hanging() -> (Responder, Arc<AtomicBool>) {
    let hangs = Arc::new(AtomicBool::new(false));
    let is_hanging = hangs.clone();
    let responder = Responder::start(&people(Profile::Paper, 1), move |tag, _| match tag {
        op::COMPARE_REQUEST if is_hanging.load(Ordering::SeqCst) => Do::Never,
        _ => Do::Slowly(2),
    });
    (responder, hangs)
}

#[test]
fn a_hanging_operation_of_a_closed_schedule_is_in_the_window_of_its_begin() {
    for pool in ["", "connection.main.pool = 4\n"] {
        let (responder, hangs) = hanging();
        let text = format!("{pool}{}", two_steps("", ""));
        let mut engine = responder.job(&text).with(json!({"timeout_ms": 1_000})).start(4);
        let (mut ramp, mut window) = (Totals::default(), Totals::default());
        run_until(&mut engine, &mut ramp, |totals| totals.count("sequence") > 8);
        ramp.cut(&mut engine);
        std::thread::sleep(Duration::from_millis(100));
        hangs.store(true, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(100));
        let (_, owed) = window.cut(&mut engine);
        assert_eq!(owed, 4, "{pool}");
        window.finish(&mut engine);
        let sequence = window.of("sequence");
        assert_eq!((sequence.failures.values().sum::<u64>(), window.failed("ask")), (4, 4), "{window:?}");
        let censored = sequence.clock(Clock::Censored);
        assert!((censored.len(), censored.min() >= 999_000_000) == (4, true), "{window:?}");
        // Each begun operation is in the window once. The window may also contain the first step of earlier
        // operations.
        let before = window.count("find") - sequence.count;
        assert!(before <= 4, "{window:?}");
    }
}

#[test]
fn an_operation_in_a_short_think_time_at_the_window_end_is_completed() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text = two_steps("", "{ think = '150ms', distribution = 'constant' }, ");
    let mut engine = responder.job(&text).with(json!({"timeout_ms": 2_000})).start(4);
    let (window, _) = Totals::of_window(&mut engine, 400, |totals| totals.count("sequence") >= 4);
    let sequence = window.of("sequence");
    assert_eq!((sequence.count, window.failed("sequence")), (window.count("find"), 0), "{window:?}");
    assert_eq!(sequence.counter(Counter::Thinking), 0);
    assert_eq!(sequence.counter(Counter::Paused), 150_000_000 * sequence.count);
    assert!(sequence.clock(Clock::Service).min() < 100_000_000, "{window:?}");
}

#[test]
fn an_operation_in_a_long_think_time_at_the_window_end_counts_as_thinking() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let closed = responder.job(&two_steps("", "{ think = '1h', distribution = 'constant' }, "));
    for job in [closed.clone(), closed.even_rate(100.0)] {
        let mut engine = job.engine();
        let (mut ramp, mut window) = (Totals::default(), Totals::default());
        ramp.cut(&mut engine);
        engine.start_lanes("mix", 4).unwrap();
        run_until(&mut engine, &mut window, |totals| totals.count("find") == 4);
        window.cut(&mut engine);
        let backlog = window.backlog;
        let snapshot = engine.drain().unwrap();
        // Only arrivals that no user has taken are awaited.
        assert!(snapshot.owed <= backlog, "{} {backlog}", snapshot.owed);
        window.add_late(snapshot);
        window.add_late(engine.stop(Duration::from_secs(5)).unwrap());
        let sequence = window.of("sequence");
        assert_eq!((sequence.count, sequence.counter(Counter::Thinking)), (0, 4), "{window:?}");
        // After the test the user sends none of the requests that would have followed.
        assert_eq!(window.count("ask"), 0, "{window:?}");
    }
}

#[test]
fn a_think_time_does_not_move_an_arrival_to_another_window() {
    const THINK_NS: u64 = 300_000_000;
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text = two_steps("", "{ think = '300ms', distribution = 'constant' }, ");
    let mut engine = responder.job(&text).even_rate(100.0).start(60);
    let (window, due) = Totals::of_window(&mut engine, 500, |totals| totals.count("sequence") > 10);
    let sequence = window.of("sequence");
    assert_eq!(sequence.count, due, "{window:?}");
    assert_eq!(sequence.counter(Counter::Paused), THINK_NS * sequence.count);
    let least = [Clock::Latency, Clock::Service, Clock::Lag].map(|clock| sequence.clock(clock).min());
    assert!(least.iter().all(|&ns| ns < THINK_NS / 3), "{least:?}");
}

#[test]
fn no_step_is_sent_before_the_arrival_and_the_counted_step_is_timed_from_it() {
    let responder = Responder::only(&people(Profile::Paper, 1), op::SEARCH_REQUEST, Do::Slowly(100));
    let mut engine = responder.job(&two_steps("counts = 'ask'\n", "")).even_rate(20.0).engine();
    let pace = engine.pace().unwrap();
    let before = pace.first_at(load::now_ns());
    engine.start_lanes("mix", 20).unwrap();
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.count("ask") >= 6);
    let totals = totals.stop(&mut engine);
    let arrived = pace.first_at(load::now_ns()) - before;
    let searches = responder.seen.answered(op::SEARCH_REQUEST);
    assert!(searches <= arrived, "{searches} for {arrived} arrivals");
    let ask = totals.of("ask");
    assert_eq!((ask.open, totals.of("sequence").open), (true, false));
    let [latency, service] = [Clock::Latency, Clock::Service].map(|clock| ask.clock(clock).min());
    assert!(latency >= 99_900_000 && service < 90_000_000, "{latency} {service}");
}

#[test]
fn in_a_repeat_only_the_first_step_is_due_at_the_arrival() {
    let responder = Responder::start(&people(Profile::Paper, 1), |tag, _| match tag {
        op::SEARCH_REQUEST => Do::Slowly(100),
        _ => Do::Slowly(20),
    });
    let ask = "{ name = 'ask', compare = 'cn=a,o=x', entry = { sn = 'a' } }";
    let text = format!(
        "[[operation]]\nname = 'o'\ncounts = 'ask'\nstep = [{{ name = 'find', search = '(uid=a)' }}, \
         {{ repeat = 4, step = [{ask}, {{ think = '30ms', distribution = 'constant' }}] }}]"
    );
    let mut engine = responder.job(&text).even_rate(20.0).start(40);
    let (window, due) = Totals::of_window(&mut engine, 1_200, |totals| totals.count("ask") >= 4);
    assert_eq!(window.count("find"), due, "{window:?}");
    // The steps of arrivals at an edge may be due before or after the edge.
    assert!(window.count("ask").abs_diff(4 * due) <= due, "{due} {window:?}");
    let latency = window.of("ask").clock(Clock::Latency);
    // The first step's time includes the search. If its time included the think time, no step would be below
    // 50 ms; on a busy machine some steps are longer.
    let slow = latency.count_between(119_900_000, u64::MAX);
    assert!(slow >= due, "{slow} of {due}: {window:?}");
    assert!((19_900_000..50_000_000).contains(&latency.min()), "{window:?}");
}
