//! The clocks if a site stops answering for a second, at a known rate and on a closed schedule.

use super::paper::{PAGE, one};
use super::site::Site;
use crate::engine::freeze::{assert_closed_schedule_shows_stall, assert_open_schedule_shows_stall};

/// Pages, which are counted.
fn pages() -> String {
    one(&[PAGE]).replace("weight", "counts = 'page'\nweight")
}

#[test]
fn latencies_of_an_open_schedule_equal_the_closed_form_of_the_stall() {
    let site = Site::right();
    assert_open_schedule_shows_stall(site.job(&pages()), &site.gate, "page");
}

#[test]
fn latencies_of_a_closed_schedule_show_a_stall_in_one_sample_per_lane() {
    let site = Site::right();
    assert_closed_schedule_shows_stall(&site.job(&pages()), &site.gate, "page");
}
