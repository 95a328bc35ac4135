//! Connections that users share: requests of several users are in flight on one connection, and each answer
//! reaches the user that sent the request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use load::{Clock, Engine, Tables};
use people::Profile;
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::ldap::op;

use super::crowd::{Act, Crowd, Heard, Manners};
use super::harness::{Totals, eventually, people, run_until};
use super::responder::{Do, Responder};
use super::scenarios::{row, try_start as try_start_at};

/// One search of a user, which returns the user's own entry and no other entry.
const OWN: &str = "values.name = 'u{user}-{iteration}'\n[[operation]]\nname = 'o'\nsearch = '(uid={name})'\n\
                   expect.entry = { uid = '{name}' }\n";

fn config(server: &Crowd, text: &str, more: &Value) -> Value {
    let mut config = json!({
        "target": {"host": "127.0.0.1", "port": server.address.port(), "base": "o=x"},
        "scenarios": [{"name": "mix", "text": text}],
    });
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    config
}

fn try_start(server: &Crowd, text: &str, more: &Value) -> Result<Engine, String> {
    let config = serde_json::from_value(config(server, text, more)).unwrap();
    Engine::start(config, None, None, &Tables::new()).map_err(|error| error.to_string())
}

/// Runs users until `answers` requests are answered; returns the totals.
fn run(server: &Crowd, text: &str, more: &Value, (users, answers): (u64, u64)) -> Totals {
    run_users(server, text, more, users, || server.answered() >= answers)
}

/// Runs users until `enough` is true; returns the totals.
fn run_users(server: &Crowd, text: &str, more: &Value, users: u64, enough: impl Fn() -> bool) -> Totals {
    let mut engine = try_start(server, text, more).unwrap_or_else(|problem| panic!("{problem}"));
    engine.start_lanes("mix", users).unwrap();
    assert!(eventually(enough), "{} opened, {} answered", opened(server), server.answered());
    let mut totals = Totals::default();
    totals.add(engine.drain().unwrap());
    totals.add(engine.stop(Duration::from_secs(5)).unwrap());
    assert_eq!((totals.lanes, totals.in_flight), (0, 0));
    totals
}

fn most(server: &Crowd) -> u64 {
    server.seen.most.load(Ordering::SeqCst)
}

fn opened(server: &Crowd) -> u64 {
    server.seen.opened.load(Ordering::SeqCst)
}

#[test]
fn the_configured_number_of_users_share_a_connection_and_get_their_own_answers() {
    for outstanding in [2, 16, 64] {
        let server = Crowd::right(Manners { mixes: Some(1), gathers: 8, ..Manners::default() });
        let text = format!("connection.main.outstanding = {outstanding}\n{OWN}");
        let totals = run(&server, &text, &json!({}), (32, 2_000));
        assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
        assert_eq!(opened(&server), 32u64.div_ceil(outstanding));
        assert!(most(&server) <= outstanding && most(&server) > 1, "{}", most(&server));
        assert_eq!(server.seen.reused.load(Ordering::SeqCst), 0);
        assert_eq!(totals.count("search"), totals.count("sequence"));
        assert_eq!(totals.count("search"), totals.count("main: wait"));
        assert_eq!(totals.count("main: connect"), opened(&server));
        totals.assert_accounted();
        assert!(eventually(|| server.seen.unbinds.load(Ordering::SeqCst) == opened(&server)));
    }
}

#[test]
fn concurrent_requests_of_users_are_sent_in_one_write() {
    let server = Crowd::right(Manners { gathers: 16, ..Manners::default() });
    let text = format!("connection.main.outstanding = 16\n{OWN}");
    run(&server, &text, &json!({}), (16, 3_000));
    assert!(server.seen.at_once.load(Ordering::SeqCst) == 16);
}

#[test]
fn a_pool_limits_the_connections_of_all_threads_and_makes_users_wait() {
    let server = Crowd::right(Manners { gathers: 2, ..Manners::default() });
    let text = format!("connection.main = {{ pool = 5, bind = 'cn=service' }}\n{OWN}");
    let totals = run(&server, &text, &json!({"threads": 2}), (20, 2_000));
    assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
    assert_eq!((opened(&server), most(&server)), (5, 1));
    let binds = server.seen.binds.lock().unwrap().values().cloned().collect::<Vec<_>>();
    assert_eq!(binds, vec![vec!["cn=service"]; 5]);
    totals.assert_accounted();
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
    let text = format!("connection.main.pool = 3\n{OWN}");
    let problem = try_start(&server, &text, &json!({"threads": 4})).err().unwrap();
    assert!(problem.contains("a pool of 3 cannot be divided among 4 threads"), "{problem}");
    assert!(try_start(&server, &text, &json!({"threads": 3})).is_ok());
}

#[test]
fn a_repeated_answer_is_counted_and_dropped() {
    for outstanding in [8, 64] {
        let server = Crowd::start(Manners { gathers: 4, ..Manners::default() }, |_, n| {
            if n % 10 == 3 { Act::Twice } else { Act::Answer }
        });
        let text = format!("connection.main.outstanding = {outstanding}\n{OWN}");
        let totals = run(&server, &text, &json!({}), (outstanding, 1_000));
        // No request has failed. A repeated answer has two messages, an entry and a result, and both are
        // counted.
        assert_eq!(totals.failed("search"), 0, "{totals:?}");
        let unasked = totals.count("main: unasked");
        assert!(unasked >= 160 && unasked.is_multiple_of(2), "{unasked}");
        let failures = BTreeMap::from([("unasked".to_owned(), unasked)]);
        assert_eq!(totals.of("main: unasked").failures, failures);
        assert_eq!(opened(&server), 1);
        totals.assert_accounted();
    }
}

#[test]
fn an_answer_that_precedes_its_request_is_unsolicited() {
    let server =
        Crowd::start(Manners::default(), |_, n| if n % 10 == 3 { Act::Foretell } else { Act::Answer });
    let text = format!("connection.main.outstanding = 2\n{OWN}");
    let totals = run(&server, &text, &json!({}), (1, 100));
    assert_eq!(totals.failed("search"), 0, "{totals:?}");
    assert!(totals.count("main: unasked") >= 9, "{totals:?}");
    totals.assert_accounted();
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
        let text = format!("connection.main.outstanding = 4\n{OWN}");
        let totals = run(&server, &text, &json!({}), (4, 90));
        assert_eq!(totals.failed("search"), 0, "{act:?} {totals:?}");
        assert_eq!((totals.count("main: unasked"), opened(&server)), (1, 1), "{act:?}");
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
        let text = format!("connection.main.outstanding = 8\n{OWN}");
        let totals = run(&server, &text, &json!({}), (8, 300));
        let failures = &totals.of("search").failures;
        assert_eq!(failures.keys().collect::<Vec<_>>(), [kind], "{act:?}");
        assert!((1..=8).contains(&failures[kind]), "{act:?} {failures:?}");
        assert_eq!(totals.of("sequence").failures, *failures, "{act:?}");
        assert_eq!((opened(&server), totals.count("main: connect")), (2, 2), "{act:?}");
        totals.assert_accounted();
    }
}

#[test]
fn the_loss_of_one_connection_of_a_pool_does_not_affect_other_connections() {
    let server = Crowd::start(Manners::default(), |heard, n| {
        if heard.connection == 1 && n > 50 { Act::Close } else { Act::Answer }
    });
    let text = format!("connection.main = {{ pool = 3, outstanding = 2 }}\n{OWN}");
    // While the connection is reopened, the other connections serve any number of users.
    let totals =
        run_users(&server, &text, &json!({}), 6, || opened(&server) == 4 && server.answered() >= 400);
    assert!((1..=2).contains(&totals.failed("search")), "{totals:?}");
    assert_eq!(opened(&server), 4);
}

#[test]
fn a_late_answer_to_an_abandoned_request_reaches_no_other_request() {
    let server = Crowd::start(Manners::default(), |_, n| match n % 20 {
        7 => Act::Late(150),
        _ => Act::Answer,
    });
    let text = format!("connection.main.outstanding = 4\n{OWN}");
    let totals = run(&server, &text, &json!({"timeout_ms": 50}), (4, 200));
    assert_eq!(totals.of("search").failures.keys().collect::<Vec<_>>(), ["timeout"], "{totals:?}");
    assert_eq!(server.seen.reused.load(Ordering::SeqCst), 0);
    assert_eq!(totals.count("main: unasked"), 0);
    totals.assert_accounted();
}

#[test]
fn a_connection_that_no_longer_answers_is_reopened() {
    let server = Crowd::start(Manners::default(), |heard, n| {
        if heard.connection == 0 && n >= 20 { Act::Never } else { Act::Answer }
    });
    let text = format!("connection.main = {{ pool = 1, outstanding = 3 }}\n{OWN}");
    let totals = run(&server, &text, &json!({"timeout_ms": 100}), (6, 200));
    assert_eq!(totals.of("search").failures, BTreeMap::from([("timeout".to_owned(), 3)]), "{totals:?}");
    assert_eq!(opened(&server), 2);
    totals.assert_accounted();
}

#[test]
fn a_connection_that_is_silent_for_a_whole_timeout_is_reopened() {
    let server = Crowd::start(Manners::default(), |heard, n| {
        if heard.connection == 0 && n >= 20 { Act::Never } else { Act::Answer }
    });
    let text = format!("connection.main = {{ pool = 2, outstanding = 64 }}\n{OWN}");
    let totals = run(&server, &text, &json!({"timeout_ms": 100}), (4, 5_000));
    // Each user loses one request at most, because no user sends a second request on the silent connection.
    let failures = &totals.of("search").failures;
    assert_eq!(failures.keys().collect::<Vec<_>>(), ["timeout"], "{totals:?}");
    assert!(failures["timeout"] <= 4, "{totals:?}");
    assert_eq!(opened(&server), 3);
    totals.assert_accounted();
}

#[test]
fn a_connection_that_answers_other_requests_stays_open() {
    let server = Crowd::start(Manners::default(), |_, n| if n == 7 { Act::Later(400) } else { Act::Answer });
    let text = format!("connection.main.outstanding = 4\n{OWN}");
    let scenarios = json!([{"name": "mix", "text": text, "think_ms": 1.0}]);
    let totals = run(&server, &text, &json!({"timeout_ms": 200, "scenarios": scenarios}), (4, 3_000));
    let failures = BTreeMap::from([("timeout".to_owned(), 1)]);
    assert_eq!(totals.of("search").failures, failures, "{totals:?}");
    assert_eq!((opened(&server), totals.count("main: unasked")), (1, 0));
    assert_eq!(server.seen.reused.load(Ordering::SeqCst), 0);
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
    let text = format!("connection.main.outstanding = 2\n{OWN}");
    let mut engine = try_start(&server, &text, &json!({})).unwrap();
    engine.start_lanes("mix", 6).unwrap();
    assert!(eventually(|| server.answered() > 100));
    holds.store(true, Ordering::SeqCst);
    let seen = &server.seen;
    assert!(eventually(|| seen.held.load(Ordering::SeqCst) == 2));
    engine.stop_lanes("mix", 4).unwrap();
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.lanes == 2);
    std::thread::sleep(Duration::from_millis(50));
    holds.store(false, Ordering::SeqCst);
    seen.ends.store(true, Ordering::SeqCst);
    assert!(eventually(|| seen.closed.load(Ordering::SeqCst) == 2));
    let before = server.answered();
    assert!(eventually(|| server.answered() > before + 100));
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!((opened(&server), seen.closed.load(Ordering::SeqCst)), (3, 2));
    totals.add(engine.stop(Duration::from_secs(5)).unwrap());
    assert_eq!(totals.of("search").failures, BTreeMap::from([("closed".to_owned(), 2)]), "{totals:?}");
    totals.assert_accounted();
}

#[test]
fn a_target_that_closes_every_connection_is_retried_after_pauses() {
    let server = Crowd::start(Manners::default(), |_, n| if n < 6 { Act::Close } else { Act::Answer });
    let text = format!("connection.main.outstanding = 3\n{OWN}");
    let totals = run(&server, &text, &json!({}), (3, 50));
    let failures = &totals.of("search").failures;
    assert_eq!(failures.keys().collect::<Vec<_>>(), ["closed"], "{totals:?}");
    // At each close all requests in flight fail.
    assert!((6..=18).contains(&failures["closed"]), "{totals:?}");
    assert!((3..=7).contains(&opened(&server)), "{}", opened(&server));
    totals.assert_accounted();
}

#[test]
fn a_connection_closed_while_idle_is_reopened_without_a_failure() {
    let server = Crowd::start(Manners::default(), |_, _| Act::Last);
    let text = "connection.main.outstanding = 2\n[[operation]]\nname = 'o'\nsearch = '(uid=a)'\n";
    let more = json!({"scenarios": [{"name": "mix", "text": text, "think_ms": 40.0}]});
    let totals = run(&server, text, &more, (1, 12));
    // After a few very short think times the next request is sent before the close arrives.
    assert!(totals.failed("search") <= 4, "{totals:?}");
    assert!(opened(&server) >= 12 && totals.count("main: connect") >= 12, "{totals:?}");
    totals.assert_accounted();
}

#[test]
fn start_steps_and_counted_steps_use_shared_connections() {
    let server = Crowd::right(Manners { gathers: 4, mixes: Some(9), ..Manners::default() });
    let text = "connection.main = { pool = 2, outstanding = 3 }\n[start]\n\
                step = [{ name = 'once', search = '(uid=s{user})', capture.me = 'dn' }]\n\
                [[operation]]\nname = 'o'\ncounts = 'find'\nstep = [\
                { name = 'find', search = '(uid={me})', expect.entry = { uid = '{me}' } }, { think = '1ms' },\
                { name = 'other', search = '(uid=u{user}-{iteration})', expect.entry = { uid = 'u{user}-{iteration}' } }]";
    let totals = run(&server, text, &json!({"threads": 2}), (9, 500));
    assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
    assert_eq!((totals.count("once"), opened(&server)), (9, 2));
    assert!(totals.count("find").abs_diff(totals.count("other")) <= 9, "{totals:?}");
    assert!(most(&server) <= 3);
    totals.assert_accounted();
}

#[test]
fn failed_start_steps_are_retried() {
    let server = Crowd::start(Manners::default(), |_, n| if n < 2 { Act::Refuse } else { Act::Answer });
    let text = "connection.main.outstanding = 2\n[start]\n\
                step = [{ name = 'once', search = '(uid=s{user})', capture.me = 'dn' }]\n\
                [[operation]]\nname = 'o'\nstep = [\
                { name = 'find', search = '(uid={me})', expect.entry = { uid = '{me}' } }]";
    let totals = run(&server, text, &json!({}), (2, 500));
    assert_eq!(totals.of("once").failures, BTreeMap::from([("result:busy".to_owned(), 2)]), "{totals:?}");
    assert_eq!(totals.count("once"), 4);
    assert_eq!((totals.failed("find"), totals.failed("sequence")), (0, 0), "{totals:?}");
    assert_eq!(opened(&server), 1);
    totals.assert_accounted();
}

#[test]
fn a_user_without_a_request_does_not_wait_for_a_place() {
    let server = Crowd::right(Manners::default());
    let text = "connection.main.pool = 1\n[[operation]]\nname = 'o'\nstep = [\
                { name = 'find', search = '(uid=u{user})', capture.mail = 'mail' },\
                { name = 'ask', search = '(uid={mail})' }]";
    let totals = run(&server, text, &json!({}), (6, 300));
    assert_eq!(totals.count("ask"), 0, "{totals:?}");
    assert_eq!(totals.count("main: wait"), totals.count("find"), "{totals:?}");
    totals.assert_accounted();
}

#[test]
fn waiting_too_long_for_a_place_is_a_failure() {
    let server = Crowd::start(Manners::default(), |_, n| if n == 10 { Act::Late(400) } else { Act::Answer });
    let text = format!("connection.main.pool = 1\n{OWN}");
    let totals = run(&server, &text, &json!({"timeout_ms": 100}), (3, 60));
    assert_eq!(totals.of("search").failures, BTreeMap::from([("timeout".to_owned(), 1)]), "{totals:?}");
    let waits = totals.failed("main: wait");
    assert!(waits >= 2, "{totals:?}");
    assert_eq!(totals.of("sequence").failures, BTreeMap::from([("timeout".to_owned(), 1 + waits)]));
    assert_eq!(server.seen.reused.load(Ordering::SeqCst), 0);
    totals.assert_accounted();
}

#[test]
fn a_failed_bind_of_a_shared_connection_is_retried_while_users_wait() {
    let server = Crowd::right(Manners::default());
    let text =
        "[connection.main]\npool = 2\nbind = 'cn=refused'\n[[operation]]\nname = 'o'\nsearch = '(uid=a)'";
    let mut engine = try_start(&server, text, &json!({})).unwrap();
    engine.start_lanes("mix", 5).unwrap();
    std::thread::sleep(Duration::from_millis(400));
    let mut totals = Totals::default();
    totals.add(engine.drain().unwrap());
    totals.add(engine.stop(Duration::from_secs(5)).unwrap());
    let binds = totals.of("main: bind");
    assert_eq!(binds.failures, BTreeMap::from([("result:invalidCredentials".to_owned(), binds.count)]));
    // On each connection the tries are separated by pauses of 10, 20, 40, 80, 160 ms.
    assert!((2..=16).contains(&binds.count), "{totals:?}");
    assert_eq!((totals.count("search"), totals.count("sequence")), (0, 0));
    totals.assert_accounted();
}

#[test]
fn a_target_that_is_down_is_retried_after_pauses() {
    let gone = Crowd::right(Manners::default()).address;
    let server = Crowd::right(Manners::default());
    let mut config = config(&server, &format!("connection.main.pool = 1\n{OWN}"), &json!({}));
    config["target"]["port"] = gone.port().into();
    let mut engine =
        Engine::start(serde_json::from_value(config).unwrap(), None, None, &Tables::new()).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    engine.start_lanes("mix", 3).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let found = [engine.stop(Duration::from_secs(5)).unwrap()];
    let (connects, failures) = row(&found, "mix", "main: connect");
    assert!((1..=8).contains(&connects), "{connects}");
    assert_eq!(failures.iter().map(|(_, n)| n).sum::<u64>(), connects);
}

#[test]
fn a_server_that_reads_slowly_receives_every_request() {
    let server = Crowd::right(Manners { dawdles: true, ..Manners::default() });
    // Each request has some 60 kB, more than a socket accepts in one write.
    let long = "y".repeat(60_000);
    let text = format!(
        "connection.main.outstanding = 32\nvalues.name = 'u{{user}}-{{iteration}}'\n[[operation]]\nname = 'o'\n\
         search = '(uid={{name}})'\nattributes = ['{long}']\nexpect.entry = {{ uid = '{{name}}' }}\n"
    );
    let totals = run(&server, &text, &json!({}), (32, 64));
    assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
    assert_eq!(opened(&server), 1);
    totals.assert_accounted();
}

#[test]
fn large_answers_arrive_in_pieces_between_answers_to_other_users() {
    let server = Crowd::right(Manners { gathers: 4, mixes: Some(3), ..Manners::default() });
    let text = OWN.replace("'u{user}", "'large{user}");
    let text = format!("connection.main.outstanding = 4\n{text}");
    let totals = run(&server, &text, &json!({}), (4, 60));
    assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
    assert_eq!(opened(&server), 1);
}

#[test]
fn paged_searches_and_captures_use_shared_connections() {
    let server = Crowd::right(Manners { gathers: 6, mixes: Some(5), ..Manners::default() });
    let text = "connection.main.outstanding = 6\nvalues.name = 'u{user}-{iteration}'\n[[operation]]\nname = 'o'\n\
                step = [{ search = '(uid={name})', page_size = 1, expect.entries = 5,\
                capture.dns = { attribute = 'dn', take = 'all' } },\
                { repeat = 'dns', step = [{ name = 'again', search = '(uid={dns})', expect.entry = { uid = '{dns}' } }] }]";
    let totals = run(&server, text, &json!({}), (6, 2_000));
    assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
    let (passes, again) = (totals.count("sequence"), totals.count("again"));
    assert_eq!(again, 5 * passes);
    let heard = server.seen.heard.lock().unwrap();
    for page in 0..5 {
        assert!(heard.iter().any(|each| each.name.starts_with(&format!("uid=u1-1,cn={page},"))), "{page}");
    }
    assert_eq!(server.seen.reused.load(Ordering::SeqCst), 0);
    totals.assert_accounted();
}

#[test]
fn a_repeated_page_is_counted_and_dropped() {
    let server = Crowd::start(Manners::default(), |_, n| if n % 10 == 0 { Act::Twice } else { Act::Answer });
    let text = "connection.main.outstanding = 2\n[[operation]]\nname = 'o'\nsearch = '(uid=u{user})'\n\
                page_size = 1\nexpect.entries = 5\n";
    let totals = run(&server, text, &json!({}), (2, 400));
    assert_eq!(totals.failed("search"), 0, "{totals:?}");
    let unasked = totals.count("main: unasked");
    assert!(unasked >= 60 && unasked.is_multiple_of(2), "{unasked}");
    // Each page has the next message ID.
    let heard = server.seen.heard.lock().unwrap();
    assert!(heard.iter().zip(0..).all(|(each, n)| each.id == n % 127 + 1), "{heard:?}");
    totals.assert_accounted();
}

#[test]
fn concurrent_requests_over_tls_are_sent_together() {
    for dawdles in [false, true] {
        let manners = Manners { gathers: 8, mixes: Some(2), dawdles, tls: true };
        let server = Crowd::right(manners);
        let long = "y".repeat(if dawdles { 60_000 } else { 1 });
        let text = OWN.replace("expect", &format!("attributes = ['{long}']\nexpect"));
        let text = format!("connection.main = {{ outstanding = 8, bind = 'cn=service' }}\n{text}");
        let mut config = config(&server, &text, &json!({}));
        config["target"]["tls"] = json!({"trust": {"insecure": true}, "start": false});
        let mut engine =
            Engine::start(serde_json::from_value(config).unwrap(), None, None, &Tables::new()).unwrap();
        engine.start_lanes("mix", 8).unwrap();
        let answers = if dawdles { 40 } else { 400 };
        assert!(eventually(|| server.answered() >= answers), "{}", server.answered());
        let mut totals = Totals::default();
        totals.add(engine.stop(Duration::from_secs(5)).unwrap());
        assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
        assert_eq!(opened(&server), 1);
        totals.assert_accounted();
    }
}

#[test]
fn the_bind_of_a_shared_connection_cannot_use_values_of_a_user() {
    let server = Crowd::right(Manners::default());
    let text = format!(
        "values.admin = 'cn=admin'\n[connection.main]\npool = 1\nbind = '{{admin}}'\n{}",
        "[[operation]]\nsearch = '(cn={admin})'"
    );
    let problem = try_start(&server, &text, &json!({})).err().unwrap();
    assert!(problem.contains("all users share this connection"), "{problem}");
}

#[test]
fn arrivals_are_taken_when_due_and_count_as_late_if_they_wait_for_a_place() {
    let server = Crowd::right(Manners::default());
    let text = format!("connection.main = {{ pool = 2, outstanding = 2 }}\n{OWN}");
    let open = json!({"schedule": {"kind": "open", "rate": 400, "arrivals": "even"}, "threads": 2});
    let totals = run(&server, &text, &open, (8, 200));
    assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
    assert!(totals.of("sequence").clock(Clock::Latency).len() >= 190);
    assert_eq!(opened(&server), 2);
    totals.assert_accounted();
}

#[test]
fn users_may_have_their_own_connections_beside_shared_ones() {
    let people = people(Profile::Paper, 1);
    let responder = Responder::start(&people, |tag, n| match tag {
        // The user's own connection closes while the user waits on the shared connection: no request fails.
        op::COMPARE_REQUEST if n % 3 == 0 => Do::RightThenClose,
        _ => Do::Right,
    });
    let text = "[connection.service]\noutstanding = 8\n[connection.login]\nper = 'iteration'\n[connection.own]\n\
                [[operation]]\nname = 'o'\nstep = [\
                { compare = 'uid=a,o=x', entry = { sn = 'a' }, on = 'own' },\
                { search = '(uid=a)', capture.dn = 'dn', on = 'service' },\
                { bind = '{dn}', password = '{user}', on = 'login' }]";
    let mut engine = try_start_at(&responder, text, &Tables::new()).unwrap();
    engine.start_lanes("mix", 8).unwrap();
    assert!(eventually(|| responder.seen.answered(op::BIND_REQUEST) >= 100));
    let found = [engine.stop(Duration::from_secs(5)).unwrap()];
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
    let text = format!("connection.main.outstanding = 4\n{OWN}");
    let mut engine = try_start(&server, &text, &json!({"threads": 2})).unwrap();
    let mut totals = Totals::default();
    let (mut rng, mut running) = (fastrand::Rng::with_seed(5), 0);
    for _ in 0..60 {
        if running == 0 || rng.bool() {
            let more = rng.u64(1..9);
            engine.start_lanes("mix", more).unwrap();
            running += more;
        } else {
            let fewer = rng.u64(1..=running);
            engine.stop_lanes("mix", fewer).unwrap();
            running -= fewer;
        }
        std::thread::sleep(Duration::from_millis(rng.u64(0..6)));
        totals.add(engine.drain().unwrap());
    }
    engine.stop_lanes("mix", running).unwrap();
    let seen = &server.seen;
    assert!(eventually(|| seen.closed.load(Ordering::SeqCst) == seen.opened.load(Ordering::SeqCst)));
    engine.start_lanes("mix", 8).unwrap();
    let before = server.answered();
    assert!(eventually(|| server.answered() > before + 50));
    let open = || seen.opened.load(Ordering::SeqCst) - seen.closed.load(Ordering::SeqCst);
    assert_eq!(open(), 2);
    totals.add(engine.stop(Duration::from_secs(5)).unwrap());
    assert_eq!(totals.kinds(), [""; 0], "{totals:?}");
    assert_eq!(totals.count("search"), server.answered());
    totals.assert_accounted();
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
        let totals = run(&server, &plan.text(), &more, (plan.users, 20 + 5 * plan.users));
        prop_assert!(totals.kinds().is_empty(), "{:?} {}", totals, plan.text());
        totals.assert_accounted();
        prop_assert_eq!(server.seen.reused.load(Ordering::SeqCst), 0);
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
        prop_assert!(most(&server) <= outstanding);
    }
}
