//! The entries that a run adds, and their maximum number.

use std::collections::BTreeSet;

use people::Profile;
use serde_json::json;
use wire::ldap::{ResultCode, op};

use super::harness::{ADD, DELETE, LOOKUP, counted, people, session, written};
use super::responder::{Do, Responder};

#[test]
fn a_run_never_has_more_added_people_at_the_target_than_its_ring_has_keys() {
    let responder = Responder::right(&people(Profile::Small, 500));
    let settings = json!({"adds": {"start": 2_000, "keys": 4_096}, "threads": 2});
    let totals = responder.job(&counted(100, ADD)).with(settings).run_steps(4, "add", 6_001);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    assert_eq!(totals.count("add"), responder.seen.answered(op::ADD_REQUEST));
    assert_eq!(totals.count("remove"), responder.seen.answered(op::DELETE_REQUEST));
    // Every add beyond the ring's size followed a removal. A lane may have stopped between a removal and its
    // add, and a thread may still hold keys of the first round.
    let beyond = totals.count("add") - 4_096;
    assert!((beyond..=beyond + 4 + 2 * 256).contains(&totals.count("remove")), "{beyond} {totals:?}");
    let dn = |i| written(|out| responder.people.write_dn(i, out)).into_bytes();
    let range: BTreeSet<_> = (2_000..6_096).map(dn).collect();
    let added = responder.seen.added.lock().unwrap();
    assert!(added.len() <= 4_096 && added.keys().all(|dn| range.contains(dn)));
}

#[test]
fn added_people_follow_the_seeded_people_and_have_all_attributes() {
    let responder = Responder::right(&people(Profile::Small, 500));
    let totals = responder.job(&counted(100, ADD)).run_steps(1, "add", 300);
    assert_eq!(totals.count("remove"), 0);
    let added = responder.seen.added.lock().unwrap();
    assert_eq!(added.len() as u64, totals.count("add"));
    for i in 500..500 + added.len() as u64 {
        let (mut dn, mut attributes) = (Vec::new(), Vec::new());
        responder.people.write_dn(i, &mut dn);
        responder.people.write_attributes(i, &mut attributes);
        assert!(attributes.ends_with(&added[&dn]), "person {i} is there as generated");
    }
}

#[test]
fn an_added_person_can_be_found_changed_compared_refreshed_and_deleted() {
    let responder = Responder::right(&people(Profile::Paper, 500));
    let steps = [
        ADD,
        LOOKUP,
        &LOOKUP.replace("person.", "newcomer.").replace("'person'", "'newcomer'"),
        "{ modify = '{newcomer.dn}', change = { replace.l = 'elsewhere', delete.title = [] } }",
        "{ compare = '{newcomer.dn}', entry.sn = '{newcomer.sn}' }",
        "{ refresh = '{newcomer.dn}', ttl = '10m' }",
        DELETE,
    ];
    let totals = responder.job(&session(3, &steps)).run(4, 100);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    assert!(totals.count("delete") > 10);
    for (step, tag) in [
        ("add", op::ADD_REQUEST),
        ("modify", op::MODIFY_REQUEST),
        ("compare", op::COMPARE_REQUEST),
        ("refresh", op::EXTENDED_REQUEST),
        ("delete", op::DELETE_REQUEST),
    ] {
        assert_eq!(totals.count(step), responder.seen.answered(tag), "{step}");
    }
    // Each added entry was deleted, except in passes that were cut short.
    assert!(responder.seen.added.lock().unwrap().len() <= 4);
}

#[test]
fn results_of_writes_are_verified() {
    const COMPARE: &str = "{ compare = '{person.dn}', entry.cn = '{person.cn}' }";
    for (step, tag, code, kind) in [
        (ADD, op::ADD_REQUEST, ResultCode::BUSY, "result:busy"),
        ("{ delete = '{person.dn}' }", op::DELETE_REQUEST, ResultCode::NO_SUCH_OBJECT, "result:noSuchObject"),
        (COMPARE, op::COMPARE_REQUEST, ResultCode::COMPARE_FALSE, "wrong-answer"),
        (COMPARE, op::COMPARE_REQUEST, ResultCode::SUCCESS, "wrong-answer"),
        (
            "{ refresh = '{person.dn}', ttl = '1m' }",
            op::EXTENDED_REQUEST,
            ResultCode::PROTOCOL_ERROR,
            "result:protocolError",
        ),
    ] {
        let responder = Responder::only(&people(Profile::Paper, 500), tag, Do::Code(code));
        let totals = responder.job(&session(5, &[step])).run(2, 60);
        assert_eq!(totals.kinds(), [kind], "{step}");
    }
}

#[test]
fn the_removal_of_a_missing_entry_is_no_failure() {
    let responder = Responder::right(&people(Profile::Small, 500));
    let job = responder.job(&session(100, &[ADD, DELETE]));
    let totals = job.with(json!({"adds": {"start": 500, "keys": 128}})).run_steps(2, "remove", 101);
    assert!(totals.kinds().is_empty(), "{totals:?}");
}
