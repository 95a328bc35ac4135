//! The mix is exact, and every operation is counted once.

use std::time::{Duration, Instant};

use serde_json::json;

use super::harness::Totals;
use super::paper::paper;
use super::site::Site;

#[test]
fn drains_add_up_to_the_answers_of_the_site_and_the_mix_is_exact() {
    let site = Site::right();
    let totals = site.job(&paper()).with(json!({"threads": 2})).run_steps(7, "page", 3_001);
    assert!(totals.kinds().is_empty(), "{totals:?}");

    let count = |step: &str| totals.count(step);
    assert_eq!(count("create"), site.seen.answered("/users"));
    assert_eq!(count("page") + count("updated page"), site.seen.answered("/"));
    assert_eq!(count("update"), site.seen.answered("/preferences"));
    // A lane that stops after an update still requests its page.
    assert_eq!(count("update"), count("updated page"));
    // Each of the two threads may be in the middle of a hundred cards.
    let dealt = [count("create"), count("page"), count("update")];
    let hundreds = dealt.iter().sum::<u64>() / 100;
    for (dealt, of_hundred) in dealt.iter().zip([5, 91, 4]) {
        let (least, most) = ((hundreds - 1) * of_hundred, (hundreds + 2) * of_hundred);
        assert!((least..=most).contains(dealt), "{dealt} of {of_hundred} in {hundreds}");
    }
}

#[test]
fn an_open_schedule_deals_one_card_per_arrival() {
    let site = Site::right();
    let job = site.job(&paper()).rate(500.0);
    let begun = Instant::now();
    let mut engine = job.start(8);
    std::thread::sleep(Duration::from_millis(1_000));
    let totals = Totals::default().stop(&mut engine);
    // No arrival is served before it is due.
    let due = (begun.elapsed().as_secs_f64() * 500.0) as u64 + 1;
    assert!((1..=due).contains(&totals.count("sequence")), "{due} due, {totals:?}");
    assert!(totals.kinds().is_empty(), "{totals:?}");
}
