//! People as data of scenario files: their columns, right answers about them, and people that the run adds.

use std::collections::HashSet;

use load::{Clock, Snapshot};
use people::{Population, Profile};
use serde_json::json;
use wire::ldap::{Credentials, Operation, op};

use super::harness::{examples, failures, people, row, written};
use super::responder::{Do, Responder};
use crate::job::Job;

/// A scenario about the people of this server, with room for four added people.
fn job(responder: &Responder, text: &str) -> Job {
    let job = responder.job(text).target(json!({"profile": responder.people.spec().profile}));
    job.with(json!({"adds": {"start": 20, "keys": 4}}))
}

fn run(responder: &Responder, text: &str, (tag, count): (u8, u64)) -> [Snapshot; 1] {
    job(responder, text).run_until(1, responder.has_answered(tag, count))
}

fn names(responder: &Responder, tag: u8) -> HashSet<String> {
    responder.names(tag).into_iter().collect()
}

fn dns(people: &Population, of: std::ops::Range<u64>) -> HashSet<String> {
    of.map(|number| written(|out| people.write_dn(number, out))).collect()
}

const LOOK: &str = "[data.person]\npeople = 'seeded'\n[[operation]]\nname = 'look'\nstep = [
  { search = '(&(objectClass=*)(cn={person.cn}))', expect.entry = 'person' },
  { compare = '{person.dn}', entry = { sn = '{person.sn}' } },
]";

#[test]
fn a_scenario_can_use_the_people_of_the_population_as_data() {
    let responder = Responder::right(&people(Profile::Paper, 20));
    let results = run(&responder, LOOK, (op::COMPARE_REQUEST, 200));
    assert_eq!(failures(&results), []);
    let compared = names(&responder, op::COMPARE_REQUEST);
    assert!(compared.len() > 5 && compared.is_subset(&dns(&responder.people, 0..20)));
}

const ONE: &str = "search = '(&(objectClass=RTPerson)(cn={person.cn}))'\nexpect.entry = 'person'";
const ALL: &str = "search = '(objectClass=RTPerson)'\n\
    expect = { result = ['success', 'sizeLimitExceeded'], every = 'person', entries = 'all' }";

#[test]
fn every_search_verifies_whole_people() {
    use Do::{
        Impostor, Nobody, Right, RightButOtherwise, SomebodyElse, Twice, WithOneAttributeMore,
        WithOneAttributeTwice, WithOneValueMore, WithoutOneAttribute, WithoutOneValue,
    };
    let people = people(Profile::Paper, 300);
    let wrong_lists = [Nobody, Impostor, WithoutOneAttribute, WithOneValueMore];
    let wrong_persons = [SomebodyElse, WithoutOneValue, WithOneAttributeMore, WithOneAttributeTwice, Twice];
    let wrong_persons = [&wrong_lists[..], &wrong_persons].concat();
    for (search, count, wrong) in [(ONE, 10, &wrong_persons[..]), (ALL, 3, &wrong_lists)] {
        // Only the first spelling is a built-in operation.
        for (filter, more) in [
            ("objectClass=RTPerson", ""),
            ("objectClass=*", ""),
            ("objectClass=RTPerson", "size_limit = 500"),
            ("objectClass=RTPerson", "time_limit = '5s'"),
            ("objectClass=RTPerson", "base = '{base}'"),
            ("objectClass=RTPerson", "capture.name = 'cn'\ncontrol.manage_dsa_it = true"),
        ] {
            let search = search.replace("objectClass=RTPerson", filter);
            let text =
                format!("[data.person]\npeople = 'seeded'\n[[operation]]\nname = 'search'\n{search}\n{more}");
            for &answer in [Right, RightButOtherwise].iter().chain(wrong) {
                let responder = Responder::lookups(&people, answer);
                let results = run(&responder, &text, (op::SEARCH_REQUEST, count));
                let search = results[0].steps.iter().find(|row| &*row.step == "search").unwrap();
                let expected = wrong.contains(&answer).then(|| ("wrong-answer".to_owned(), search.count));
                assert_eq!(search.failures, Vec::from_iter(expected), "{answer:?} {search:?} {more:?}");
                // A wrong answer is timed by its own clock, and the lane keeps its connection.
                let clock = if search.failures.is_empty() { Clock::Service } else { Clock::Wrong };
                assert_eq!((search.clock(clock).len(), responder.connections()), (search.count, 1));
                if answer == WithoutOneAttribute {
                    let example = examples(&results).join("; ");
                    let remedy = "but an entry is not the whole person: name what is compared in";
                    assert!(example.contains(remedy), "{example}");
                }
            }
        }
    }
}

#[test]
fn people_added_by_a_run_are_added_again_only_after_their_deletion() {
    let responder = Responder::right(&people(Profile::Paper, 20));
    let text = "[data.newcomer]\npeople = 'new'\n[[operation]]\nname = 'stay'\nstep = [
      { add = '{newcomer.dn}', entry = 'newcomer' },
      { search = '(&(objectClass=*)(cn={newcomer.cn}))', expect.entry = 'newcomer' },
      { modify = '{newcomer.dn}', change.replace.sn = 'x{user}' },
    ]";
    let results = run(&responder, text, (op::MODIFY_REQUEST, 50));
    assert_eq!(failures(&results), []);
    for tag in [op::ADD_REQUEST, op::MODIFY_REQUEST] {
        assert_eq!(names(&responder, tag), dns(&responder.people, 20..24));
    }
    assert!(responder.seen.added.lock().unwrap().len() <= 4);
    let removed = row(&results, "stay", "remove").0;
    assert!(removed >= 40, "{removed}");
}

#[test]
fn an_operation_is_checked_by_its_own_expectations_at_any_position_in_a_deck() {
    let responder = Responder::lookups(&people(Profile::Paper, 20), Do::SomebodyElse);
    let text = "[data.person]\npeople = 'seeded'\n[data.newcomer]\npeople = 'new'\n
      [[operation]]\nname = 'look'\nsearch = '(&(objectClass=RTPerson)(cn={person.cn}))'\nexpect.entry = 'person'
      [[operation]]\nname = 'come'\nadd = '{newcomer.dn}'\nentry = 'newcomer'";
    let results = run(&responder, text, (op::ADD_REQUEST, 20));
    let (searches, failures) = row(&results, "look", "search");
    assert_eq!(failures, [("wrong-answer".to_owned(), searches)]);
    assert_eq!(row(&results, "come", "add").1, []);
}

#[test]
fn changed_people_do_not_make_later_searches_wrong() {
    let responder = Responder::lookups(&people(Profile::Paper, 1), Do::Right);
    let text = "[data.person]\npeople = 'seeded'\n[[operation]]\nname = 'o'\nstep = [
      { modify = '{person.dn}', change.replace.sn = '{random:8}' },
      { search = '(&(objectClass=RTPerson)(cn={person.cn}))', expect.entry = 'person' },
    ]";
    let results = run(&responder, text, (op::SEARCH_REQUEST, 20));
    assert_eq!(failures(&results), []);
}

#[test]
fn people_have_the_columns_of_their_profile() {
    let responder = Responder::right(&people(Profile::Paper, 20));
    let text = "[data.person]\npeople = 'seeded'\n[[operation]]\nsearch = '(&(a=b)(uid={person.uid}))'";
    let problem = job(&responder, text).refusal();
    assert!(problem.contains("data \"person\" has no column \"uid\": people have dn, "), "{problem}");
    let text =
        "[data.newcomer]\npeople = 'new'\n[[operation]]\nadd = 'cn=x,{newcomer.dn}'\nentry = 'newcomer'";
    let problem = job(&responder, text).refusal();
    assert!(problem.contains("people have their own names: add {newcomer.dn}"), "{problem}");
}

#[test]
fn people_who_log_in_have_a_password_column() {
    let responder = Responder::lookups(&people(Profile::Person, 20), Do::Right);
    let text = "[data.person]\npeople = 'seeded'\n[[operation]]\nname = 'o'\nstep = [
      { bind = '{person.dn}', password = '{person.password}' },
      { search = '(&(objectClass=*)(uid={person.uid}))', expect.entry = 'person' },
    ]";
    let results = run(&responder, text, (op::BIND_REQUEST, 20));
    assert_eq!(failures(&results), []);
    let people = &responder.people;
    let dn = |i| written(|out| people.write_dn(i, out)).into_bytes();
    let password = |i| written(|out| people.write_password(i, out)).into_bytes();
    let bound: HashSet<_> = responder
        .requests(|operation| match operation {
            Operation::Bind(bind) => match bind.credentials {
                Credentials::Simple(password) => Some((bind.name.to_vec(), password.to_vec())),
                _ => None,
            },
            _ => None,
        })
        .into_iter()
        .collect();
    assert!(
        bound.len() > 5 && bound.is_subset(&(0..20).map(|i| (dn(i), password(i))).collect()),
        "{bound:?}"
    );
}

#[test]
fn each_user_has_the_same_row_in_every_operation() {
    let responder = Responder::right(&people(Profile::Paper, 20));
    let text = "[data.self]\npeople = 'seeded'\nper = 'user'\n
      [[operation]]\nname = 'look'\nsearch = '(&(objectClass=RTPerson)(cn={self.cn}))'\nexpect.entry = 'self'
      [[operation]]\nname = 'compare'\nstep = [{ compare = '{self.dn}', entry = { sn = '{self.sn}' } }, { search = '(&(objectClass=*)(cn={self.cn}))', expect.entry = 'self' }]";
    let results = run(&responder, text, (op::COMPARE_REQUEST, 20));
    assert_eq!(failures(&results), []);
    assert_eq!(names(&responder, op::COMPARE_REQUEST), dns(&responder.people, 0..1));
    let own = written(|out| responder.people.write_name(0, out)).into_bytes();
    let messages = responder.seen.messages.lock().unwrap();
    let searches = messages.iter().filter(|message| message.windows(8).any(|part| part == b"RTPerson"));
    assert!(searches.clone().count() > 5);
    assert!(searches.into_iter().all(|message| message.windows(own.len()).any(|part| part == own)));
}

#[test]
fn steps_that_would_add_or_delete_the_wrong_people_are_refused() {
    let responder = Responder::right(&people(Profile::Paper, 20));
    for (text, expected) in [
        (
            "data.a.people = 'new'\n[[operation]]\nname = 'o'\nstep = [{ search = '(cn={a.cn})' }]",
            "mix:2:1: operation[1]: has people of a, and no step with add = \"{a.dn}\"",
        ),
        (
            "data.a.people = 'new'\ndata.b.people = 'new'\n[[operation]]\nname = 'o'\nstep = [
             { add = '{a.dn}', entry = 'a' }, { add = '{b.dn}', entry = 'b' }, { delete = '{a.dn}' }]",
            "mix:3:1: operation[1]: adds people of a and of b: one at a time",
        ),
        (
            "data.n = { people = 'new', per = 'user' }\n[[operation]]\nadd = '{n.dn}'\nentry = 'n'",
            "new people come one after the other",
        ),
    ] {
        let problem = job(&responder, text).refusal();
        assert!(problem.contains(expected), "{problem}");
    }
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
        let results = run(&responder, &text, (op::SEARCH_REQUEST, 100));
        let [searches, operations] = ["search", "sequence"].map(|step| row(&results, "search", step).0);
        assert!(operations > 0 && searches >= 9 * operations, "{searches} in {operations}");
    }
    let responder = Responder::right(&people);
    let text = "connection.main.per = 'iteration'\n[data.p]\npeople = 'seeded'\n[[operation]]\nname = 'find'\ncounts = 'first'\n[[operation.step]]
        name = 'first'\nsearch = '(&(objectClass=RTPerson)(cn={p.cn}))'\nexpect.entry = 'p'";
    let results = run(&responder, text, (op::SEARCH_REQUEST, 20));
    assert!(row(&results, "mix", "first").0 > 10);
}
