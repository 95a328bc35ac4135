//! Every kind of wrong answer has its own name; right answers have none.

use serde_json::json;

use super::paper::{CREATE, IMAGE, PAGE, UPDATE, UPDATED_PAGE, one};
use super::site::{Do, PAGE_BYTES, Site};

/// The failures of pages on a site that answers every page with `what`.
fn kinds_of(what: Do) -> Vec<String> {
    let site = Site::always(what);
    let mut job = site.job(&one(&[PAGE]));
    if matches!(what, Do::Never | Do::LessThanSaidAndWait) {
        job = job.with(json!({"timeout_ms": 200}));
    }
    let totals = job.run_steps(3, "page", 6);
    let of_page = totals.of("page");
    assert!(of_page.count > 0, "{what:?}: {totals:?}");
    if totals.failed("page") > 0 {
        assert_eq!(totals.failed("page"), of_page.count, "{what:?}: {totals:?}");
    }
    of_page.failures.keys().cloned().collect()
}

#[test]
fn right_answers_are_recognised_in_every_encoding_and_in_pieces() {
    for what in [
        Do::Right,
        Do::Chunked(1),
        Do::Chunked(1_000),
        Do::Chunked(100_000),
        Do::InPieces(700),
        Do::UntilClose,
        Do::RightThenClose,
        Do::AfterContinue,
    ] {
        assert!(kinds_of(what).is_empty(), "{what:?}: {:?}", kinds_of(what));
    }
}

#[test]
fn each_kind_of_wrong_answer_has_its_own_name() {
    for (what, name) in [
        (Do::SomebodyElse, "leak"),
        (Do::Nobody, "wrong-answer"),
        (Do::WrongGreeting, "wrong-answer"),
        (Do::OfLength(PAGE_BYTES - 1), "wrong-length"),
        (Do::OfLength(PAGE_BYTES + 1), "wrong-length"),
        (Do::MoreThanSaid, "wrong-length"),
        (Do::LessThanSaid, "truncated"),
        (Do::LessThanSaidAndWait, "timeout"),
        (Do::CloseMidChunks, "closed"),
        (Do::TwoLengths, "malformed"),
        (Do::Status(500), "status:500"),
        (Do::Status(302), "status:302"),
        (Do::Nonsense, "malformed"),
        (Do::HalfAHead, "closed"),
        (Do::Close, "closed"),
        (Do::Never, "timeout"),
    ] {
        assert_eq!(kinds_of(what), [name], "{what:?}");
    }
}

#[test]
fn a_lane_flooded_by_the_target_times_out_and_does_not_delay_other_lanes() {
    let site = Site::new(|path, _| if path == "/image" { Do::EndlessChunks } else { Do::Right });
    let totals = site.job(&one(&[PAGE, IMAGE])).with(json!({"timeout_ms": 1_000})).run_steps(3, "image", 6);
    assert_eq!(totals.kinds(), ["timeout"], "{totals:?}");
    assert_eq!(totals.failed("image"), totals.count("image"));
    assert_eq!(totals.failed("page"), 0);
}

#[test]
fn only_a_page_after_an_update_can_be_stale() {
    let site = Site::new(|path, _| if path == "/" { Do::Outdated } else { Do::Right });
    let before = UPDATED_PAGE.replace("updated page", "page");
    let totals = site.job(&one(&[&before, UPDATE, UPDATED_PAGE])).run_steps(3, "updated page", 60);
    let of_page = totals.of("updated page");
    assert_eq!(of_page.failures.keys().collect::<Vec<_>>(), ["stale"]);
    assert_eq!((of_page.failures["stale"], of_page.count), (of_page.count, totals.count("update")));
    assert_eq!((totals.failed("page"), totals.failed("update")), (0, 0));
}

#[test]
fn leaked_pages_among_right_pages_are_counted_one_by_one() {
    let site = Site::new(|_, n| if n % 2 == 0 { Do::SomebodyElse } else { Do::Right });
    let totals = site.job(&one(&[PAGE])).run_steps(2, "page", 100);
    let of_page = totals.of("page");
    let half = of_page.count / 2;
    assert!(of_page.failures["leak"].abs_diff(half) <= 2, "{totals:?}");
    assert_eq!(of_page.failures.len(), 1);
}

#[test]
fn unverified_bodies_are_still_measured() {
    for (what, name) in [
        (Do::Right, None),
        (Do::Chunked(900), None),
        (Do::InPieces(500), None),
        (Do::LessThanSaid, Some("truncated")),
        (Do::MoreThanSaid, Some("wrong-length")),
        (Do::CloseMidChunks, Some("closed")),
    ] {
        let site = Site::always(what);
        let totals = site.job(&one(&[IMAGE])).run_steps(2, "image", 6);
        let kinds: Vec<_> = totals.of("image").failures.keys().map(String::as_str).collect();
        assert_eq!(kinds, name.into_iter().collect::<Vec<_>>(), "{what:?}");
    }
}

#[test]
fn a_new_user_sends_the_number_assigned_by_the_site() {
    let site = Site::right();
    let page = PAGE.replace("visitor.id", "id").replace("visitor", "newcomer");
    let totals = site.job(&one(&[CREATE, &page])).run_steps(3, "page", 30);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    let requests = site.seen.requests.lock().unwrap();
    let pages = requests.iter().filter(|request| request.starts_with(b"GET /"));
    pages.for_each(|page| assert!(String::from_utf8_lossy(page).contains("user=100"), "a new number"));
}

#[test]
fn a_registration_without_its_cookie_is_a_wrong_answer() {
    let site = Site::right();
    let create = CREATE.replace("cookie = 'user'", "cookie = 'session'");
    let totals = site.job(&one(&[&create])).run_steps(1, "create", 5);
    assert_eq!(totals.kinds(), ["nothing-captured"]);
}

#[test]
fn without_verification_only_status_and_length_count() {
    for (what, right) in [(Do::SomebodyElse, true), (Do::Status(500), false), (Do::OfLength(5_000), false)] {
        let site = Site::always(what);
        let totals = site.job(&one(&[PAGE])).with(json!({"verify": "none"})).run_steps(2, "page", 10);
        assert_eq!(totals.kinds().is_empty(), right, "{what:?}: {totals:?}");
    }
}
