//! Rows that are dealt once or to one user at a time, and users that end after the last row.

use std::time::{Duration, Instant};

use load::{Engine, Snapshot};
use people::Profile;
use serde_json::json;
use wire::ldap::{Operation, ResultCode, op};

use super::harness::{Totals, eventually, people, row};
use super::responder::{Do, Responder, entry_name};
use crate::job::Job;

/// A scenario that changes an entry of an exclusive row and then compares it.
fn exclusive(rows: u32) -> String {
    format!(
        "[data.n]\nrange = [1, {rows}]\ndeal = 'exclusive'\n[[operation]]\nname = 'own'\nstep = [
          {{ modify = 'cn={{n}},o=x', change.replace.sn = 'a' }},
          {{ compare = 'cn={{n}},o=x', entry = {{ sn = 'a' }} }},
        ]"
    )
}

/// Drains an engine until its last lane has ended, and then two more times.
fn to_the_end(engine: &mut Engine) -> Vec<Snapshot> {
    let mut snapshots = vec![engine.drain().unwrap()];
    let begun = Instant::now();
    while snapshots.last().unwrap().lanes > 0 || snapshots.last().unwrap().without_row == 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", snapshots.last());
        std::thread::sleep(Duration::from_millis(5));
        snapshots.push(engine.drain().unwrap());
    }
    snapshots.extend([(); 2].map(|()| engine.drain().unwrap()));
    snapshots
}

/// The bases of all searches, in order.
fn searched(responder: &Responder) -> Vec<String> {
    let mut bases = responder.names(op::SEARCH_REQUEST);
    bases.sort_unstable();
    bases
}

fn rows(range: std::ops::RangeInclusive<u32>) -> Vec<String> {
    let mut rows: Vec<_> = range.map(|n| format!("cn={n},o=x")).collect();
    rows.sort_unstable();
    rows
}

const ONCE: &str = "[data.n]\nrange = [1, 200]\ndeal = 'once'\n[[operation]]\nname = 'look'\n\
                    search = '(a=b)'\nbase = 'cn={n},o=x'\n";

#[test]
fn each_row_is_dealt_once_over_all_threads_and_engines_and_then_the_users_end() {
    for (engines, threads, lanes) in [(1, 1, 1), (1, 3, 7), (2, 2, 5)] {
        let responder = Responder::right(&people(Profile::Paper, 1));
        let mut done = 0;
        for worker in 0..engines {
            let job = responder.job(ONCE).with(json!({"threads": threads}));
            let mut engine = job.scenario(json!({"worker": worker, "of": engines})).start(lanes);
            let found = to_the_end(&mut engine);
            let (count, failures) = row(&found, "look", "sequence");
            assert_eq!(failures, vec![]);
            done += count;
        }
        assert_eq!(done, 200, "{engines} engines, {threads} threads");
        assert_eq!(searched(&responder), rows(1..=200));
    }
}

#[test]
fn measured_time_stops_when_the_last_user_has_ended() {
    let responder = Responder::start(&people(Profile::Paper, 1), |_, _| Do::Slowly(1));
    let mut engine = responder.job(ONCE).start(4);
    std::thread::sleep(Duration::from_millis(20));
    engine.cut().unwrap();
    // This drain is long after the end of the users.
    assert!(eventually(|| responder.seen.answered(op::SEARCH_REQUEST) == 200));
    std::thread::sleep(Duration::from_millis(500));
    let asked_ns = load::now_ns();
    let found = to_the_end(&mut engine);
    assert!(asked_ns - found[0].t1_ns > 400_000_000, "{} ns", asked_ns - found[0].t1_ns);
    assert!(found.windows(2).all(|pair| pair[1].t0_ns == pair[0].t1_ns && pair[1].t1_ns == pair[0].t1_ns));
    let last = engine.cut().unwrap();
    assert_eq!((last.t1_ns, last.lane_ns), (found[0].t1_ns, 0));
    // It is no error to stop lanes that have ended.
    engine.stop_lanes("mix", 4).unwrap();
}

#[test]
fn begun_operations_are_finished_and_no_more_are_counted_if_rows_are_used_up() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text = "[data.n]\nrange = [1, 5]\ndeal = 'once'\n[[operation]]\nname = 'come'\nstep = [
      { add = 'cn=a{iteration},o=x', entry = { sn = 'a' } },
      { repeat = 3, step = [{ search = '(a=b)', base = 'cn={n},o=x' }, { compare = 'cn={n},o=x', entry = { sn = 'a' } }] },
      { delete = 'cn=a{iteration},o=x' },
    ]";
    let mut engine = responder.job(text).start(1);
    let found = to_the_end(&mut engine);
    assert_eq!(searched(&responder), rows(1..=5));
    let counts = ["add", "search", "compare", "delete", "sequence"].map(|step| row(&found, "come", step));
    assert_eq!(
        counts.map(|(count, failures)| (count, failures.len())),
        [(2, 0), (5, 0), (5, 0), (2, 0), (2, 0)]
    );
    assert!(responder.seen.added.lock().unwrap().is_empty());
}

#[test]
fn arrivals_without_a_row_are_not_late() {
    for threads in [1, 3] {
        let responder = Responder::right(&people(Profile::Paper, 1));
        let mut engine = responder.job(ONCE).rate(1_000.0).with(json!({"threads": threads})).start(8);
        let mut found = to_the_end(&mut engine);
        std::thread::sleep(Duration::from_millis(50));
        found.push(engine.drain().unwrap());
        assert_eq!((found.last().unwrap().backlog, found.last().unwrap().owed), (0, 0));
        found.push(engine.stop(Duration::from_secs(5)).unwrap());
        assert_eq!(row(&found, "look", "search"), (200, vec![]));
        assert_eq!(row(&found, "mix", "not begun"), (0, vec![]));
        assert_eq!(row(&found, "look", "sequence"), (200, vec![]));
    }
}

#[test]
fn a_deck_ends_when_the_first_of_its_data_sets_runs_out() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text = "[data.n]\nrange = [1, 10]\ndeal = 'once'\n[[operation]]\nname = 'look'\nsearch = '(a=b)'\nbase = 'cn={n},o=x'
      [[operation]]\nname = 'compare'\ncompare = 'cn=a,o=x'\nentry = { sn = 'a' }";
    let mut engine = responder.job(text).start(3);
    let found = to_the_end(&mut engine);
    assert_eq!(row(&found, "look", "search").0, 10);
    // Each pair of cards has one card of each kind. Each of the three users may still hold a card.
    assert!(
        (9..=14).contains(&row(&found, "compare", "compare").0),
        "{:?}",
        row(&found, "compare", "compare")
    );
}

/// The names of changed and compared entries with their connections, in order of arrival.
fn asked(responder: &Responder) -> Vec<(u64, String)> {
    let is_asked =
        |operation: &Operation<'_>| matches!(operation, Operation::Modify(_) | Operation::Compare(_));
    responder.requests_over(|operation| is_asked(operation).then(|| entry_name(operation)))
}

#[test]
fn one_user_at_a_time_has_an_exclusive_row_and_other_users_wait_idle() {
    let responder = Responder::start(&people(Profile::Paper, 1), |_, _| Do::Slowly(1));
    let mut engine = responder.job(&exclusive(3)).start(12);
    assert!(eventually(|| responder.seen.answered(op::COMPARE_REQUEST) >= 60));
    let snapshot = engine.drain().unwrap();
    let waited_ns = snapshot.row_wait_ns;
    let mut totals = Totals::default();
    totals.add(snapshot);
    let totals = totals.stop(&mut engine);
    assert_eq!(totals.lanes, 0);
    // Each wait is counted from its start to the end of the test.
    assert!(waited_ns > 0 && waited_ns <= totals.waiting_ns + 12 * 10_000_000, "{waited_ns} {totals:?}");
    assert!(totals.kinds().is_empty(), "{totals:?}");
    totals.assert_accounted();
    let asked = asked(&responder);
    for row in 1..=3 {
        let name = format!("cn={row},o=x");
        let of: Vec<_> = asked.iter().filter(|(_, asked)| *asked == name).map(|(over, _)| over).collect();
        assert!(of.len() > 10, "{asked:?}");
        assert!(of.chunks_exact(2).all(|pair| pair[0] == pair[1]), "{name} was had by two: {asked:?}");
    }
}

#[test]
fn a_returned_row_goes_at_once_to_the_lane_that_has_waited_longest() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    responder.job(&exclusive(1)).run_until(3, responder.has_answered(op::COMPARE_REQUEST, 60));
    let over: Vec<_> = asked(&responder).into_iter().map(|(over, _)| over).collect();
    // One lane sends a change and then its compare. The first turns are skipped, because the first lane may
    // begin again before the other lanes start.
    let over: Vec<_> = over.chunks_exact(2).map(|pair| pair[0]).skip(20).take(30).collect();
    assert!(over.windows(3).all(|turn| turn[0] != turn[1] && turn[0] != turn[2]), "{over:?}");
}

#[test]
fn a_row_with_an_unanswered_change_is_not_dealt_again() {
    let responder = Responder::only(&people(Profile::Paper, 1), op::MODIFY_REQUEST, Do::Never);
    let mut engine = responder.job(&exclusive(3)).with(json!({"timeout_ms": 30})).start(5);
    // When the last row is lost, the users who wait for a row end.
    let snapshots = to_the_end(&mut engine);
    let mut names: Vec<_> = asked(&responder).into_iter().map(|(_, name)| name).collect();
    names.sort_unstable();
    assert_eq!(names, rows(1..=3));
    assert!(snapshots.iter().any(|snapshot| snapshot.row_wait_ns > 0));
    let last = engine.stop(Duration::from_secs(5)).unwrap();
    assert_eq!((last.lanes, last.lost_rows), (0, 3));
}

#[test]
fn lost_rows_are_counted_and_only_the_remaining_rows_are_dealt_again() {
    let responder = Responder::start(&people(Profile::Paper, 1), |tag, number| match tag {
        op::MODIFY_REQUEST if number == 0 => Do::Never,
        _ => Do::Right,
    });
    let job = responder.job(&exclusive(3)).with(json!({"timeout_ms": 30}));
    let [last] = job.run_until(1, responder.has_answered(op::COMPARE_REQUEST, 20));
    assert_eq!((last.lost_rows, last.without_row), (1, 0));
    let asked = asked(&responder);
    let lost = &asked[0].1;
    assert_eq!(asked.iter().filter(|(_, name)| name == lost).count(), 1);
}

const REFUSED: Do = Do::Code(ResultCode::INVALID_CREDENTIALS);
const LOGIN: &str = "[connection.main]\nper = 'iteration'\n[data.n]\nrange = [1, 3]\ndeal = 'exclusive'\n\
                     [[operation]]\nname = 'login'\nbind = 'cn={n},o=x'\npassword = '{random:8}'\n";

/// Runs logins, and returns the names of users. `refused` selects requests by number, and `how` is the answer
/// to the selected requests.
fn logged_in(expected: &str, how: Do, refused: fn(u64) -> bool) -> Vec<String> {
    let responder = Responder::start(&people(Profile::Paper, 1), move |tag, number| match tag {
        op::BIND_REQUEST if refused(number) => how,
        _ => Do::Right,
    });
    let job = responder.job(&format!("{LOGIN}{expected}")).with(json!({"timeout_ms": 500}));
    job.run_until(1, responder.has_answered(op::BIND_REQUEST, 30));
    responder.names(op::BIND_REQUEST)
}

#[test]
fn a_row_with_a_refused_or_unanswered_bind_is_not_dealt_again() {
    for how in [REFUSED, Do::Never, Do::Close, Do::HalfAndClose, Do::Nonsense] {
        let names = logged_in("", how, |number| number == 0);
        let again = names.iter().filter(|name| **name == names[0]).count();
        assert_eq!(again, 1, "{how:?}: {names:?}");
    }
}

/// If the row were lost, a restarted target would lose one row for each try.
#[test]
fn a_row_with_an_unsent_bind_is_dealt_again() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut engine = Job::directory(closed, LOGIN).start(3);
    let mut snapshots = Vec::new();
    assert!(eventually(|| {
        snapshots.push(engine.drain().unwrap());
        row(&snapshots, "login", "main: connect").0 >= 12
    }));
    let last = engine.stop(Duration::from_secs(5)).unwrap();
    assert_eq!((last.lost_rows, last.without_row), (0, 0));
}

#[test]
fn a_row_with_an_expected_bind_refusal_is_dealt_again() {
    let names = logged_in("expect.result = 49", REFUSED, |_| true);
    let again = names.iter().filter(|name| **name == names[0]).count();
    assert!(again >= 9, "{names:?}");
}

#[test]
fn a_row_that_was_only_read_is_dealt_again() {
    let responder = Responder::only(&people(Profile::Paper, 1), op::COMPARE_REQUEST, Do::Never);
    let job = responder.job(&exclusive(1)).with(json!({"timeout_ms": 30}));
    job.run_until(1, responder.has_answered(op::MODIFY_REQUEST, 3));
}

#[test]
fn fewer_exclusive_rows_than_threads_are_refused() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let job = responder.job(&exclusive(5)).with(json!({"threads": 3}));
    let problem = job.scenario(json!({"of": 2})).refusal();
    assert!(problem.contains("data.n: has 5 rows for 6 threads, each of which needs one of its own"));
}
