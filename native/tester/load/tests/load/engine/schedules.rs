//! Start times of operations on a real clock.

use std::time::{Duration, Instant};

use load::{Clock, Counter, Engine, Snapshot, now_ns};

use people::Profile;
use serde_json::json;

use super::harness::{LOOKUP, Totals, lookups, people, run_until, session};
use super::responder::{Do, Responder};

const MS: u64 = 1_000_000;
const A_DAY: &str = "{ think = '24h', distribution = 'constant' }";

/// Starts lanes; returns the two times between which arrivals began.
fn start_lanes(engine: &mut Engine, lanes: u64) -> (u64, u64) {
    let before = now_ns();
    engine.start_lanes("mix", lanes).unwrap();
    (before, now_ns())
}

/// Asserts that the number of served and waiting arrivals matches the rate since its start, however busy the
/// machine was.
fn assert_rate(totals: &Totals, step: &str, rate: f64, began: (u64, u64)) {
    let arrived = totals.count(step) + totals.backlog;
    let due = |began: u64| ((totals.end_ns - began) as f64 / 1e9 * rate) as u64;
    let (least, most) = (due(began.1), due(began.0) + 1);
    // The last arrivals may be due between the last answer and the end.
    assert!(
        (least.saturating_sub(2)..=most).contains(&arrived),
        "{arrived}, not {least} to {most}: {totals:?}"
    );
}

/// Runs for a while and until all due arrivals are served.
fn run_open(engine: &mut Engine, ms: u64) -> Totals {
    let mut totals = Totals::default();
    std::thread::sleep(Duration::from_millis(ms));
    run_until(engine, &mut totals, |totals| totals.end_ns > 0 && totals.backlog < 3);
    totals.add(engine.stop(Duration::from_secs(5)).unwrap());
    totals
}

#[test]
fn an_open_schedule_keeps_its_rate_and_its_lanes_stay_connected() {
    let responder = Responder::right(&people(Profile::Small, 50));
    let mut engine = responder.job(&lookups(1_000_000)).rate(500.0).with(json!({"threads": 2})).engine();
    let began = start_lanes(&mut engine, 8);
    let totals = run_open(&mut engine, 1_000);
    assert_rate(&totals, "lookup", 500.0, began);
    let lookup = totals.of("lookup");
    let [latency, lag] = [Clock::Latency, Clock::Lag].map(|clock| lookup.clock(clock));
    assert_eq!((latency.len(), lag.len()), (lookup.count, lookup.count));
    assert!(latency.max() >= lookup.clock(Clock::Service).min());
    // Only counted steps have an intended start.
    assert!(!totals.of("bind").open);
    assert_eq!(totals.count("connect"), 8);
}

#[test]
fn arrivals_without_a_free_lane_are_reported_not_dropped() {
    let responder = Responder::right(&people(Profile::Small, 50));
    responder.gate.shut();
    let mut engine = responder.job(&lookups(1_000_000)).rate(1000.0).engine();
    let began = start_lanes(&mut engine, 2);
    std::thread::sleep(Duration::from_millis(300));
    let mut totals = Totals::default();
    totals.add(engine.drain().unwrap());
    // The lanes wait for their binds: all arrivals are still due.
    assert_eq!(totals.count("lookup"), 0);
    assert!(totals.backlog > 250);
    assert_rate(&totals, "lookup", 1000.0, began);
    responder.gate.open();
    engine.stop(Duration::from_secs(1)).unwrap();
}

#[test]
fn fewer_lanes_than_threads_serve_every_arrival() {
    let responder = Responder::right(&people(Profile::Small, 50));
    let mut engine = responder.job(&lookups(1_000_000)).rate(400.0).with(json!({"threads": 3})).engine();
    let began = start_lanes(&mut engine, 1);
    for more in [1, 1, 3] {
        std::thread::sleep(Duration::from_millis(200));
        start_lanes(&mut engine, more);
    }
    std::thread::sleep(Duration::from_millis(200));
    engine.stop_lanes("mix", 5).unwrap();
    let totals = run_open(&mut engine, 200);
    assert_rate(&totals, "lookup", 400.0, began);
}

#[test]
fn an_arrival_can_be_a_whole_sequence() {
    let responder = Responder::right(&people(Profile::Small, 50));
    let mut engine = responder.job(&session(2, &[LOOKUP])).rate(200.0).engine();
    start_lanes(&mut engine, 8);
    let totals = run_open(&mut engine, 500);
    let sequence = totals.of("sequence");
    assert!(!totals.of("lookup").open);
    // Passes that the stop cut short have arrived and are reported.
    assert_eq!((sequence.count, totals.lanes), (totals.count("connect"), 0));
    let [latency, censored] = [Clock::Latency, Clock::Censored].map(|clock| sequence.clock(clock).len());
    assert_eq!(latency + censored, sequence.count);
    assert!(latency >= 80 && censored <= 8, "{totals:?}");
}

#[test]
fn an_arrival_is_recorded_wherever_its_lane_is_stopped() {
    // Each lane is stopped in its first pass: in a think time, in its last lookup, in an earlier lookup.
    for (steps, asked, [answered, count, thinking]) in
        [(&[A_DAY, LOOKUP][..], 4, [0, 0, 4]), (&[LOOKUP], 8, [4, 4, 0]), (&[LOOKUP, LOOKUP], 8, [0, 4, 0])]
    {
        let responder = Responder::lookups(&people(Profile::Small, 50), Do::Slowly(1_000));
        let mut engine = responder.job(&session(1, steps)).rate(1_000.0).start(4);
        let mut totals = Totals::default();
        run_until(&mut engine, &mut totals, |totals| {
            totals.count("bind") == 4 && responder.seen.messages.lock().unwrap().len() == asked
        });
        totals.add(engine.stop(Duration::from_secs(30)).unwrap());
        let sequence = totals.of("sequence");
        assert_eq!(
            [sequence.clock(Clock::Latency).len(), sequence.count, sequence.counter(Counter::Thinking)],
            [answered, count, thinking],
            "{steps:?}: {totals:?}"
        );
    }
}

#[test]
fn the_arrivals_of_a_thread_without_lanes_are_given_up_at_once() {
    let responder = Responder::lookups(&people(Profile::Small, 50), Do::Never);
    let scenario = |name: &str| json!({"name": name, "text": lookups(1_000_000)});
    let both = json!({"threads": 2, "scenarios": [scenario("mix"), scenario("q")]});
    let mut engine = responder.job("").rate(1_000.0).with(both).engine();
    engine.start_lanes("q", 2).unwrap();
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.backlog > 100);
    let end_ns = engine.cut().unwrap().t1_ns;
    engine.stop_lanes("q", 2).unwrap();
    let (pace, snapshot) = (engine.pace().unwrap(), engine.drain().unwrap());
    // The requests of the two lanes are still unanswered.
    assert_eq!((snapshot.backlog, snapshot.owed), (0, 2));
    let lookup = snapshot.late.iter().find(|row| &*row.step == "lookup").unwrap();
    assert_eq!((&*lookup.program, lookup.failures.len()), ("q", 1));
    assert!(lookup.count > 98 && lookup.count <= pace.first_at(end_ns), "{} given up", lookup.count);
    engine.stop(Duration::ZERO).unwrap();
}

/// The arrivals due in each span, over all drains, with the number that were later than `later_ms`.
fn spans_of(snapshots: &[Snapshot], later_ms: u64) -> Vec<(u64, u64)> {
    let mut spans = Vec::new();
    for (span, step) in snapshots.iter().flat_map(|snapshot| &snapshot.spans) {
        let span = *span as usize;
        spans.resize(spans.len().max(span + 1), (0, 0));
        spans[span].0 += step.count;
        spans[span].1 += step.clock(Clock::Latency).count_between(later_ms * MS, u64::MAX >> 1);
    }
    spans
}

#[test]
fn arrivals_of_each_span_of_stages_equal_the_integral_of_the_rate() {
    let responder = Responder::right(&people(Profile::Small, 50));
    // The half seconds have 50, 150, 200, 0 and 100 arrivals.
    let stages =
        [(0.5, 200.0), (0.5, 400.0), (0.5, 400.0), (0.001, 0.0), (0.5, 0.0), (0.001, 400.0), (0.5, 0.0)];
    let stages: Vec<_> =
        stages.iter().map(|(lasts_s, rate)| json!({"lasts_s": lasts_s, "rate": rate})).collect();
    let staged = json!({"kind": "staged", "stages": stages, "span_ms": 500});
    let job = responder.job(&lookups(1_000_000)).with(json!({"schedule": staged, "threads": 2}));
    let mut engine = job.start(8);
    std::thread::sleep(Duration::from_millis(300));
    let mut snapshots = vec![engine.drain().unwrap()];
    assert!(engine.pace().is_none() && snapshots[0].spans.is_empty(), "they have begun by themselves");
    snapshots.push(engine.cut().unwrap());
    let pace = engine.pace().unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(2_700) || snapshots.last().unwrap().backlog > 0 {
        std::thread::sleep(Duration::from_millis(100));
        snapshots.push(engine.drain().unwrap());
    }
    snapshots.push(engine.stop(Duration::from_secs(5)).unwrap());
    let counts: Vec<_> = spans_of(&snapshots, 0).into_iter().map(|(count, _)| count).collect();
    assert_eq!(counts.iter().sum::<u64>(), pace.first_at(u64::MAX >> 1));
    assert_eq!(counts[..3], [50, 150, 200]);
    assert!(counts[3] <= 1 && counts[4] > 90, "{counts:?}");
}

#[test]
fn arrivals_delayed_by_a_stall_are_in_the_spans_of_their_due_times() {
    let responder = Responder::right(&people(Profile::Small, 50));
    let stages = json!([{"lasts_s": 0.001, "rate": 500.0}, {"lasts_s": 3.0, "rate": 500.0}]);
    let staged = json!({"schedule": {"kind": "staged", "stages": stages, "span_ms": 250}});
    let mut engine = responder.job(&lookups(1_000_000)).with(staged).start(2);
    std::thread::sleep(Duration::from_millis(200));
    let mut snapshots = vec![engine.cut().unwrap()];
    let begun = Instant::now();
    let until = |ms: u64| std::thread::sleep(Duration::from_millis(ms).saturating_sub(begun.elapsed()));
    until(1_000);
    responder.gate.shut();
    // The stall is four spans long: no cut could separate the delayed arrivals.
    until(2_000);
    snapshots.push(engine.cut().unwrap());
    responder.gate.open();
    while begun.elapsed() < Duration::from_millis(3_100) || snapshots.last().unwrap().backlog > 0 {
        std::thread::sleep(Duration::from_millis(50));
        snapshots.push(engine.drain().unwrap());
    }
    snapshots.push(engine.stop(Duration::from_secs(5)).unwrap());
    let spans = spans_of(&snapshots, 150);
    assert!(spans[..12].iter().all(|(count, _)| (124..=126).contains(count)), "{spans:?}");
    // The arrivals of these spans are due from 1.0 to 1.75 s, and answered after 2 s.
    for span in 4..7 {
        assert!(spans[span].1 > 115, "span {span}: {spans:?}");
    }
}

#[test]
fn think_times_are_exact_to_a_fraction_of_a_millisecond() {
    let responder = Responder::right(&people(Profile::Small, 50));
    let steps = [LOOKUP, "{ think = '0.2ms', distribution = 'constant' }"];
    let totals = responder.job(&session(1, &steps)).run(2, 300);
    // Some think times are longer on a busy machine. With timers of whole milliseconds, none would be this
    // short.
    let shortest = totals.of("sequence").clock(Clock::Service).min();
    assert!((200_000..900_000).contains(&shortest), "{shortest} ns");
}

#[test]
fn a_stop_wakes_lanes_in_a_think_time_of_a_day() {
    let responder = Responder::right(&people(Profile::Small, 50));
    let mut engine = responder.job(&session(1, &[A_DAY, LOOKUP])).start(50);
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.count("bind") == 50);
    let begun = std::time::Instant::now();
    totals.add(engine.stop(Duration::from_secs(60)).unwrap());
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!((totals.count("bind"), totals.lanes), (50, 0));
}
