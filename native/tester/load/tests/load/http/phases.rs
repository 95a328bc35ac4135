//! The phases of requests, and the time of each lane.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use load::{Clock, Counter};
use serde_json::json;

use super::endpoints::{Both, kinds};
use super::harness::{Totals, run_until, sum_ns};
use super::paper::{IMAGE, one};
use super::site::{Do, Site};
use crate::job::Job;

const PHASES: [&str; 4] = ["connecting", "handshake", "first byte", "request"];

fn with_phases(job: Job) -> Job {
    job.target(json!({"phases": true}))
}

/// Images over persistent connections.
fn kept(site: &Site) -> Job {
    with_phases(kinds(site, 1, 0)).scenario(json!({"keepalive": true}))
}

/// Histograms round away up to a thousandth.
fn assert_about(left: f64, right: f64) {
    assert!((left / right - 1.0).abs() < 0.003, "{left} and {right}");
}

fn total_ns(totals: &Totals, step: &str) -> f64 {
    sum_ns(totals.of(step).clock(Clock::Service))
}

#[test]
fn a_request_lasts_as_long_as_its_phases_together() {
    // A millisecond lies between the pieces, of which there are two or more.
    let site = Both::new(|_, _| Do::InPieces(4_000));
    let job = with_phases(site.job(false, 3, 1));
    let mut tried = Vec::new();
    while !tried.iter().any(|&(pieces, request)| pieces <= request * 1.002) {
        // A thread that waits for its core during encoding adds that time to both clocks.
        assert!(tried.len() < 5, "{tried:?}");
        tried.push(pieces_and_requests_ns(&job));
    }
}

/// Asserts that the phases are right; returns two times: connecting plus exchanging, and whole requests.
fn pieces_and_requests_ns(job: &Job) -> (f64, f64) {
    let totals = job.run_steps(1, "secret", 30);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    let (images, secrets) = (totals.count("image"), totals.count("secret"));
    assert_eq!(totals.count("request"), images + secrets);
    assert_eq!(totals.count("first byte"), images + secrets);
    // A lane that is stopped after its handshake sends no request.
    assert!((secrets..=secrets + 1).contains(&totals.count("handshake")), "{totals:?}");

    let [connect, exchange] =
        [total_ns(&totals, "connect"), total_ns(&totals, "image") + total_ns(&totals, "secret")];
    let [connecting, handshake, first_byte, request] = PHASES.map(|phase| total_ns(&totals, phase));
    assert!(0.0 < handshake && handshake < connecting, "{handshake} of {connecting}");
    assert!(connecting + first_byte < request * 1.001, "{connecting} + {first_byte} of {request}");
    let between = 1e6 * (images + secrets) as f64;
    assert!(0.0 < first_byte && first_byte + between < exchange * 1.001, "{first_byte} of {exchange}");
    assert!(request < (connect + exchange) * 1.2, "{connect} + {exchange} of {request}");
    for phase in PHASES {
        let total = totals.of(phase);
        let none = [Counter::BytesIn, Counter::BytesOut, Counter::Processing];
        assert!(total.overlaps && none.iter().all(|&counter| total.counter(counter) == 0));
    }
    totals.assert_accounted();
    // Connecting ends when the request is sent, except for the time of encoding the request over TLS.
    (connect + exchange, request)
}

#[test]
fn on_an_open_connection_a_request_begins_with_its_sending() {
    let site = Site::right();
    let totals = kept(&site).run_steps(2, "image", 200);
    assert_eq!(totals.count("connect"), 2);
    let connect = total_ns(&totals, "connect");
    assert_about(total_ns(&totals, "request"), total_ns(&totals, "image") + connect);
    assert!(!totals.steps.contains_key("handshake"), "{totals:?}");
    assert_eq!(totals.count("connecting"), 2);
    totals.assert_accounted();
    // A connection that was opened before a pause counts as open.
    let text = format!("connection.main.per = 1\n{}", one(&["{ think = '1ms' }", IMAGE]));
    let totals = with_phases(site.job(&text)).run_steps(2, "image", 50);
    assert!(totals.count("main: connect") >= totals.count("image"), "{totals:?}");
    assert_about(total_ns(&totals, "request"), total_ns(&totals, "image"));
}

#[test]
fn failed_requests_count_as_requests_and_have_no_phases() {
    let site = Site::new(|_, n| match n % 10 {
        1 => Do::Status(500),
        3 => Do::Close,
        6 => Do::HalfAHead,
        8 => Do::LessThanSaid,
        _ => Do::Right,
    });
    let totals = kept(&site).run_steps(3, "image", 100);
    let image = totals.of("image");
    let [first_byte, request] = ["first byte", "request"].map(|step| totals.of(step));
    assert_eq!(totals.kinds(), ["closed", "status:500", "truncated"]);
    assert_eq!((request.count, &request.failures), (image.count, &image.failures));
    assert_eq!(request.clock(Clock::Censored).len(), image.clock(Clock::Censored).len());
    assert!(first_byte.failures.is_empty());
    // Half a head and half a body have a first byte too, but no answer.
    let unanswered = request.clock(Clock::Censored).len();
    assert_eq!(unanswered, image.failures["closed"] + image.failures["truncated"], "{totals:?}");
    assert_eq!(first_byte.count, request.count - unanswered);
    assert!(totals.count("connecting") <= first_byte.count);
    let succeeded = request.count - request.failures.values().sum::<u64>();
    assert_eq!(totals.lane_counts.iter().sum::<u64>(), succeeded);
}

#[test]
fn a_failed_connect_or_handshake_is_a_failed_request() {
    let site = Both::right();
    let job = with_phases(site.job(false, 0, 1));
    let refused = job.clone().target(json!({"secure": {"port": 1}}));
    let other_site = Both::right().job(false, 0, 1).config;
    let untrusted = job.target(json!({"secure": {"tls": other_site["target"]["secure"]["tls"]}}));
    for (job, begun) in [(refused, false), (untrusted, true)] {
        let totals = job.run_steps(1, "connect", 3);
        let (connect, request) = (totals.of("connect"), totals.of("request"));
        assert_eq!((request.count, &request.failures), (connect.count, &connect.failures));
        assert_eq!(connect.clock(Clock::Censored).len(), connect.count);
        let handshakes = totals.steps.get("handshake").map(|total| total.clock(Clock::Censored).len());
        assert_eq!(handshakes, begun.then_some(connect.count), "{totals:?}");
        assert!(!totals.steps.contains_key("connecting"));
        assert!(!totals.steps.contains_key("first byte") && totals.lane_counts == [0], "{totals:?}");
    }
}

#[test]
fn a_request_unfinished_at_the_window_end_is_counted_from_its_connect_on() {
    let site = Both::right();
    // A relay in front of the site that delays the handshake.
    let way = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, to) = (way.local_addr().unwrap().port(), site.secure.port());
    std::thread::spawn(move || {
        for near in way.incoming().flatten() {
            std::thread::sleep(Duration::from_millis(300));
            let far = TcpStream::connect(("127.0.0.1", to)).unwrap();
            for (mut from, mut into) in [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)] {
                std::thread::spawn(move || std::io::copy(&mut from, &mut into));
            }
        }
    });
    site.secure.gate.shut();
    let job = site.job(true, 0, 1).target(json!({"secure": {"port": port}}));
    let mut engine = with_phases(job).start(1);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(engine.cut().unwrap().owed, 1, "it connects");
    while site.secure.gate.waiting() == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(engine.drain().unwrap().owed, 1, "it has asked");
    site.secure.gate.open();
    while engine.drain().unwrap().owed > 0 {}
}

#[test]
fn every_drain_has_the_request_count_of_each_lane_at_the_lanes_index() {
    let site = Site::right();
    let mut engine = kept(&site).with(json!({"threads": 2})).start(5);
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| {
        totals.lane_counts.len() == 5 && totals.lane_counts.iter().all(|&n| n >= 20)
    });
    // Only lane 0 of the first thread or a lane of the second thread remains.
    engine.stop_lanes("mix", 4).unwrap();
    let mut ended = Totals::default();
    run_until(&mut engine, &mut ended, |totals| totals.lanes == 1);
    let mut left = Totals::default();
    run_until(&mut engine, &mut left, |totals| totals.count("image") >= 20);
    assert_eq!(left.lane_counts.len(), 5);
    assert_eq!(left.lane_counts.iter().filter(|&&n| n > 0).count(), 1);
    assert_eq!(left.lane_counts.iter().sum::<u64>(), left.count("request"));
    engine.start_lanes("mix", 1).unwrap();
    let mut more = Totals::default();
    run_until(&mut engine, &mut more, |totals| totals.lane_counts.iter().filter(|&&n| n > 0).count() == 2);
    assert_eq!(more.lane_counts.len(), 5);
    let last = engine.stop(Duration::from_secs(5)).unwrap();
    assert_eq!(last.lane_counts.len(), 5);
    for part in [ended, left, more] {
        let sum = totals.lane_counts.iter_mut().zip(part.lane_counts);
        sum.for_each(|(sum, n)| *sum += n);
    }
    let all = totals.lane_counts.iter().sum::<u64>() + last.lane_counts.iter().sum::<u64>();
    assert_eq!(all, site.seen.answered("/image"));
}

#[test]
fn steps_may_have_the_names_of_phases_unless_phases_are_recorded() {
    let site = Site::right();
    for (phases, name) in [(false, "request"), (true, "request"), (true, "handshake"), (true, "first byte")] {
        let step = IMAGE.replace("name = 'image'", &format!("name = '{name}'"));
        let job = site.job(&one(&[&step])).target(json!({"phases": phases}));
        if phases {
            let problem = job.refusal();
            let expected = format!("mix:4:9: operation[1].step[1]: \"{name}\" is the name of a phase");
            assert!(problem.contains(&expected), "{problem}");
        } else {
            let totals = job.run_steps(1, name, 10);
            assert_eq!(totals.steps.keys().collect::<Vec<_>>(), ["main: connect", "request", "sequence"]);
            assert!(!totals.of("request").overlaps && totals.lane_counts.is_empty());
            totals.assert_accounted();
        }
    }
}
