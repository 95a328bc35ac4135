//! Rows that are dealt once, and what becomes of users and time when there are none left.

use std::time::{Duration, Instant};

use load::{Engine, Snapshot, Tables};
use people::Profile;
use serde_json::{Value, json};
use wire::ldap::{Operation, op};

use crate::harness::{eventually, people};
use crate::responder::{Do, Responder};
use crate::scenarios::{row, seen};

fn start(responder: &Responder, text: &str, more: &Value) -> Engine {
    let mut config = json!({
        "target": {"host": "127.0.0.1", "port": responder.address.port(), "base": "o=x"},
        "scenarios": [{"name": "mix", "text": text, "worker": more["worker"].as_u64().unwrap_or(0),
                       "of": more["of"].as_u64().unwrap_or(1)}],
    });
    for name in ["threads", "schedule"] {
        if !more[name].is_null() {
            config[name] = more[name].clone();
        }
    }
    Engine::start(serde_json::from_value(config).unwrap(), None, None, &Tables::new())
        .unwrap_or_else(|problem| panic!("{problem}"))
}

/// Drains an engine until its last lane has ended, and twice more.
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

/// What searches were for, in order.
fn searched(responder: &Responder) -> Vec<String> {
    let mut values = seen(responder, |operation| {
        let Operation::Search(search) = operation else { return None };
        Some(String::from_utf8_lossy(search.base).into_owned())
    });
    values.sort_unstable();
    values
}

fn rows(range: std::ops::RangeInclusive<u32>) -> Vec<String> {
    let mut rows: Vec<_> = range.map(|n| format!("cn={n},o=x")).collect();
    rows.sort_unstable();
    rows
}

const ONCE: &str = "[data.n]\nrange = [1, 200]\ndeal = 'once'\n[[operation]]\nname = 'look'\n\
                    search = '(a=b)'\nbase = 'cn={n},o=x'\n";

#[test]
fn each_row_comes_once_over_all_threads_and_engines_and_the_users_end() {
    let people = people(Profile::Paper, 1);
    for (engines, threads, lanes) in [(1, 1, 1), (1, 3, 7), (2, 2, 5)] {
        let responder = Responder::right(&people);
        let mut done = 0;
        for worker in 0..engines {
            let mut engine =
                start(&responder, ONCE, &json!({"threads": threads, "worker": worker, "of": engines}));
            engine.start_lanes("mix", lanes).unwrap();
            let found = to_the_end(&mut engine);
            let (count, failures) = row(&found, "look", "sequence");
            assert_eq!(failures, vec![]);
            done += count;
            engine.stop(Duration::from_secs(5)).unwrap();
        }
        assert_eq!(done, 200, "{engines} engines, {threads} threads");
        assert_eq!(searched(&responder), rows(1..=200));
    }
}

#[test]
fn time_stands_still_when_the_last_user_has_ended() {
    let people = people(Profile::Paper, 1);
    let responder = Responder::start(&people, |_, _| Do::Slowly(1));
    let mut engine = start(&responder, ONCE, &json!({}));
    engine.start_lanes("mix", 4).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    engine.cut().unwrap();
    // Long after the end.
    assert!(eventually(|| responder.seen.answered(op::SEARCH_REQUEST) == 200));
    std::thread::sleep(Duration::from_millis(500));
    let asked_ns = load::now_ns();
    let found = to_the_end(&mut engine);
    assert!(asked_ns - found[0].t1_ns > 400_000_000, "{} ns", asked_ns - found[0].t1_ns);
    assert!(found.windows(2).all(|pair| pair[1].t0_ns == pair[0].t1_ns && pair[1].t1_ns == pair[0].t1_ns));
    let last = engine.cut().unwrap();
    assert_eq!((last.t1_ns, last.lane_ns), (found[0].t1_ns, 0));
    // Whoever is asked to end has ended.
    engine.stop_lanes("mix", 4).unwrap();
    engine.stop(Duration::from_secs(5)).unwrap();
}

#[test]
fn what_has_begun_is_finished_and_what_has_not_is_not_counted() {
    let people = people(Profile::Paper, 1);
    let responder = Responder::right(&people);
    let text = "[data.n]\nrange = [1, 5]\ndeal = 'once'\n[[operation]]\nname = 'come'\nstep = [
      { add = 'cn=a{iteration},o=x', entry = { sn = 'a' } },
      { repeat = 3, step = [{ search = '(a=b)', base = 'cn={n},o=x' }, { compare = 'cn={n},o=x', entry = { sn = 'a' } }] },
      { delete = 'cn=a{iteration},o=x' },
    ]";
    let mut engine = start(&responder, text, &json!({}));
    engine.start_lanes("mix", 1).unwrap();
    let found = to_the_end(&mut engine);
    assert_eq!(searched(&responder), rows(1..=5));
    let counts = ["add", "search", "compare", "delete", "sequence"].map(|step| row(&found, "come", step));
    assert_eq!(counts.map(|(count, failures)| (count, failures.len())), [(2, 0), (5, 0), (5, 0), (2, 0), (2, 0)]);
    assert!(responder.seen.added.lock().unwrap().is_empty());
    engine.stop(Duration::from_secs(5)).unwrap();
}

#[test]
fn arrivals_that_find_no_row_are_not_late() {
    let people = people(Profile::Paper, 1);
    for threads in [1, 3] {
        let responder = Responder::right(&people);
        let schedule = json!({"kind": "open", "rate": 1000.0});
        let mut engine = start(&responder, ONCE, &json!({"threads": threads, "schedule": schedule}));
        engine.start_lanes("mix", 8).unwrap();
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
fn a_deck_ends_with_the_first_of_its_data() {
    let people = people(Profile::Paper, 1);
    let responder = Responder::right(&people);
    let text = "[data.n]\nrange = [1, 10]\ndeal = 'once'\n[[operation]]\nname = 'look'\nsearch = '(a=b)'\nbase = 'cn={n},o=x'
      [[operation]]\nname = 'compare'\ncompare = 'cn=a,o=x'\nentry = { sn = 'a' }";
    let mut engine = start(&responder, text, &json!({}));
    engine.start_lanes("mix", 3).unwrap();
    let found = to_the_end(&mut engine);
    assert_eq!(row(&found, "look", "search").0, 10);
    // Cards of each kind are dealt as often, in twos; three users may have one in the hand.
    assert!((9..=14).contains(&row(&found, "compare", "compare").0), "{:?}", row(&found, "compare", "compare"));
    engine.stop(Duration::from_secs(5)).unwrap();
}
