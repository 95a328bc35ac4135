//! Sent requests, byte by byte where another program has to decode them, and invalid requests.

use people::{DEFAULT_BASE, Profile};
use serde_json::json;
use wire::ldap::{Operation, Scope, op};

use super::harness::{ADD, CYCLE, DELETE, LOOKUP, lookups, people, session, written};
use super::responder::{Do, Responder, entry_name};
use crate::job::Job;

/// The received searches as (base, scope, filter).
fn searches(responder: &Responder) -> Vec<(String, Scope, String)> {
    responder.requests(|operation| match operation {
        Operation::Search(search) => Some((entry_name(operation), search.scope, search.filter.to_string())),
        _ => None,
    })
}

#[test]
fn a_lookup_is_a_subtree_search_for_class_and_name() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    responder.job(&lookups(3)).run(1, 30);
    let name = written(|out| responder.people.write_name(0, out));
    let filter = format!("(&(objectClass=RTPerson)(cn={name}))");
    assert_eq!(searches(&responder)[0], (DEFAULT_BASE.to_owned(), Scope::Subtree, filter));
}

#[test]
fn people_of_the_ils_profile_have_distinguished_names_as_in_netmeeting() {
    let responder = Responder::right(&people(Profile::Ils, 3));
    let modify = "{ modify = '{newcomer.dn}', change.replace.smodop = '0' }";
    let totals =
        responder.job(&session(2, &[ADD, modify, DELETE])).target(json!({"profile": "ils"})).run(1, 50);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    let dn = written(|out| responder.people.write_ils_dn(3, out));
    assert!(dn.starts_with("c=-,o=Microsoft,cn=") && dn.ends_with(",objectClass=rtPerson"), "{dn}");
    for tag in [op::ADD_REQUEST, op::MODIFY_REQUEST, op::DELETE_REQUEST] {
        assert_eq!(responder.names(tag)[0], dn);
    }
}

#[test]
fn attributes_that_a_run_changes_are_not_verified() {
    for (attribute, right) in [("carLicense", true), ("description", false)] {
        let responder = Responder::lookups(&people(Profile::Paper, 50), Do::WithOneAttributeMore);
        let modify = format!("{{ modify = '{{person.dn}}', change.replace.{attribute} = 'x' }}");
        let totals = responder.job(&session(5, &[&modify, LOOKUP])).run(1, 50);
        assert_eq!(totals.kinds().is_empty(), right, "{attribute}: {totals:?}");
    }
}

#[test]
fn a_directory_of_foreign_people_is_searched_by_the_given_names() {
    let text = lookups(5).replace("(&(objectClass=RTPerson)(cn={person.cn}))", "(uid={person.uid})");
    for (what, right) in [(Do::Right, true), (Do::SomebodyElse, false)] {
        let responder = Responder::lookups(&people(Profile::Small, 5), what);
        let names = json!({"template": "uid=user.{i}", "count": 10});
        let job = responder.job(&text).target(json!({"base": "ou=people,dc=example", "names": names}));
        let totals = Job { people: None, ..job }.run(2, 50);
        assert!(totals.count("lookup") > 5);
        assert_eq!(totals.kinds().is_empty(), right, "{totals:?}");
        let (base, _, filter) = searches(&responder).swap_remove(0);
        assert_eq!(base, "ou=people,dc=example");
        assert!(filter.starts_with("(uid=user.") && filter.ends_with(')'), "{filter}");
    }
}

#[test]
fn a_bind_has_the_given_dn_password_and_version() {
    let responder = Responder::right(&people(Profile::Small, 5));
    let bind = "bind = 'cn=admin', password = '{env.PASSWORD}', version = 2";
    let job = responder.job(&CYCLE.replace("bind = ''", bind));
    job.scenario(json!({"env": {"PASSWORD": "secret"}})).run(1, 30);
    let messages = responder.seen.messages.lock().unwrap();
    assert_eq!(messages[0], b"\x30\x1a\x02\x01\x01\x60\x15\x02\x01\x02\x04\x08cn=admin\x80\x06secret");
    // The next connection may be read before the unbind of this connection.
    assert!(messages.contains(&b"\x30\x05\x02\x01\x02\x42\x00".to_vec()));
}

#[test]
fn invalid_configurations_are_refused_with_the_reason_and_the_remedy() {
    let job = Responder::right(&people(Profile::Small, 5)).job(&lookups(5));
    let nobody = Job { people: None, ..job.clone() };
    for (job, expected) in [
        (nobody, "no people to pick from for data \"person\": give the engine a population"),
        (job.clone().with(json!({"threads": 0})), "threads is 0"),
        (job.clone().with(json!({"timeout_ms": 0})), "timeout_ms is 0"),
        (job.clone().rate(0.0), "schedule.rate is 0"),
        (job.clone().with(json!({"adds": {"start": 1, "keys": 0}})), "adds.keys is 0"),
        (job.target(json!({"host": "no.such.host.invalid"})), "cannot find \"no.such.host.invalid\""),
    ] {
        assert!(job.refusal().contains(expected), "{}", job.refusal());
    }
}
