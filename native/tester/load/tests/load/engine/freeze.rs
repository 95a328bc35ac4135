//! The clocks if a directory stops answering for a second, at a known rate and on a closed schedule.

use std::time::Duration;

use load::{Clock, now_ns};
use people::Profile;
use serde_json::json;

use super::closed_form;
use super::harness::{Totals, config, lookups, people, run_until, start};
use super::responder::Responder;

const RATE: f64 = 1_000.0;
const STALL: Duration = Duration::from_secs(1);
const HALF_NS: u64 = 500_000_000;

#[test]
fn latencies_of_an_open_schedule_equal_the_closed_form_of_the_stall() {
    let people = people(Profile::Small, 50);
    let responder = Responder::right(&people);
    let mut config = config(responder.address, &lookups(1_000_000));
    config["schedule"] = json!({"kind": "open", "rate": RATE});
    let mut engine = start(&config, Some(&people));
    let pace = engine.pace().unwrap();
    let before_ns = now_ns();
    engine.start_lanes("p", 1).unwrap();
    let after_ns = now_ns();
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.count("lookup") >= 200);
    let stall = responder.gate.stall(1, STALL);
    totals.add(engine.drain().unwrap());
    run_until(&mut engine, &mut totals, |totals| totals.backlog < 3);
    totals.add(engine.stop(Duration::from_secs(5)).unwrap());

    let (log, lookup) = (responder.gate.log(), totals.of("lookup"));
    // The first arrival is known to within the time that starting the lane took.
    let fits = |first| {
        let clocks = closed_form::open(&log, totals.end_ns, &pace, first);
        clocks.latency.hold(lookup.clock(Clock::Latency))?;
        clocks.lag.hold(lookup.clock(Clock::Lag))?;
        clocks.service.hold(lookup.clock(Clock::Service))?;
        closed_form::stalled(&pace, first, lookup.count, stall).hold(lookup.clock(Clock::Latency))?;
        // The test can fail: a clock started at the sending does not measure the stall.
        assert!(clocks.latency.hold(lookup.clock(Clock::Service)).is_err());
        let late = clocks.latency.longer_than(HALF_NS);
        assert!(late >= (RATE * 0.5) as u64 - 1, "{late} of the arrivals waited for half a second");
        Ok::<(), String>(())
    };
    let fitted: Vec<_> = (pace.first_at(before_ns)..=pace.first_at(after_ns)).map(fits).collect();
    assert!(fitted.iter().any(Result::is_ok), "{fitted:?}");
}

#[test]
fn latencies_of_a_closed_schedule_show_a_stall_in_one_sample_per_lane() {
    const LANES: u64 = 3;
    let people = people(Profile::Small, 50);
    let responder = Responder::right(&people);
    let mut engine = start(&config(responder.address, &lookups(1_000_000)), Some(&people));
    engine.start_lanes("p", LANES).unwrap();
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.count("lookup") >= 1_000);
    let (shut_ns, opens_ns) = responder.gate.stall(LANES as usize, STALL);
    let so_far = totals.count("lookup");
    run_until(&mut engine, &mut totals, |totals| totals.count("lookup") >= so_far + 1_000);
    totals.add(engine.stop(Duration::from_secs(5)).unwrap());

    let (log, lookup) = (responder.gate.log(), totals.of("lookup"));
    closed_form::closed(&log, totals.end_ns).hold(lookup.clock(Clock::Service)).unwrap();
    let through = log.iter().filter(|exchange| exchange.answered_ns >= opens_ns);
    let stalled = through.filter(|exchange| exchange.asked_ns <= shut_ns);
    assert_eq!(stalled.count() as u64, LANES);
    // A closed schedule has no arrivals in that second, so its 99th percentile does not show the stall.
    assert!(lookup.clock(Clock::Latency) == lookup.clock(Clock::Service));
    assert!(lookup.clock(Clock::Service).value_at_quantile(0.99) < HALF_NS);
}
