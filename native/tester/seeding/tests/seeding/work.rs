//! Seeding without errors.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use people::{Population, Profile};
use seeding::{Report, Secret};
use wire::ber::{Reader, tag};
use wire::ldap::{Attributes, ResultCode};

use super::server::{Asked, Do, Server};
use super::{config, people, people_of, remove, seed};

/// The name of a person, and the content of the attribute list, as they are added.
fn entry(people: &Population, i: u64) -> (String, Vec<u8>) {
    let (dn, attributes) = super::common::entry(people, i);
    (String::from_utf8(dn).unwrap(), Reader::new(&attributes).expect(tag::SEQUENCE).unwrap().to_vec())
}

#[test]
fn everybody_of_the_range_is_added_once_over_four_connections_that_end_with_an_unbind() {
    let (server, people) = (Server::right(), people());
    let report = seed(&config(&server), 100..1_100).unwrap();
    assert_eq!(report, Report { done: 1_000, changed: 1_000 });
    let kept = server.kept.lock().unwrap();
    assert_eq!(kept.adds().len(), 1_000);
    for i in 100..1_100 {
        let (dn, attributes) = entry(&people, i);
        assert_eq!(kept.entries.get(&dn), Some(&attributes), "{i}");
    }
    drop(kept);
    assert_eq!(server.connections.load(Ordering::SeqCst), 4);
    // Connections end with an unbind, which arrives after the last answer.
    let unbinds =
        || server.kept.lock().unwrap().asked.iter().filter(|asked| **asked == Asked::Unbind).count();
    let begun = Instant::now();
    while unbinds() < 4 && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(unbinds(), 4);
}

#[test]
fn an_empty_range_adds_no_person() {
    let server = Server::right();
    assert_eq!(seed(&config(&server), 7..7).unwrap(), Report { done: 0, changed: 0 });
    assert_eq!(server.kept.lock().unwrap().adds(), Vec::<String>::new());
}

#[test]
fn missing_ancestors_are_added_first() {
    let server = Server::empty(|_, _| Do::Right);
    seed(&config(&server), 0..10).unwrap();
    assert_eq!(server.kept.lock().unwrap().adds()[..2], ["o=Intranet", "ou=Dynamic,o=Intranet"]);

    let server = Server::empty(|_, _| Do::Right);
    server.kept.lock().unwrap().entries.insert("o=Intranet".to_owned(), Vec::new());
    assert_eq!(seed(&config(&server), 0..10).unwrap().done, 10);

    let server = Server::right();
    seed(&config(&server), 0..10).unwrap();
    assert_eq!(server.kept.lock().unwrap().adds().len(), 10);
}

#[test]
fn a_client_without_the_right_to_search_may_still_write() {
    let server = Server::start(|asked, _| match asked {
        Asked::Search(_) => Do::Code(ResultCode::INSUFFICIENT_ACCESS_RIGHTS, ""),
        Asked::Add(dn) if !dn.starts_with("cn=") => Do::Code(ResultCode::ENTRY_ALREADY_EXISTS, ""),
        _ => Do::Right,
    });
    assert_eq!(seed(&config(&server), 0..10).unwrap(), Report { done: 10, changed: 10 });
}

#[test]
fn a_repeated_add_or_delete_changes_nothing_and_succeeds() {
    let server = Server::right();
    for changed in [300, 0] {
        assert_eq!(seed(&config(&server), 0..300).unwrap(), Report { done: 300, changed });
    }
    assert_eq!(seed(&config(&server), 0..500).unwrap(), Report { done: 500, changed: 200 });
    for changed in [500, 0] {
        assert_eq!(remove(&config(&server), 0..600).unwrap(), Report { done: 600, changed });
    }
    assert_eq!(server.kept.lock().unwrap().entries.len(), 1, "the entry above is left alone");
}

#[test]
fn an_ils_person_is_added_with_its_object_class() {
    let (server, people) = (Server::right(), people_of(Profile::Ils));
    seeding::seed(&config(&server), &people, 0..5, &mut |_| ControlFlow::Continue(())).unwrap();
    let kept = server.kept.lock().unwrap();
    let (dn, attributes) = entry(&people, 3);
    let added = &kept.entries[&dn];
    let first = Attributes(added).iter().next().unwrap().unwrap();
    assert_eq!(first.name, b"objectClass");
    let values: Vec<_> = first.values.iter().map(Result::unwrap).collect();
    assert_eq!(values, [&b"top"[..], b"RTPerson"]);
    assert!(added.ends_with(&attributes));
}

#[test]
fn each_connection_binds_with_the_given_dn() {
    let server = Server::right();
    let mut config = config(&server);
    config.bind_dn = Some("cn=admin,o=Intranet".to_owned());
    config.password = Some(Secret::new("secret"));
    seed(&config, 0..1_000).unwrap();
    let kept = server.kept.lock().unwrap();
    let binds =
        kept.asked.iter().filter(|asked| matches!(asked, Asked::Bind(dn) if dn == "cn=admin,o=Intranet"));
    assert_eq!(binds.count(), 4);
    assert!(!format!("{config:?}").contains("secret"), "no message shows a password");
}

#[test]
fn answers_may_arrive_in_any_order() {
    let server = Server::start(|asked, n| match asked {
        Asked::Add(_) if n % 3 > 0 => Do::Later,
        _ => Do::Right,
    });
    assert_eq!(seed(&config(&server), 0..700).unwrap(), Report { done: 700, changed: 700 });
}

#[test]
fn outstanding_requests_on_a_connection_are_limited_to_a_window() {
    let server = Server::start(|asked, _| if matches!(asked, Asked::Add(_)) { Do::Never } else { Do::Right });
    let mut config = config(&server);
    (config.connections, config.window, config.timeout_ms) = (3, 50, 300);
    seed(&config, 0..1_000).unwrap_err();
    assert_eq!(server.kept.lock().unwrap().adds().len(), 150);
}

#[test]
fn no_person_far_beyond_the_first_unanswered_person_is_sent() {
    let (first, _) = entry(&people(), 0);
    let server = Server::start(move |asked, _| match asked {
        Asked::Add(dn) if *dn == first => Do::Never,
        _ => Do::Right,
    });
    let mut config = config(&server);
    (config.window, config.timeout_ms) = (10_000, 2_000);
    seed(&config, 0..10_000).unwrap_err();
    assert_eq!(server.kept.lock().unwrap().adds().len(), 4_096);
}

#[test]
fn people_are_counted_up_to_the_first_missing_person() {
    let (server, people) = (Server::right(), people());
    let count = |size| seeding::count(&config(&server), &people, size).unwrap();
    assert_eq!(count(1_000), 0);
    seed(&config(&server), 0..6_000).unwrap();
    assert_eq!((count(1_000), count(6_000), count(9_000)), (1_000, 6_000, 6_000));
    remove(&config(&server), 5_000..5_001).unwrap();
    let before_the_gap = count(9_000);
    assert!((1_904..=5_000).contains(&before_the_gap), "{before_the_gap}");
}

#[test]
fn progress_counts_people_up_to_the_first_unanswered_person() {
    // The add of the 41st person is answered last. Later people do not count before this answer.
    let (late, _) = entry(&people(), 40);
    let server = Server::start(move |asked, _| match asked {
        Asked::Add(dn) if *dn == late => Do::Later,
        Asked::Add(_) => {
            std::thread::sleep(Duration::from_millis(2));
            Do::Right
        }
        _ => Do::Right,
    });
    let mut config = config(&server);
    (config.connections, config.window) = (1, 300);
    let mut seen = Vec::new();
    let report = seeding::seed(&config, &people(), 0..300, &mut |done| {
        seen.push(done);
        ControlFlow::Continue(())
    });
    assert_eq!(report.unwrap().done, 300);
    assert!(seen.is_sorted(), "{seen:?}");
    assert!(seen.contains(&40) && seen.last() == Some(&300), "{seen:?}");
    assert!(!seen.iter().any(|done| (41..300).contains(done)), "{seen:?}");
}

#[test]
fn progress_is_reported_while_no_answer_arrives() {
    let server = Server::start(|asked, _| if matches!(asked, Asked::Add(_)) { Do::Never } else { Do::Right });
    let mut config = config(&server);
    config.timeout_ms = 1_000;
    let mut calls = 0;
    let begun = Instant::now();
    seeding::seed(&config, &people(), 0..10, &mut |_| {
        calls += 1;
        ControlFlow::Continue(())
    })
    .unwrap_err();
    assert!((3..=13).contains(&calls), "{calls} calls in {:?}", begun.elapsed());
}

#[test]
fn a_cancelled_run_receives_only_the_outstanding_answers() {
    let server = Server::start(|asked, _| {
        if matches!(asked, Asked::Add(_)) {
            std::thread::sleep(Duration::from_millis(2));
        }
        Do::Right
    });
    let mut config = config(&server);
    config.connections = 1;
    let mut stopped_at = None;
    let report = seeding::seed(&config, &people(), 0..1_000_000, &mut |done| {
        stopped_at.get_or_insert(done);
        ControlFlow::Break(())
    })
    .unwrap();
    let stopped_at = stopped_at.unwrap();
    assert!((stopped_at..=stopped_at + 64).contains(&report.done), "{report:?} after {stopped_at}");
    assert_eq!(report.changed, report.done);
    assert_eq!(server.kept.lock().unwrap().adds().len() as u64, report.done);
}
