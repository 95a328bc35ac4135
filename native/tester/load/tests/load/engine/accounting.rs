//! The counts equal the events, to the last operation.

use std::time::Duration;

use load::{Clock, Counter};
use people::Profile;
use serde_json::json;
use wire::ldap::op;

use super::harness::{
    CYCLE, LOOKUP, Totals, eventually, lookups, people, run_until, session, start_and_stop, sum_ns,
};
use super::responder::{Do, Responder};

#[test]
fn counts_are_exact_while_lanes_start_and_stop_and_recorders_are_drained() {
    let responder = Responder::right(&people(Profile::Small, 500));
    let mut engine = responder.job(&lookups(7)).with(json!({"threads": 2})).engine();
    let (totals, _) = start_and_stop(&mut engine, 120, Duration::from_millis(6));
    let totals = totals.stop(&mut engine);
    assert_eq!(totals.lanes, 0);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    let seen = &responder.seen;
    assert_eq!(totals.count("lookup"), seen.answered(op::SEARCH_REQUEST));
    assert_eq!(totals.count("bind"), seen.answered(op::BIND_REQUEST));
    // The kernel accepts a client before the responder does.
    assert!(eventually(|| responder.connections() >= totals.count("connect")));
    assert_eq!(totals.count("connect"), responder.connections());
    assert!(totals.count("lookup") > 500, "{}", totals.count("lookup"));
    assert_eq!(totals.count("sequence"), totals.count("unbind"));
}

#[test]
fn failed_and_answered_requests_add_up_to_all_requests() {
    let responder = Responder::start(&people(Profile::Small, 500), |tag, n| match (tag, n % 5) {
        (op::SEARCH_REQUEST, 0) => Do::Reset,
        (op::SEARCH_REQUEST, 1) => Do::Close,
        (op::SEARCH_REQUEST, 2) => Do::SomebodyElse,
        _ => Do::Right,
    });
    let totals = responder.job(&lookups(10)).run(8, 300);
    let lookup = totals.of("lookup");
    assert_eq!(totals.kinds(), ["closed", "reset", "wrong-answer"]);
    let answered = lookup.clock(Clock::Service).len() + lookup.clock(Clock::Wrong).len();
    assert_eq!(answered, responder.seen.answered(op::SEARCH_REQUEST));
    assert_eq!(lookup.clock(Clock::Censored).len(), lookup.failures["closed"] + lookup.failures["reset"]);
    assert_eq!(answered + lookup.clock(Clock::Censored).len(), totals.count("lookup"));
}

#[test]
fn counted_bytes_equal_the_bytes_on_the_wire() {
    let responder = Responder::right(&people(Profile::Paper, 10));
    let totals = responder.job(&lookups(10)).run(1, 60);
    let lookup = totals.of("lookup");
    let mean = |counter| lookup.counter(counter) as f64 / lookup.count as f64;
    let (sent, received) = (mean(Counter::BytesOut), mean(Counter::BytesIn));
    assert!((90.0..140.0).contains(&sent), "{sent}");
    assert!((1_155.0..1_411.0).contains(&received), "{received}");
    assert_eq!(totals.of("bind").counter(Counter::BytesOut), 14 * totals.count("bind"));
    assert_eq!(totals.of("unbind").counter(Counter::BytesOut), 7 * totals.count("unbind"));
    let sent = responder.seen.messages.lock().unwrap();
    assert_eq!(sent[0].len(), 14);
}

#[test]
fn all_bytes_of_a_completed_sequence_are_counted_in_its_row() {
    let responder = Responder::right(&people(Profile::Small, 10));
    let totals = responder.job(CYCLE).run(3, 60);
    let sequence = totals.of("sequence");
    assert!(totals.kinds().is_empty(), "{totals:?}");
    assert_eq!(sequence.counter(Counter::BytesOut), sequence.count * 21);
    assert_eq!(sequence.counter(Counter::BytesIn), sequence.count * 14);
    assert!(sequence.clock(Clock::Service).min() >= totals.of("bind").clock(Clock::Service).min());
}

#[test]
fn a_failed_operation_lasts_as_long_as_its_lane_waited() {
    let responder = Responder::lookups(&people(Profile::Small, 10), Do::Never);
    for schedule in [json!({"kind": "closed"}), json!({"kind": "open", "rate": 200.0})] {
        let settings = json!({"timeout_ms": 40, "schedule": schedule});
        let totals = responder.job(&session(2, &[LOOKUP])).with(settings).run(2, 300);
        let (lookup, sequence) = (totals.of("lookup"), totals.of("sequence"));
        // Passes, not lookups, are the arrivals here. A pass lasts as long as the lookup that ended the pass.
        let share = sum_ns(lookup.clock(Clock::Censored)) / lookup.counter(Counter::Failed) as f64;
        assert!((share - 1.0).abs() < 0.001, "{share} of the failed time with {schedule}");
        let censored = sequence.clock(Clock::Censored);
        assert_eq!(censored.len(), sequence.count);
        assert!(censored.min() >= 40_000_000, "{} ns", censored.min());
    }
}

#[test]
fn the_clocks_account_for_all_of_the_lanes_time() {
    let responder = Responder::right(&people(Profile::Small, 500));
    let think = session(3, &[LOOKUP, "{ think = '2ms', distribution = 'constant' }"]);
    for text in [&lookups(50), &think, CYCLE] {
        for threads in [1, 2] {
            responder.job(text).with(json!({"threads": threads})).run(24, 150).assert_accounted();
        }
    }
}

#[test]
fn the_clocks_account_for_lanes_that_wait_for_arrivals_or_fall_behind() {
    for (rate, rule) in [(500.0, Do::Right), (2_000.0, Do::Slowly(5))] {
        let responder = Responder::lookups(&people(Profile::Small, 500), rule);
        responder.job(&lookups(1_000_000)).rate(rate).run(6, 200).assert_accounted();
    }
}

#[test]
fn the_clocks_account_for_timeouts_and_pauses() {
    let responder = Responder::start(&people(Profile::Small, 500), |tag, n| match (tag, n % 7) {
        (op::SEARCH_REQUEST, 0) => Do::Reset,
        (op::SEARCH_REQUEST, 3) => Do::Never,
        _ => Do::Right,
    });
    let totals = responder.job(&lookups(10)).with(json!({"timeout_ms": 40})).run(8, 300);
    assert_eq!(totals.kinds(), ["reset", "timeout"]);
    totals.assert_accounted();
}

#[test]
fn a_window_accounts_for_operations_longer_than_itself() {
    let responder = Responder::right(&people(Profile::Small, 50));
    let mut engine = responder.job(&lookups(1_000_000)).start(4);
    let mut before = Totals::default();
    run_until(&mut engine, &mut before, |totals| totals.count("lookup") > 10);
    responder.gate.shut();
    let mut stalled = Totals::default();
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(50));
        before = std::mem::take(&mut stalled);
        stalled.add(engine.drain().unwrap());
    }
    // No operation ended, so the time of operations under way must have grown by the lane time of this
    // period.
    assert_eq!(stalled.count("lookup"), 0);
    assert_eq!(stalled.underway_ns - before.underway_ns, stalled.lane_ns);
    responder.gate.open();
}

#[test]
fn processing_time_lies_between_an_answer_and_the_next_request() {
    let responder = Responder::right(&people(Profile::Small, 50));
    let totals = responder.job(&lookups(1_000_000)).run(1, 100);
    let lookup = totals.of("lookup");
    let processing_ns = lookup.counter(Counter::Processing);
    assert!(processing_ns > 0);
    // All of a lane's time is either the target's time or the load generator's.
    let with_target = sum_ns(lookup.clock(Clock::Service));
    assert!(processing_ns as f64 + with_target <= totals.lane_ns as f64 * 1.001, "{totals:?}");
}

#[test]
fn a_stop_does_not_wait_for_a_target_that_does_not_answer() {
    let responder = Responder::lookups(&people(Profile::Small, 500), Do::Never);
    let mut engine = responder.job(&lookups(7)).start(5);
    // Every lane has bound and sent its request.
    assert!(eventually(|| responder.seen.messages.lock().unwrap().len() == 10));
    let begun = std::time::Instant::now();
    let mut totals = Totals::default();
    totals.add(engine.stop(Duration::from_millis(100)).unwrap());
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(totals.of("lookup").failures["timeout"], 5);
    assert_eq!(totals.lanes, 0);
}

#[test]
fn a_stopped_engine_refuses_commands() {
    let responder = Responder::right(&people(Profile::Small, 5));
    let mut engine = responder.job(&lookups(7)).engine();
    assert!(engine.start_lanes("q", 1).unwrap_err().to_string().contains("no scenario is called \"q\""));
    engine.start_lanes("mix", 2).unwrap();
    let error = engine.stop_lanes("mix", 3).unwrap_err().to_string();
    assert!(error.contains("only 2 run"), "{error}");
    engine.stop(Duration::from_secs(1)).unwrap();
    assert!(engine.drain().unwrap_err().to_string().contains("stopped"));
    assert!(engine.stop(Duration::ZERO).unwrap_err().to_string().contains("stopped"));
}
