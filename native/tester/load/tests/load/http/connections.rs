//! Connections: one for many requests, or one for each request.

use serde_json::json;

use super::paper::{PAGE, one, paper};
use super::site::{Do, Site};

#[test]
fn the_workload_of_the_paper_opens_a_connection_for_each_request() {
    let site = Site::right();
    let totals = site.job(&paper()).target(json!({"keepalive": false})).run_steps(3, "page", 60);
    let requests: u64 =
        ["page", "create", "update", "updated page"].iter().map(|step| totals.count(step)).sum();
    assert!(totals.kinds().is_empty(), "{totals:?}");
    assert_eq!(totals.count("main: connect"), requests);
    let seen = site.seen.requests.lock().unwrap();
    assert!(
        seen.iter().all(|request| String::from_utf8_lossy(request).contains("\r\nConnection: close\r\n"))
    );
}

#[test]
fn an_answer_to_head_without_a_length_does_not_close_its_connection() {
    let site = Site::always(Do::HeadAlone);
    let totals = site.job(&one(&["{ name = 'head', head = '/' }"])).run_steps(1, "head", 20);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    assert_eq!(totals.count("main: connect"), 1);
}

#[test]
fn a_close_by_the_site_after_an_answer_causes_a_connect_and_no_failure() {
    for what in [Do::RightThenClose, Do::UntilClose] {
        let site = Site::always(what);
        let totals = site.job(&one(&[PAGE])).run_steps(2, "page", 10);
        assert!(totals.kinds().is_empty(), "{what:?} {totals:?}");
        assert!(totals.count("main: connect").abs_diff(totals.count("page")) <= 2, "{what:?} {totals:?}");
    }
}

#[test]
fn a_closed_port_is_a_connect_failure() {
    let site = Site::right();
    let job = site.job(&one(&[PAGE]));
    drop(site);
    std::thread::sleep(std::time::Duration::from_millis(50));
    let totals = job.run_steps(1, "main: connect", 2);
    assert_eq!(totals.of("main: connect").failures.keys().collect::<Vec<_>>(), ["connect-refused"]);
    assert_eq!(totals.count("page"), 0);
}
