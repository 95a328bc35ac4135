//! The clocks if a target stops answering for a second, at a known rate and on a closed schedule.

use std::time::Duration;

use load::{Clock, now_ns};
use people::Profile;

use super::closed_form;
use super::gate::Gate;
use super::harness::{Totals, lookups, people, run_until};
use super::responder::Responder;
use crate::job::Job;

const RATE: f64 = 1_000.0;
const STALL: Duration = Duration::from_secs(1);
const HALF_NS: u64 = 500_000_000;

/// Asserts that the clocks of a step equal the closed form of the stall on an open schedule.
pub fn assert_open_schedule_shows_stall(job: Job, gate: &Gate, step: &str) {
    let mut engine = job.rate(RATE).engine();
    let pace = engine.pace().unwrap();
    let before_ns = now_ns();
    engine.start_lanes("mix", 1).unwrap();
    let after_ns = now_ns();
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.count(step) >= 200);
    let stall = gate.stall(1, STALL);
    totals.add(engine.drain().unwrap());
    run_until(&mut engine, &mut totals, |totals| totals.backlog < 3);
    let totals = totals.stop(&mut engine);

    let (log, row) = (gate.log(), totals.of(step));
    // The first arrival is known to within the time that starting the lane took.
    let fits = |first| {
        let clocks = closed_form::open(&log, totals.end_ns, &pace, first);
        clocks.latency.hold(row.clock(Clock::Latency))?;
        clocks.lag.hold(row.clock(Clock::Lag))?;
        clocks.service.hold(row.clock(Clock::Service))?;
        closed_form::stalled(&pace, first, row.count, stall).hold(row.clock(Clock::Latency))?;
        // The test can fail: a clock started at the sending does not measure the stall.
        assert!(clocks.latency.hold(row.clock(Clock::Service)).is_err());
        let late = clocks.latency.longer_than(HALF_NS);
        assert!(late >= (RATE * 0.5) as u64 - 1, "{late} of the arrivals waited for half a second");
        Ok::<(), String>(())
    };
    let fitted: Vec<_> = (pace.first_at(before_ns)..=pace.first_at(after_ns)).map(fits).collect();
    assert!(fitted.iter().any(Result::is_ok), "{fitted:?}");
}

/// Asserts that on a closed schedule one sample of each lane shows the stall.
pub fn assert_closed_schedule_shows_stall(job: &Job, gate: &Gate, step: &str) {
    const LANES: u64 = 3;
    let (mut engine, mut totals) = (job.start(LANES), Totals::default());
    run_until(&mut engine, &mut totals, |totals| totals.count(step) >= 1_000);
    let (shut_ns, opens_ns) = gate.stall(LANES as usize, STALL);
    let so_far = totals.count(step);
    run_until(&mut engine, &mut totals, |totals| totals.count(step) >= so_far + 1_000);
    let totals = totals.stop(&mut engine);

    let (log, row) = (gate.log(), totals.of(step));
    closed_form::closed(&log, totals.end_ns).hold(row.clock(Clock::Service)).unwrap();
    let through = log.iter().filter(|exchange| exchange.answered_ns >= opens_ns);
    let stalled = through.filter(|exchange| exchange.asked_ns <= shut_ns);
    assert_eq!(stalled.count() as u64, LANES);
    // A closed schedule has no arrivals in that second, so its 99th percentile does not show the stall.
    assert!(row.clock(Clock::Latency) == row.clock(Clock::Service));
    assert!(row.clock(Clock::Service).value_at_quantile(0.99) < HALF_NS);
}

#[test]
fn latencies_of_an_open_schedule_equal_the_closed_form_of_the_stall() {
    let responder = Responder::right(&people(Profile::Small, 50));
    assert_open_schedule_shows_stall(responder.job(&lookups(1_000_000)), &responder.gate, "lookup");
}

#[test]
fn latencies_of_a_closed_schedule_show_a_stall_in_one_sample_per_lane() {
    let responder = Responder::right(&people(Profile::Small, 50));
    assert_closed_schedule_shows_stall(&responder.job(&lookups(1_000_000)), &responder.gate, "lookup");
}
