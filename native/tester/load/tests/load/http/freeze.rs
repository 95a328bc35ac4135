//! The clocks if a site stops answering for a second, at a known rate and on a closed schedule.

use std::time::Duration;

use load::{Clock, now_ns};
use serde_json::json;

use super::closed_form;
use super::harness::{Totals, run_until};
use super::paper::{PAGE, config, one, start};
use super::site::Site;

const RATE: f64 = 1_000.0;
const STALL: Duration = Duration::from_secs(1);
const HALF_NS: u64 = 500_000_000;

/// Pages, which are counted.
fn pages() -> String {
    one(&[PAGE]).replace("weight", "counts = 'page'\nweight")
}

#[test]
fn latencies_of_an_open_schedule_equal_the_closed_form_of_the_stall() {
    let site = Site::right();
    let mut config = config(&site, &pages());
    config["schedule"] = json!({"kind": "open", "rate": RATE});
    let mut engine = start(&config);
    let pace = engine.pace().unwrap();
    let before_ns = now_ns();
    engine.start_lanes("p", 1).unwrap();
    let after_ns = now_ns();
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.count("page") >= 200);
    let stall = site.gate.stall(1, STALL);
    totals.add(engine.drain().unwrap());
    run_until(&mut engine, &mut totals, |totals| totals.backlog < 3);
    totals.add(engine.stop(Duration::from_secs(5)).unwrap());

    let (log, page) = (site.gate.log(), totals.of("page"));
    // The first arrival is known to within the time that starting the lane took.
    let fits = |first| {
        let clocks = closed_form::open(&log, totals.end_ns, &pace, first);
        clocks.latency.hold(page.clock(Clock::Latency))?;
        clocks.lag.hold(page.clock(Clock::Lag))?;
        clocks.service.hold(page.clock(Clock::Service))?;
        closed_form::stalled(&pace, first, page.count, stall).hold(page.clock(Clock::Latency))?;
        // The test can fail: a clock started at the sending does not measure the stall.
        assert!(clocks.latency.hold(page.clock(Clock::Service)).is_err());
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
    let site = Site::right();
    let mut engine = start(&config(&site, &pages()));
    engine.start_lanes("p", LANES).unwrap();
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.count("page") >= 1_000);
    let (shut_ns, opens_ns) = site.gate.stall(LANES as usize, STALL);
    let so_far = totals.count("page");
    run_until(&mut engine, &mut totals, |totals| totals.count("page") >= so_far + 1_000);
    totals.add(engine.stop(Duration::from_secs(5)).unwrap());

    let (log, page) = (site.gate.log(), totals.of("page"));
    closed_form::closed(&log, totals.end_ns).hold(page.clock(Clock::Service)).unwrap();
    let through = log.iter().filter(|exchange| exchange.answered_ns >= opens_ns);
    let stalled = through.filter(|exchange| exchange.asked_ns <= shut_ns);
    assert_eq!(stalled.count() as u64, LANES);
    // A closed schedule has no arrivals in that second, so its 99th percentile does not show the stall.
    assert!(page.clock(Clock::Latency) == page.clock(Clock::Service));
    assert!(page.clock(Clock::Service).value_at_quantile(0.99) < HALF_NS);
}
