//! The clocks account for all of the lanes' time with HTTP, too.

use serde_json::json;

use super::paper::{IMAGE, PAGE, one, paper};
use super::site::{Do, Site};

#[test]
fn the_clocks_account_for_all_of_the_lanes_time() {
    let site = Site::right();
    for keepalive in [true, false] {
        let job = site.job(&paper()).target(json!({"keepalive": keepalive}));
        job.run_steps(12, "page", 300).assert_accounted();
    }
}

#[test]
fn the_clocks_account_for_lanes_that_wait_for_arrivals() {
    let site = Site::right();
    site.job(&one(&[PAGE, IMAGE])).rate(400.0).run_steps(4, "page", 100).assert_accounted();
}

#[test]
fn the_clocks_account_for_timeouts_and_pauses() {
    let site = Site::new(|_, n| match n % 9 {
        0 => Do::Never,
        4 => Do::Close,
        6 => Do::RightThenClose,
        _ => Do::Right,
    });
    let totals = site.job(&one(&[PAGE])).with(json!({"timeout_ms": 40})).run_steps(6, "page", 60);
    assert_eq!(totals.kinds(), ["closed", "timeout"]);
    totals.assert_accounted();
}
