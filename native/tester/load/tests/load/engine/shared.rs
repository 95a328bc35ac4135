//! Connections that users share: requests of several users are in flight on one connection, and each answer
//! reaches the user that sent the request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use load::Clock;
use people::Profile;
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::ldap::op;

use super::crowd::{Act, Crowd, Heard, Manners};
use super::harness::{self, Totals, eventually, people, row, start_and_stop};
use super::responder::{Do, Responder};
use crate::job::Job;

/// One search of a user, which returns the user's own entry and no other entry.
const OWN: &str = "values.name = 'u{user}-{iteration}'\n[[operation]]\nname = 'o'\nsearch = '(uid={name})'\n\
                   expect.entry = { uid = '{name}' }\n";

/// A scenario of [`OWN`] searches over connections with these settings.
fn own(connection: &str) -> String {
    format!("connection.main{connection}\n{OWN}")
}

/// Runs users until `answers` requests are answered.
fn run(server: &Crowd, text: &str, limits: (u64, u64)) -> Totals {
    run_with(server, text, json!({}), limits)
}

/// Like [`run`], with further settings of the engine.
fn run_with(server: &Crowd, text: &str, settings: Value, (users, answers): (u64, u64)) -> Totals {
    run_until(server, &server.job(text).with(settings), users, || server.answered() >= answers)
}

/// Runs users until the condition holds, and checks the totals.
fn run_until(server: &Crowd, job: &Job, users: u64, happened: impl Fn() -> bool) -> Totals {
    let mut engine = job.start(users);
    assert!(eventually(happened), "{} opened, {} answered", server.opened(), server.answered());
    let mut totals = Totals::default();
    totals.add(engine.drain().unwrap());
    checked(server, totals.stop(&mut engine))
}

/// Asserts that no message ID was in use twice, and that the clocks account for all of the users' time.
fn checked(server: &Crowd, totals: Totals) -> Totals {
    assert_eq!((totals.lanes, totals.in_flight, server.reused()), (0, 0, 0), "{totals:?}");
    totals.assert_accounted();
    totals
}

#[test]
fn the_configured_number_of_users_share_a_connection_and_get_their_own_answers() {
    for outstanding in [2, 16, 64] {
        let server = Crowd::right(Manners { mixes: Some(1), gathers: 8, ..Manners::default() });
        let totals = run(&server, &own(&format!(".outstanding = {outstanding}")), (32, 2_000));
        assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
        assert_eq!(server.opened(), 32u64.div_ceil(outstanding));
        assert!(server.most() <= outstanding && server.most() > 1, "{}", server.most());
        assert_eq!(totals.count("search"), totals.count("sequence"));
        assert_eq!(totals.count("search"), totals.count("main: wait"));
        assert_eq!(totals.count("main: connect"), server.opened());
        assert!(eventually(|| server.seen.unbinds.load(Ordering::SeqCst) == server.opened()));
    }
}

#[test]
fn concurrent_requests_of_users_are_sent_in_one_write() {
    let server = Crowd::right(Manners { gathers: 16, ..Manners::default() });
    run(&server, &own(".outstanding = 16"), (16, 3_000));
    assert!(server.seen.at_once.load(Ordering::SeqCst) == 16);
}

#[test]
fn a_pool_limits_the_connections_of_all_threads_and_makes_users_wait() {
    let server = Crowd::right(Manners { gathers: 2, ..Manners::default() });
    let totals =
        run_with(&server, &own(" = { pool = 5, bind = 'cn=service' }"), json!({"threads": 2}), (20, 2_000));
    assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
    assert_eq!((server.opened(), server.most()), (5, 1));
    let binds = server.seen.binds.lock().unwrap().values().cloned().collect::<Vec<_>>();
    assert_eq!(binds, vec![vec!["cn=service"]; 5]);
    // Each user gets its turn as often as the other users of its thread.
    let heard = server.seen.heard.lock().unwrap();
    let mut turns: BTreeMap<String, u64> = BTreeMap::new();
    for Heard { name, .. } in heard.iter() {
        *turns.entry(name.split('-').next().unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!(turns.len(), 20);
    // The wait belongs to the operation and not to the step: three of four users wait during each request.
    let mean = |step: &str| totals.of(step).clock(Clock::Service).mean();
    assert!(mean("sequence") >= mean("search") + mean("main: wait"), "{totals:?}");
    assert!(mean("main: wait") > mean("search"), "{} {}", mean("main: wait"), mean("search"));
}

#[test]
fn a_pool_of_fewer_connections_than_threads_is_refused() {
    let server = Crowd::right(Manners::default());
    let job = server.job(&own(".pool = 3"));
    let problem = job.clone().with(json!({"threads": 4})).refusal();
    assert!(problem.contains("a pool of 3 cannot be divided among 4 threads"), "{problem}");
    job.with(json!({"threads": 3})).engine();
}

#[test]
fn a_repeated_answer_is_counted_and_dropped() {
    for outstanding in [8, 64] {
        let server = Crowd::start(Manners { gathers: 4, ..Manners::default() }, |_, n| {
            if n % 10 == 3 { Act::Twice } else { Act::Answer }
        });
        let totals = run(&server, &own(&format!(".outstanding = {outstanding}")), (outstanding, 1_000));
        // No request has failed. A repeated answer has two messages, an entry and a result, and both are
        // counted.
        assert_eq!(totals.failed("search"), 0, "{totals:?}");
        let unasked = totals.count("main: unasked");
        assert!(unasked >= 160 && unasked.is_multiple_of(2), "{unasked}");
        let failures = BTreeMap::from([("unasked".to_owned(), unasked)]);
        assert_eq!(totals.of("main: unasked").failures, failures);
        assert_eq!(server.opened(), 1);
    }
}

#[test]
fn an_answer_that_precedes_its_request_is_unsolicited() {
    let server =
        Crowd::start(Manners::default(), |_, n| if n % 10 == 3 { Act::Foretell } else { Act::Answer });
    let totals = run(&server, &own(".outstanding = 2"), (1, 100));
    assert_eq!(totals.failed("search"), 0, "{totals:?}");
    assert!(totals.count("main: unasked") >= 9, "{totals:?}");
}

#[test]
fn answers_with_unknown_ids_and_notifications_are_counted_and_dropped() {
    for act in [
        Act::WithStranger(0),
        Act::WithStranger(120),
        Act::WithStranger(128),
        Act::WithStranger(i32::MAX),
        Act::WithNotification,
    ] {
        let server = Crowd::start(Manners::default(), move |_, n| if n == 30 { act } else { Act::Answer });
        let totals = run(&server, &own(".outstanding = 4"), (4, 90));
        assert_eq!(totals.failed("search"), 0, "{act:?} {totals:?}");
        assert_eq!((totals.count("main: unasked"), server.opened()), (1, 1), "{act:?}");
    }
}

#[test]
fn a_lost_connection_fails_its_requests_in_flight_and_is_reopened() {
    for (act, kind) in [
        (Act::Close, "closed"),
        (Act::Half, "closed"),
        (Act::Goodbye, "closed"),
        (Act::OtherKind, "malformed"),
    ] {
        // The last of eight requests ends the connection: all eight are in flight.
        let server = Crowd::start(Manners { gathers: 8, ..Manners::default() }, move |_, n| {
            if n == 87 { act } else { Act::Answer }
        });
        let totals = run(&server, &own(".outstanding = 8"), (8, 300));
        let failures = &totals.of("search").failures;
        assert_eq!(failures.keys().collect::<Vec<_>>(), [kind], "{act:?}");
        assert!((1..=8).contains(&failures[kind]), "{act:?} {failures:?}");
        assert_eq!(totals.of("sequence").failures, *failures, "{act:?}");
        assert_eq!((server.opened(), totals.count("main: connect")), (2, 2), "{act:?}");
    }
}

#[test]
fn the_loss_of_one_connection_of_a_pool_does_not_affect_other_connections() {
    let server = Crowd::start(Manners::default(), |heard, n| {
        if heard.connection == 1 && n > 50 { Act::Close } else { Act::Answer }
    });
    // While the connection is reopened, the other connections serve any number of users.
    let job = server.job(&own(" = { pool = 3, outstanding = 2 }"));
    let totals = run_until(&server, &job, 6, || server.opened() == 4 && server.answered() >= 400);
    assert!((1..=2).contains(&totals.failed("search")), "{totals:?}");
    assert_eq!(server.opened(), 4);
}

#[test]
fn a_late_answer_to_an_abandoned_request_reaches_no_other_request() {
    let server = Crowd::start(Manners::default(), |_, n| match n % 20 {
        7 => Act::Late(150),
        _ => Act::Answer,
    });
    let totals = run_with(&server, &own(".outstanding = 4"), json!({"timeout_ms": 50}), (4, 200));
    assert_eq!(totals.of("search").failures.keys().collect::<Vec<_>>(), ["timeout"], "{totals:?}");
    assert_eq!(totals.count("main: unasked"), 0);
}

#[test]
fn a_connection_that_no_longer_answers_is_reopened() {
    // With more places than users, no user sends a second request on the silent connection, which is reopened
    // after a whole timeout.
    for ((pool, outstanding), (users, answers), timeouts) in
        [((1, 3), (6, 200), 3..=3), ((2, 64), (4, 5_000), 1..=4)]
    {
        let server = Crowd::start(Manners::default(), |heard, n| {
            if heard.connection == 0 && n >= 20 { Act::Never } else { Act::Answer }
        });
        let text = own(&format!(" = {{ pool = {pool}, outstanding = {outstanding} }}"));
        let totals = run_with(&server, &text, json!({"timeout_ms": 1_000}), (users, answers));
        let failures = &totals.of("search").failures;
        assert_eq!(failures.keys().collect::<Vec<_>>(), ["timeout"], "{totals:?}");
        assert!(timeouts.contains(&failures["timeout"]), "{totals:?}");
        assert_eq!(server.opened(), pool + 1);
    }
}

#[test]
fn a_connection_that_answers_other_requests_stays_open() {
    let server = Crowd::start(Manners::default(), |_, n| if n == 7 { Act::Later(400) } else { Act::Answer });
    let job = server.job(&own(".outstanding = 4")).with(json!({"timeout_ms": 200}));
    let job = job.scenario(json!({"think_ms": 1.0}));
    let totals = run_until(&server, &job, 4, || server.answered() >= 3_000);
    let failures = BTreeMap::from([("timeout".to_owned(), 1)]);
    assert_eq!(totals.of("search").failures, failures, "{totals:?}");
    assert_eq!((server.opened(), totals.count("main: unasked")), (1, 0));
}

#[test]
fn a_retiring_connection_that_is_lost_is_not_reopened() {
    let holds = Arc::new(AtomicBool::new(false));
    let server = Crowd::start(Manners::default(), {
        let holds = holds.clone();
        move |heard, _| {
            // The users that are not stopped.
            let stays = ["u5-", "u6-"].iter().any(|user| heard.name.starts_with(user));
            let held = stays && heard.connection > 0 && holds.load(Ordering::SeqCst);
            if held { Act::Hold } else { Act::Answer }
        }
    });
    let mut engine = server.job(&own(".outstanding = 2")).start(6);
    assert!(eventually(|| server.answered() > 100));
    holds.store(true, Ordering::SeqCst);
    let seen = &server.seen;
    assert!(eventually(|| seen.held.load(Ordering::SeqCst) == 2));
    engine.stop_lanes("mix", 4).unwrap();
    let mut totals = Totals::default();
    harness::run_until(&mut engine, &mut totals, |totals| totals.lanes == 2);
    std::thread::sleep(Duration::from_millis(50));
    holds.store(false, Ordering::SeqCst);
    seen.ends.store(true, Ordering::SeqCst);
    assert!(eventually(|| seen.closed.load(Ordering::SeqCst) == 2));
    let before = server.answered();
    assert!(eventually(|| server.answered() > before + 100));
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!((server.opened(), seen.closed.load(Ordering::SeqCst)), (3, 2));
    let totals = checked(&server, totals.stop(&mut engine));
    assert_eq!(totals.of("search").failures, BTreeMap::from([("closed".to_owned(), 2)]), "{totals:?}");
}

#[test]
fn a_target_that_closes_every_connection_is_retried_after_pauses() {
    let server = Crowd::start(Manners::default(), |_, n| if n < 6 { Act::Close } else { Act::Answer });
    let totals = run(&server, &own(".outstanding = 3"), (3, 50));
    let failures = &totals.of("search").failures;
    assert_eq!(failures.keys().collect::<Vec<_>>(), ["closed"], "{totals:?}");
    // At each close all requests in flight fail.
    assert!((6..=18).contains(&failures["closed"]), "{totals:?}");
    assert!((3..=7).contains(&server.opened()), "{}", server.opened());
}

#[test]
fn a_connection_closed_while_idle_is_reopened_without_a_failure() {
    let server = Crowd::start(Manners::default(), |_, _| Act::Last);
    let text = "connection.main.outstanding = 2\n[[operation]]\nname = 'o'\nsearch = '(uid=a)'\n";
    let job = server.job(text).scenario(json!({"think_ms": 40.0}));
    let totals = run_until(&server, &job, 1, || server.answered() >= 12);
    // After a few very short think times the next request is sent before the close arrives.
    assert!(totals.failed("search") <= 4, "{totals:?}");
    assert!(server.opened() >= 12 && totals.count("main: connect") >= 12, "{totals:?}");
}

#[test]
fn start_steps_and_counted_steps_use_shared_connections() {
    let server = Crowd::right(Manners { gathers: 4, mixes: Some(9), ..Manners::default() });
    let text = "connection.main = { pool = 2, outstanding = 3 }\n[start]\n\
                step = [{ name = 'once', search = '(uid=s{user})', capture.me = 'dn' }]\n\
                [[operation]]\nname = 'o'\ncounts = 'find'\nstep = [\
                { name = 'find', search = '(uid={me})', expect.entry = { uid = '{me}' } }, { think = '1ms' },\
                { name = 'other', search = '(uid=u{user}-{iteration})', expect.entry = { uid = 'u{user}-{iteration}' } }]";
    let totals = run_with(&server, text, json!({"threads": 2}), (9, 500));
    assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
    assert_eq!((totals.count("once"), server.opened()), (9, 2));
    assert!(totals.count("find").abs_diff(totals.count("other")) <= 9, "{totals:?}");
    assert!(server.most() <= 3);
}

#[test]
fn failed_start_steps_are_retried() {
    let server = Crowd::start(Manners::default(), |_, n| if n < 2 { Act::Refuse } else { Act::Answer });
    let text = "connection.main.outstanding = 2\n[start]\n\
                step = [{ name = 'once', search = '(uid=s{user})', capture.me = 'dn' }]\n\
                [[operation]]\nname = 'o'\nstep = [\
                { name = 'find', search = '(uid={me})', expect.entry = { uid = '{me}' } }]";
    let totals = run(&server, text, (2, 500));
    assert_eq!(totals.of("once").failures, BTreeMap::from([("result:busy".to_owned(), 2)]), "{totals:?}");
    assert_eq!(totals.count("once"), 4);
    assert_eq!((totals.failed("find"), totals.failed("sequence")), (0, 0), "{totals:?}");
    assert_eq!(server.opened(), 1);
}

#[test]
fn a_user_without_a_request_does_not_wait_for_a_place() {
    let server = Crowd::right(Manners::default());
    let text = "connection.main.pool = 1\n[[operation]]\nname = 'o'\nstep = [\
                { name = 'find', search = '(uid=u{user})', capture.mail = 'mail' },\
                { name = 'ask', search = '(uid={mail})' }]";
    let totals = run(&server, text, (6, 300));
    assert_eq!(totals.count("ask"), 0, "{totals:?}");
    assert_eq!(totals.count("main: wait"), totals.count("find"), "{totals:?}");
}

#[test]
fn waiting_too_long_for_a_place_is_a_failure() {
    let server = Crowd::start(Manners::default(), |_, n| if n == 10 { Act::Late(400) } else { Act::Answer });
    let totals = run_with(&server, &own(".pool = 1"), json!({"timeout_ms": 100}), (3, 60));
    assert_eq!(totals.of("search").failures, BTreeMap::from([("timeout".to_owned(), 1)]), "{totals:?}");
    let waits = totals.failed("main: wait");
    assert!(waits >= 2, "{totals:?}");
    assert_eq!(totals.of("sequence").failures, BTreeMap::from([("timeout".to_owned(), 1 + waits)]));
}

#[test]
fn a_failed_bind_of_a_shared_connection_is_retried_while_users_wait() {
    let server = Crowd::right(Manners::default());
    let text =
        "[connection.main]\npool = 2\nbind = 'cn=refused'\n[[operation]]\nname = 'o'\nsearch = '(uid=a)'";
    let mut engine = server.job(text).start(5);
    std::thread::sleep(Duration::from_millis(400));
    let totals = checked(&server, Totals::default().stop(&mut engine));
    let binds = totals.of("main: bind");
    assert_eq!(binds.failures, BTreeMap::from([("result:invalidCredentials".to_owned(), binds.count)]));
    // On each connection the tries are separated by pauses of 10, 20, 40, 80, 160 ms.
    assert!((2..=16).contains(&binds.count), "{totals:?}");
    assert_eq!((totals.count("search"), totals.count("sequence")), (0, 0));
}

#[test]
fn a_target_that_is_down_is_retried_after_pauses() {
    let job = Crowd::right(Manners::default()).job(&own(".pool = 1"));
    std::thread::sleep(Duration::from_millis(50));
    let mut engine = job.start(3);
    std::thread::sleep(Duration::from_millis(300));
    let totals = Totals::default().stop(&mut engine);
    let connects = totals.count("main: connect");
    assert!((1..=8).contains(&connects), "{connects}");
    assert_eq!(totals.failed("main: connect"), connects);
}

#[test]
fn large_messages_pass_slow_and_encrypted_connections() {
    let slow = Manners { dawdles: true, ..Manners::default() };
    let encrypted = Manners { gathers: 8, mixes: Some(2), tls: true, ..Manners::default() };
    let in_pieces = Manners { gathers: 4, mixes: Some(3), ..Manners::default() };
    // Eight requests of 1 MB are more than a socket accepts in one write; an answer to a `large` name has 200 kB.
    for (manners, attribute_bytes, name, (users, answers)) in [
        (slow, 1_000_000, "u", (8, 8)),
        (encrypted, 1, "u", (8, 400)),
        (Manners { dawdles: true, ..encrypted }, 1_000_000, "u", (8, 8)),
        (in_pieces, 1, "large", (4, 60)),
    ] {
        let server = Crowd::right(manners);
        let long = "y".repeat(attribute_bytes);
        let text = own(&format!(" = {{ outstanding = {users}, bind = 'cn=service' }}"));
        let text = text.replace("'u{user}", &format!("'{name}{{user}}"));
        let text = text.replace("expect", &format!("attributes = ['{long}']\nexpect"));
        let mut job = server.job(&text).with(json!({"timeout_ms": 30_000}));
        if manners.tls {
            job = job.target(json!({"tls": {"trust": {"insecure": true}, "start": false}}));
        }
        let totals = run_until(&server, &job, users, || server.answered() >= answers);
        assert_eq!((totals.kinds(), server.opened()), (vec![], 1), "{manners:?}: {totals:?}");
    }
}

#[test]
fn paged_searches_and_captures_use_shared_connections() {
    let server = Crowd::right(Manners { gathers: 6, mixes: Some(5), ..Manners::default() });
    let text = "connection.main.outstanding = 6\nvalues.name = 'u{user}-{iteration}'\n[[operation]]\nname = 'o'\n\
                step = [{ search = '(uid={name})', page_size = 1, expect.entries = 5,\
                capture.dns = { attribute = 'dn', take = 'all' } },\
                { repeat = 'dns', step = [{ name = 'again', search = '(uid={dns})', expect.entry = { uid = '{dns}' } }] }]";
    let totals = run(&server, text, (6, 2_000));
    assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
    let (passes, again) = (totals.count("sequence"), totals.count("again"));
    assert_eq!(again, 5 * passes);
    let heard = server.seen.heard.lock().unwrap();
    for page in 0..5 {
        assert!(
            heard.iter().any(|search| search.name.starts_with(&format!("uid=u1-1,cn={page},"))),
            "{page}"
        );
    }
}

#[test]
fn a_repeated_page_is_counted_and_dropped() {
    let server = Crowd::start(Manners::default(), |_, n| if n % 10 == 0 { Act::Twice } else { Act::Answer });
    let text = "connection.main.outstanding = 2\n[[operation]]\nname = 'o'\nsearch = '(uid=u{user})'\n\
                page_size = 1\nexpect.entries = 5\n";
    let totals = run(&server, text, (2, 400));
    assert_eq!(totals.failed("search"), 0, "{totals:?}");
    let unasked = totals.count("main: unasked");
    assert!(unasked >= 60 && unasked.is_multiple_of(2), "{unasked}");
    // Each page has the next message ID.
    let heard = server.seen.heard.lock().unwrap();
    assert!(heard.iter().zip(0..).all(|(search, n)| search.id == n % 127 + 1), "{heard:?}");
}

#[test]
fn the_bind_of_a_shared_connection_cannot_use_values_of_a_user() {
    let server = Crowd::right(Manners::default());
    let text = format!(
        "values.admin = 'cn=admin'\n[connection.main]\npool = 1\nbind = '{{admin}}'\n{}",
        "[[operation]]\nsearch = '(cn={admin})'"
    );
    let problem = server.job(&text).refusal();
    assert!(problem.contains("all users share this connection"), "{problem}");
}

#[test]
fn arrivals_are_taken_when_due_and_count_as_late_if_they_wait_for_a_place() {
    let server = Crowd::right(Manners::default());
    let job = server.job(&own(" = { pool = 2, outstanding = 2 }")).with(json!({"threads": 2}));
    let totals = run_until(&server, &job.even_rate(400.0), 8, || server.answered() >= 200);
    assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
    assert!(totals.of("sequence").clock(Clock::Latency).len() >= 190);
    assert_eq!(server.opened(), 2);
}

#[test]
fn users_may_have_their_own_connections_beside_shared_ones() {
    let responder = Responder::start(&people(Profile::Paper, 1), |tag, n| match tag {
        // The user's own connection closes while the user waits on the shared connection: no request fails.
        op::COMPARE_REQUEST if n % 3 == 0 => Do::RightThenClose,
        _ => Do::Right,
    });
    let text = "[connection.service]\noutstanding = 8\n[connection.login]\nper = 'iteration'\n[connection.own]\n\
                [[operation]]\nname = 'o'\nstep = [\
                { compare = 'uid=a,o=x', entry = { sn = 'a' }, on = 'own' },\
                { search = '(uid=a)', capture.dn = 'dn', on = 'service' },\
                { bind = '{dn}', password = '{user}', on = 'login' }]";
    let found = responder.job(text).run_until(8, responder.has_answered(op::BIND_REQUEST, 100));
    for step in ["search", "bind", "compare"] {
        let (count, failures) = row(&found, "o", step);
        assert!(count >= 100 && failures.is_empty(), "{step}: {count} {failures:?}");
    }
    assert_eq!(row(&found, "mix", "service: connect"), (1, vec![]));
    let (binds, connects) = (row(&found, "o", "bind").0, row(&found, "o", "login: connect").0);
    assert_eq!(binds, connects);
}

#[test]
fn shared_connections_open_and_close_as_users_start_and_stop() {
    let server = Crowd::right(Manners { gathers: 3, ..Manners::default() });
    let mut engine = server.job(&own(".outstanding = 4")).with(json!({"threads": 2})).engine();
    let (totals, running) = start_and_stop(&mut engine, 60, Duration::from_millis(6));
    engine.stop_lanes("mix", running).unwrap();
    let open = || server.opened() - server.seen.closed.load(Ordering::SeqCst);
    assert!(eventually(|| open() == 0));
    engine.start_lanes("mix", 8).unwrap();
    let before = server.answered();
    assert!(eventually(|| server.answered() > before + 50));
    assert_eq!(open(), 2);
    let totals = checked(&server, totals.stop(&mut engine));
    assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
    assert_eq!(totals.count("search"), server.answered());
}

/// A connection of a random scenario.
#[derive(Debug, Clone, Copy)]
struct Kind {
    pool: Option<u64>,
    outstanding: u64,
    binds: bool,
}

#[derive(Debug, Clone)]
struct Plan {
    connections: Vec<Kind>,
    steps: Vec<usize>,
    users: u64,
    threads: u64,
    mixes: u64,
    gathers: usize,
}

impl Plan {
    fn is_used(&self, connection: usize) -> bool {
        self.steps.contains(&connection)
    }

    fn text(&self) -> String {
        let mut text = "values.who = 'u{user}-{iteration}'\n".to_owned();
        for (number, kind) in self.connections.iter().enumerate().filter(|(n, _)| self.is_used(*n)) {
            text += &format!("[connection.c{number}]\noutstanding = {}\n", kind.outstanding);
            text += &kind.pool.map_or(String::new(), |pool| format!("pool = {pool}\n"));
            if kind.binds {
                text += &format!("bind = 'cn=c{number}'\n");
            }
        }
        let step = |(place, on): (usize, &usize)| {
            let name = format!("{{who}}-{place}-c{on}");
            format!(
                "{{ name = 's{place}', search = '(uid={name})', on = 'c{on}', expect.entry = {{ uid = '{name}' }} }}"
            )
        };
        let steps: Vec<_> = self.steps.iter().enumerate().map(step).collect();
        text + "[[operation]]\nname = 'o'\nstep = [" + &steps.join(", ") + "]"
    }

    /// The maximum number of open connections of this kind.
    fn most(&self, connection: usize) -> u64 {
        let Kind { pool, outstanding, .. } = self.connections[connection];
        let lanes = (0..self.threads).map(|thread| (self.users + self.threads - 1 - thread) / self.threads);
        pool.unwrap_or_else(|| lanes.map(|lanes| lanes.div_ceil(outstanding)).sum())
    }
}

fn plans() -> impl Strategy<Value = Plan> {
    let kind = (prop::option::of(2..5u64), 1..6u64, any::<bool>())
        .prop_map(|(pool, outstanding, binds)| Kind { pool, outstanding, binds });
    (
        prop::collection::vec(kind, 2..5),
        prop::collection::vec(0..4usize, 1..6),
        (1..12u64, 1..3u64),
        (any::<u32>(), 1..6usize),
    )
        .prop_map(|(connections, steps, (users, threads), (mixes, gathers))| {
            let steps = steps.into_iter().map(|step| step % connections.len()).collect();
            Plan { connections, steps, users, threads, mixes: mixes.into(), gathers }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever the users share, each has one request in flight, sends its requests in order over connections
    /// of the right name, and gets its own answers, in whatever order they arrive.
    #[test]
    fn random_users_over_shared_connections_get_their_own_answers(plan in plans()) {
        let server =
            Crowd::right(Manners { gathers: plan.gathers, mixes: Some(plan.mixes), ..Manners::default() });
        let more = json!({"threads": plan.threads});
        let totals = run_with(&server, &plan.text(), more, (plan.users, 20 + 5 * plan.users));
        prop_assert!(totals.kinds().is_empty(), "{:?} {}", totals, plan.text());
        let heard = server.seen.heard.lock().unwrap();
        let mut of_users: BTreeMap<&str, Vec<(u64, usize)>> = BTreeMap::new();
        let mut over: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
        for Heard { connection, name, .. } in heard.iter() {
            let [user, iteration, place, on] = name.split('-').collect::<Vec<_>>()[..] else { panic!("{name}") };
            of_users.entry(user).or_default().push((iteration.parse().unwrap(), place.parse().unwrap()));
            over.entry(*connection).or_default().insert(on);
        }
        for (user, asked) in of_users {
            let expected = (1u64..).flat_map(|iteration| (0..plan.steps.len()).map(move |place| (iteration, place)));
            let expected: Vec<_> = expected.take(asked.len()).collect();
            prop_assert_eq!(asked, expected, "{}", user);
        }
        let binds = server.seen.binds.lock().unwrap();
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (connection, names) in &over {
            prop_assert_eq!(names.len(), 1, "{} {:?}", connection, names);
            let name = *names.first().unwrap();
            *counts.entry(name).or_default() += 1;
            let number: usize = name[1..].parse().unwrap();
            let expected = plan.connections[number].binds.then(|| vec![format!("cn={name}")]);
            prop_assert_eq!(binds.get(connection), expected.as_ref());
        }
        for (name, count) in counts {
            let number: usize = name[1..].parse().unwrap();
            prop_assert!(count <= plan.most(number), "{} {} {:?}", name, count, plan);
        }
        let outstanding = plan.connections.iter().map(|kind| kind.outstanding).max().unwrap();
        prop_assert!(server.most() <= outstanding);
    }
}
