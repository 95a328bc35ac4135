//! People as data of scenario files: their columns, right answers about them, and people that the run adds.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use load::{Engine, Snapshot, Tables};
use people::{DEFAULT_BASE, Population, Profile};
use serde_json::json;
use wire::ldap::{Credentials, Operation, Request, op};

use super::harness::{eventually, people};
use super::responder::{Do, Responder};

fn try_start(responder: &Responder, people: &Arc<Population>, text: &str) -> Result<Engine, String> {
    let config = json!({
        "target": {
            "host": "127.0.0.1", "port": responder.address.port(), "base": DEFAULT_BASE,
            "profile": people.spec().profile,
        },
        "adds": {"start": 20, "keys": 4},
        "scenarios": [{"name": "file", "text": text}],
    });
    Engine::start(serde_json::from_value(config).unwrap(), Some(people.clone()), None, &Tables::new())
        .map_err(|error| error.to_string())
}

fn run(responder: &Responder, people: &Arc<Population>, text: &str, tag: u8, count: u64) -> Snapshot {
    let mut engine = try_start(responder, people, text).unwrap_or_else(|problem| panic!("{problem}"));
    engine.start_lanes("file", 1).unwrap();
    assert!(eventually(|| responder.seen.answered(tag) >= count), "{}", responder.seen.answered(tag));
    engine.stop(Duration::from_secs(5)).unwrap()
}

/// The rows with their counts and the kinds of their failures.
fn rows(snapshot: &Snapshot) -> Vec<(String, u64, Vec<String>)> {
    let row = |step: &load::StepSnapshot| {
        let kinds = step.failures.iter().map(|(kind, _)| kind.clone()).collect();
        (format!("{}/{}", step.program, step.step), step.count, kinds)
    };
    let steps = [&snapshot.steps, &snapshot.late, &snapshot.older].into_iter().flatten();
    steps.filter(|step| step.count > 0).map(row).collect()
}

fn names(responder: &Responder, of: impl Fn(&Operation<'_>) -> Option<Vec<u8>>) -> HashSet<Vec<u8>> {
    let messages = responder.seen.messages.lock().unwrap();
    messages.iter().filter_map(|message| of(&Request::decode(message).unwrap().operation)).collect()
}

fn dns(people: &Population, of: std::ops::Range<u64>) -> HashSet<Vec<u8>> {
    let dn = |number| {
        let mut dn = Vec::new();
        people.write_dn(number, &mut dn);
        dn
    };
    of.map(dn).collect()
}

const LOOK: &str = "[data.person]\npeople = 'seeded'\n[[operation]]\nname = 'look'\nstep = [
  { search = '(&(objectClass=*)(cn={person.cn}))', expect.entry = 'person' },
  { compare = '{person.dn}', entry = { sn = '{person.sn}' } },
]";

#[test]
fn a_scenario_can_use_the_people_of_the_population_as_data() {
    let people = people(Profile::Paper, 20);
    let responder = Responder::right(&people);
    let snapshot = run(&responder, &people, LOOK, op::COMPARE_REQUEST, 200);
    assert!(rows(&snapshot).iter().all(|(.., kinds)| kinds.is_empty()), "{:?}", rows(&snapshot));
    let compared = names(&responder, |operation| match operation {
        Operation::Compare(compare) => Some(compare.dn.to_vec()),
        _ => None,
    });
    assert!(compared.len() > 5 && compared.is_subset(&dns(&people, 0..20)));
    for wrong in [Do::SomebodyElse, Do::Impostor, Do::Nobody, Do::Twice] {
        let responder = Responder::lookups(&people, wrong);
        let snapshot = run(&responder, &people, LOOK, op::COMPARE_REQUEST, 20);
        let failed = rows(&snapshot).into_iter().find(|(row, ..)| row == "look/search").unwrap();
        assert_eq!(failed.2, ["wrong-answer"], "{wrong:?}");
    }
}

/// Spellings of one search; only the first is a built-in operation.
const MORE: [&str; 5] = [
    "",
    "size_limit = 50",
    "time_limit = '5s'",
    "base = '{base}'",
    "capture.name = 'cn'\ncontrol.manage_dsa_it = true",
];

#[test]
fn every_search_verifies_the_whole_person() {
    let people = people(Profile::Paper, 20);
    for more in MORE {
        let text = format!(
            "connection.main.per = 'user'\n[data.person]\npeople = 'seeded'\n[[operation]]\nname = 'look'\n
             search = '(&(objectClass=RTPerson)(cn={{person.cn}}))'\nexpect.entry = 'person'\n{more}"
        );
        for (answer, is_right) in [
            (Do::Right, true),
            (Do::RightButOtherwise, true),
            (Do::WithoutOneAttribute, false),
            (Do::WithoutOneValue, false),
            (Do::WithOneValueMore, false),
            (Do::WithOneAttributeMore, false),
            (Do::Impostor, false),
            (Do::SomebodyElse, false),
        ] {
            let responder = Responder::lookups(&people, answer);
            let snapshot = run(&responder, &people, &text, op::SEARCH_REQUEST, 10);
            let search = snapshot.steps.iter().find(|step| step.count >= 10).unwrap();
            let wrong: u64 = search.failures.iter().map(|(_, count)| count).sum();
            assert_eq!(
                wrong,
                if is_right { 0 } else { search.count },
                "{answer:?} {more:?} {:?}",
                search.failures
            );
        }
    }
}

#[test]
fn every_entry_of_a_list_is_a_whole_person_and_no_person_is_missing() {
    let people = people(Profile::Paper, 20);
    for more in MORE {
        let text = format!(
            "connection.main.per = 'user'\n[data.person]\npeople = 'seeded'\n[[operation]]\nname = 'list'\n
             search = '(objectClass=RTPerson)'\n
             expect = {{ result = ['success', 'sizeLimitExceeded'], every = 'person', entries = 'all' }}\n{more}"
        );
        for (answer, is_right) in
            [(Do::Right, true), (Do::Nobody, false), (Do::WithoutOneAttribute, false), (Do::Impostor, false)]
        {
            let responder = Responder::lookups(&people, answer);
            let snapshot = run(&responder, &people, &text, op::SEARCH_REQUEST, 5);
            let search = snapshot.steps.iter().find(|step| step.count >= 5).unwrap();
            let wrong: u64 = search.failures.iter().map(|(_, count)| count).sum();
            assert_eq!(
                wrong,
                if is_right { 0 } else { search.count },
                "{answer:?} {more:?} {:?}",
                search.failures
            );
        }
    }
}

#[test]
fn an_incomplete_person_is_reported_with_the_remedy() {
    let people = people(Profile::Paper, 20);
    for more in ["", "size_limit = 5"] {
        let text = format!(
            "[data.person]\npeople = 'seeded'\n[[operation]]\nname = 'look'\n
             search = '(&(objectClass=RTPerson)(cn={{person.cn}}))'\nexpect.entry = 'person'\n{more}"
        );
        let responder = Responder::lookups(&people, Do::WithoutOneAttribute);
        let snapshot = run(&responder, &people, &text, op::SEARCH_REQUEST, 5);
        let told: Vec<_> = snapshot.steps.iter().flat_map(|step| &step.examples).collect();
        let told = format!("{told:?}");
        assert!(told.contains("but an entry is not the whole person: name what is compared in"), "{told}");
    }
}

#[test]
fn people_added_by_a_run_are_added_again_only_after_their_deletion() {
    let people = people(Profile::Paper, 20);
    let responder = Responder::right(&people);
    let text = "[data.newcomer]\npeople = 'new'\n[[operation]]\nname = 'stay'\nstep = [
      { add = '{newcomer.dn}', entry = 'newcomer' },
      { search = '(&(objectClass=*)(cn={newcomer.cn}))', expect.entry = 'newcomer' },
      { modify = '{newcomer.dn}', change.replace.sn = 'x{user}' },
    ]";
    let snapshot = run(&responder, &people, text, op::MODIFY_REQUEST, 50);
    assert!(rows(&snapshot).iter().all(|(.., kinds)| kinds.is_empty()), "{:?}", rows(&snapshot));
    let added = names(&responder, |operation| match operation {
        Operation::Add(add) => Some(add.dn.to_vec()),
        Operation::Modify(modify) => Some(modify.dn.to_vec()),
        _ => None,
    });
    assert_eq!(added, dns(&people, 20..24));
    assert!(responder.seen.added.lock().unwrap().len() <= 4);
    let removed = rows(&snapshot).into_iter().find(|(row, ..)| row == "stay/remove").unwrap().1;
    assert!(removed >= 40, "{removed}");
}

#[test]
fn an_operation_is_checked_by_its_own_expectations_at_any_position_in_a_deck() {
    let people = people(Profile::Paper, 20);
    let responder = Responder::lookups(&people, Do::SomebodyElse);
    let text = "[data.person]\npeople = 'seeded'\n[data.newcomer]\npeople = 'new'\n
      [[operation]]\nname = 'look'\nsearch = '(&(objectClass=RTPerson)(cn={person.cn}))'\nexpect.entry = 'person'
      [[operation]]\nname = 'come'\nadd = '{newcomer.dn}'\nentry = 'newcomer'";
    let snapshot = run(&responder, &people, text, op::ADD_REQUEST, 20);
    let rows = rows(&snapshot);
    let kinds = |name: &str| rows.iter().find(|(row, ..)| row == name).unwrap().2.clone();
    assert_eq!((kinds("look/search"), kinds("come/add")), (vec!["wrong-answer".to_owned()], vec![]));
}

#[test]
fn changed_people_do_not_make_later_searches_wrong() {
    let people = people(Profile::Paper, 1);
    let responder = Responder::lookups(&people, Do::Right);
    let text = "[data.person]\npeople = 'seeded'\n[[operation]]\nname = 'o'\nstep = [
      { modify = '{person.dn}', change.replace.sn = '{random:8}' },
      { search = '(&(objectClass=RTPerson)(cn={person.cn}))', expect.entry = 'person' },
    ]";
    let snapshot = run(&responder, &people, text, op::SEARCH_REQUEST, 20);
    assert!(rows(&snapshot).iter().all(|(.., kinds)| kinds.is_empty()), "{:?}", rows(&snapshot));
}

#[test]
fn people_have_the_columns_of_their_profile() {
    let people = people(Profile::Paper, 20);
    let responder = Responder::right(&people);
    let text = "[data.person]\npeople = 'seeded'\n[[operation]]\nsearch = '(&(a=b)(uid={person.uid}))'";
    let problem = try_start(&responder, &people, text).err().unwrap();
    assert!(problem.contains("data \"person\" has no column \"uid\": people have dn, "), "{problem}");
    let text =
        "[data.newcomer]\npeople = 'new'\n[[operation]]\nadd = 'cn=x,{newcomer.dn}'\nentry = 'newcomer'";
    let problem = try_start(&responder, &people, text).err().unwrap();
    assert!(problem.contains("people have their own names: add {newcomer.dn}"), "{problem}");
}

#[test]
fn people_who_log_in_have_a_password_column() {
    let people = people(Profile::Person, 20);
    let responder = Responder::lookups(&people, Do::Right);
    let text = "[data.person]\npeople = 'seeded'\n[[operation]]\nname = 'o'\nstep = [
      { bind = '{person.dn}', password = '{person.password}' },
      { search = '(&(objectClass=*)(uid={person.uid}))', expect.entry = 'person' },
    ]";
    let snapshot = run(&responder, &people, text, op::BIND_REQUEST, 20);
    assert!(rows(&snapshot).iter().all(|(.., kinds)| kinds.is_empty()), "{:?}", rows(&snapshot));
    let known: Vec<_> = (0..20)
        .map(|i| {
            let (mut dn, mut password) = (Vec::new(), Vec::new());
            people.write_dn(i, &mut dn);
            people.write_password(i, &mut password);
            (dn, password)
        })
        .collect();
    let bound = names(&responder, |operation| match operation {
        Operation::Bind(bind) if !bind.name.is_empty() => match bind.credentials {
            Credentials::Simple(password) => Some([bind.name, b" ", password].concat()),
            _ => None,
        },
        _ => None,
    });
    assert!(bound.len() > 5);
    for one in bound {
        assert!(known.iter().any(|(dn, password)| one == [&dn[..], b" ", password].concat()));
    }
}

#[test]
fn each_user_has_the_same_row_in_every_operation() {
    let people = people(Profile::Paper, 20);
    let responder = Responder::right(&people);
    let text = "[data.self]\npeople = 'seeded'\nper = 'user'\n
      [[operation]]\nname = 'look'\nsearch = '(&(objectClass=RTPerson)(cn={self.cn}))'\nexpect.entry = 'self'
      [[operation]]\nname = 'compare'\nstep = [{ compare = '{self.dn}', entry = { sn = '{self.sn}' } }, { search = '(&(objectClass=*)(cn={self.cn}))', expect.entry = 'self' }]";
    let snapshot = run(&responder, &people, text, op::COMPARE_REQUEST, 20);
    assert!(rows(&snapshot).iter().all(|(.., kinds)| kinds.is_empty()), "{:?}", rows(&snapshot));
    let asked = names(&responder, |operation| match operation {
        Operation::Compare(compare) => Some(compare.dn.to_vec()),
        _ => None,
    });
    assert_eq!(asked, dns(&people, 0..1));
    let mut own = Vec::new();
    people.write_name(0, &mut own);
    let messages = responder.seen.messages.lock().unwrap();
    let searches = messages.iter().filter(|message| message.windows(8).any(|part| part == b"RTPerson"));
    assert!(searches.clone().count() > 5);
    assert!(searches.into_iter().all(|message| message.windows(own.len()).any(|part| part == own)));
}

#[test]
fn steps_that_would_add_or_delete_the_wrong_people_are_refused() {
    let people = people(Profile::Paper, 20);
    let responder = Responder::right(&people);
    for (data, steps, said) in [
        (
            &["a = 'new'"][..],
            "{ search = '(cn={a.cn})' }]",
            "file:2:1: operation[1]: has people of a, and no step with add = \"{a.dn}\"",
        ),
        (
            &["a = 'new'", "b = 'new'"],
            "{ add = '{a.dn}', entry = 'a' }, { add = '{b.dn}', entry = 'b' }, { delete = '{a.dn}' }]",
            "file:3:1: operation[1]: adds people of a and of b: one at a time",
        ),
    ] {
        let data: String =
            data.iter().map(|data| format!("data.{}\n", data.replace(" =", ".people ="))).collect();
        let text = format!("{data}[[operation]]\nname = 'o'\nstep = [{steps}");
        let problem = try_start(&responder, &people, &text).err().unwrap();
        assert!(problem.contains(said), "{problem}");
    }
    let text = "[data.n]\npeople = 'new'\nper = 'user'\n[[operation]]\nadd = '{n.dn}'\nentry = 'n'";
    let problem = try_start(&responder, &people, text).err().unwrap();
    assert!(problem.contains("new people come one after the other"), "{problem}");
}

#[test]
fn an_operation_with_a_repeat_counts_as_one_operation() {
    let people = people(Profile::Paper, 20);
    for per in ["5", "'user'"] {
        let responder = Responder::right(&people);
        let text = format!(
            "connection.main.per = {per}\n[data.p]\npeople = 'seeded'\n[[operation]]\nname = 'search'\n[[operation.step]]\nrepeat = 10
            step = [{{ search = '(&(objectClass=RTPerson)(cn={{p.cn}}))', expect.entry = 'p' }}]"
        );
        let snapshot = run(&responder, &people, &text, op::SEARCH_REQUEST, 100);
        let found = rows(&snapshot);
        let count = |name: &str| found.iter().find(|(row, ..)| row == name).map_or(0, |row| row.1);
        assert!(count("search/search") >= 9 * count("search/sequence"), "{found:?}");
        assert!(count("search/sequence") > 0, "{found:?}");
    }
    let responder = Responder::right(&people);
    let text = "connection.main.per = 'iteration'\n[data.p]\npeople = 'seeded'\n[[operation]]\nname = 'find'\ncounts = 'first'\n[[operation.step]]
        name = 'first'\nsearch = '(&(objectClass=RTPerson)(cn={p.cn}))'\nexpect.entry = 'p'";
    let snapshot = run(&responder, &people, text, op::SEARCH_REQUEST, 20);
    assert!(rows(&snapshot).iter().any(|(row, count, _)| row == "file/first" && *count > 10));
}
