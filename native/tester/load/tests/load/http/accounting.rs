//! All of the lanes' time is on one clock or another, for HTTP too.

use serde_json::json;

use super::paper::{IMAGE, PAGE, config, one, paper, run};
use super::site::{Do, Site};

#[test]
fn all_of_the_lanes_time_is_on_one_clock_or_another() {
    let site = Site::right();
    for keepalive in [true, false] {
        let mut config = config(&site, &paper());
        config["target"]["keepalive"] = json!(keepalive);
        run(&config, 12, "page", 300).assert_accounted();
    }
}

#[test]
fn so_is_the_time_of_lanes_that_wait_for_arrivals() {
    let site = Site::right();
    let mut config = config(&site, &one(&[PAGE, IMAGE]));
    config["schedule"] = json!({"kind": "open", "rate": 400.0});
    run(&config, 4, "page", 100).assert_accounted();
}

#[test]
fn so_is_time_waited_in_vain_and_the_pause_after_it() {
    let site = Site::new(|_, n| match n % 9 {
        0 => Do::Never,
        4 => Do::Close,
        6 => Do::RightThenClose,
        _ => Do::Right,
    });
    let mut config = config(&site, &one(&[PAGE]));
    config["timeout_ms"] = json!(40);
    let totals = run(&config, 6, "page", 60);
    assert_eq!(totals.kinds(), ["closed", "timeout"]);
    totals.assert_accounted();
}
