//! Two lanes never update a user at the same time, and every update is seen.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use super::harness::eventually;
use super::paper::{PAGE, UPDATE, UPDATED_PAGE, one};
use super::scenarios::{Server, ok};
use super::site::Site;

#[test]
fn many_lanes_on_few_people_see_their_own_updates() {
    let site = Site::right();
    let own = PAGE.replace("visitor", "owner");
    let job = site.job(&one(&[&own, UPDATE, UPDATED_PAGE, PAGE]));
    let few = json!({"target": {"size": 40}, "threads": 2});
    let totals = job.with(few).run_steps(16, "update", 1_000);
    assert!(totals.kinds().is_empty(), "{totals:?}");
}

#[test]
fn more_lanes_than_people_report_no_false_failure() {
    let site = Site::right();
    let job = site.job(&one(&[UPDATE, UPDATED_PAGE])).target(json!({"size": 3}));
    for threads in [1, 2] {
        let totals = job.clone().with(json!({"threads": threads})).run_steps(12, "update", 500);
        assert!(totals.kinds().is_empty(), "{totals:?}");
    }
    // Each thread needs a person to update.
    let problem = job.with(json!({"threads": 4})).refusal();
    assert!(problem.contains("data.owner: has 3 rows for 4 threads"), "{problem}");
}

#[test]
fn engines_on_one_site_update_different_people() {
    let site = Site::right();
    let run_share = |worker: u64| {
        let job = site.job(&one(&[UPDATE, UPDATED_PAGE])).target(json!({"size": 6}));
        job.scenario(json!({"worker": worker, "of": 2})).run_steps(3, "update", 100)
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| run_share(1));
        for totals in [run_share(0), other.join().unwrap()] {
            assert!(totals.kinds().is_empty(), "{totals:?}");
        }
    });
}

#[test]
fn updates_without_a_page_are_spread_over_the_people() {
    let site = Site::right();
    let totals = site.job(&one(&[UPDATE])).run_steps(4, "update", 400);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    assert!(site.seen.values.lock().unwrap().len() > 100, "of 200 people");
}

#[test]
fn an_invalid_share_of_an_engine_is_refused() {
    let site = Site::right();
    for (worker, of) in [(1, 1), (2, 2), (5, 3), (0, 1_000_001), (0, u64::MAX), (u64::MAX, u64::MAX)] {
        let error = site.job(&one(&[PAGE])).scenario(json!({"worker": worker, "of": of})).refusal();
        assert!(
            error.contains("mix:1:1: engine") && error.contains("1,000,000"),
            "{worker} of {of}: {error}"
        );
    }
}

#[test]
fn a_lane_that_ends_after_a_lost_request_releases_its_row() {
    let is_broken = Arc::new(AtomicBool::new(true));
    let breaks = is_broken.clone();
    let server = Server::new(move |seen, _| match seen.method == "GET" && breaks.load(Ordering::Relaxed) {
        true => b"no answer\r\n\r\n".to_vec(),
        false => ok("old"),
    });
    let text = "data.owner = { people = 'seeded', deal = 'exclusive' }\n[[operation]]\nname = 'all'\n\
        step = [{ post = '/{owner.id}' }, { get = '/{owner.id}', expect.fresh = 'new' }]";
    let mut engine = server.job(text).engine();
    let asked = |after: usize| server.requests()[after..].iter().any(|seen| seen.method == "GET");
    // There are only ten people, so the forty lanes need rows that earlier lanes have released. Most lanes
    // end in the pause after their lost request.
    for _ in 0..40 {
        let before = server.requests().len();
        engine.start_lanes("mix", 1).unwrap();
        assert!(eventually(|| asked(before)));
        engine.stop_lanes("mix", 1).unwrap();
        while engine.drain().unwrap().lanes > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    is_broken.store(false, Ordering::Relaxed);
    let before = server.requests().len();
    engine.start_lanes("mix", 1).unwrap();
    assert!(eventually(|| asked(before)));
    let snapshot = engine.stop(Duration::from_secs(5)).unwrap();
    let kinds: Vec<_> = snapshot.steps.iter().flat_map(|row| &row.failures).collect();
    assert!(kinds.iter().any(|(kind, _)| kind == "stale"), "{kinds:?}");
}
