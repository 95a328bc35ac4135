//! Sent requests, byte by byte where another program has to decode them, and invalid requests.

use people::{DEFAULT_BASE, Profile};
use serde_json::{Value, json};
use wire::ldap::filter::{Filter, Kind};
use wire::ldap::{Operation, Request, Scope};

use super::harness::{ADD, CYCLE, DELETE, LOOKUP, config, lookups, people, run, session, try_start};
use super::responder::{Do, Responder};

fn show(filter: Filter<'_>) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match filter.kind() {
        Kind::And(all) => format!("(&{})", all.iter().map(show).collect::<String>()),
        Kind::Equality(is) => format!("({}={})", text(is.attribute), text(is.value)),
        Kind::Present(attribute) => format!("({}=*)", text(attribute)),
        other => format!("{other:?}"),
    }
}

/// The received searches as (base, scope, filter).
fn searches(responder: &Responder) -> Vec<(String, Scope, String)> {
    let messages = responder.seen.messages.lock().unwrap();
    let search = |message: &Vec<u8>| match Request::decode(message).unwrap().operation {
        Operation::Search(search) => {
            let base = String::from_utf8(search.base.to_vec()).unwrap();
            Some((base, search.scope, show(search.filter)))
        }
        _ => None,
    };
    messages.iter().filter_map(search).collect()
}

/// The DNs of other requests.
fn names(responder: &Responder) -> Vec<String> {
    let messages = responder.seen.messages.lock().unwrap();
    let name = |message: &Vec<u8>| match Request::decode(message).unwrap().operation {
        Operation::Add(add) => Some(add.dn.to_vec()),
        Operation::Delete(dn) => Some(dn.to_vec()),
        Operation::Modify(modify) => Some(modify.dn.to_vec()),
        _ => None,
    };
    messages.iter().filter_map(name).map(|dn| String::from_utf8(dn).unwrap()).collect()
}

#[test]
fn a_lookup_is_a_subtree_search_for_class_and_name() {
    let people = people(Profile::Paper, 1);
    let responder = Responder::right(&people);
    run(&config(responder.address, &lookups(3)), Some(&people), 1, 30);
    let mut name = Vec::new();
    people.write_name(0, &mut name);
    let filter = format!("(&(objectClass=RTPerson)(cn={}))", String::from_utf8(name).unwrap());
    assert_eq!(searches(&responder)[0], (DEFAULT_BASE.to_owned(), Scope::Subtree, filter));
}

#[test]
fn people_of_the_ils_profile_have_distinguished_names_as_in_netmeeting() {
    let people = people(Profile::Ils, 3);
    let responder = Responder::right(&people);
    let modify = "{ modify = '{newcomer.dn}', change.replace.smodop = '0' }";
    let mut config = config(responder.address, &session(2, &[ADD, modify, DELETE]));
    config["target"]["profile"] = "ils".into();
    let totals = run(&config, Some(&people), 1, 50);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    let mut dn = Vec::new();
    people.write_ils_dn(3, &mut dn);
    let dn = String::from_utf8(dn).unwrap();
    assert!(dn.starts_with("c=-,o=Microsoft,cn=") && dn.ends_with(",objectClass=rtPerson"), "{dn}");
    assert_eq!(names(&responder)[..3], [dn.as_str(), &dn, &dn]);
}

#[test]
fn attributes_that_a_run_changes_are_not_verified() {
    let people = people(Profile::Paper, 50);
    for (attribute, right) in [("carLicense", true), ("description", false)] {
        let responder = Responder::lookups(&people, Do::WithOneAttributeMore);
        let modify = format!("{{ modify = '{{person.dn}}', change.replace.{attribute} = 'x' }}");
        let totals = run(&config(responder.address, &session(5, &[&modify, LOOKUP])), Some(&people), 1, 50);
        assert_eq!(totals.kinds().is_empty(), right, "{attribute}: {totals:?}");
    }
}

#[test]
fn a_directory_of_foreign_people_is_searched_by_the_given_names() {
    let text = lookups(5).replace("(&(objectClass=RTPerson)(cn={person.cn}))", "(uid={person.uid})");
    let people = people(Profile::Small, 5);
    for (what, right) in [(Do::Right, true), (Do::SomebodyElse, false)] {
        let responder = Responder::lookups(&people, what);
        let mut config = config(responder.address, &text);
        config["target"]["base"] = "ou=people,dc=example".into();
        config["target"]["names"] = json!({"template": "uid=user.{i}", "count": 10});
        let totals = run(&config, None, 2, 50);
        assert!(totals.count("lookup") > 5);
        assert_eq!(totals.kinds().is_empty(), right, "{totals:?}");
        let (base, _, filter) = searches(&responder).swap_remove(0);
        assert_eq!(base, "ou=people,dc=example");
        assert!(filter.starts_with("(uid=user.") && filter.ends_with(')'), "{filter}");
    }
}

#[test]
fn a_bind_has_the_given_dn_password_and_version() {
    let people = people(Profile::Small, 5);
    let responder = Responder::right(&people);
    let bind = "bind = 'cn=admin', password = '{env.PASSWORD}', version = 2";
    let mut config = config(responder.address, &CYCLE.replace("bind = ''", bind));
    config["scenarios"][0]["env"] = json!({"PASSWORD": "secret"});
    run(&config, Some(&people), 1, 30);
    let messages = responder.seen.messages.lock().unwrap();
    assert_eq!(messages[0], b"\x30\x1a\x02\x01\x01\x60\x15\x02\x01\x02\x04\x08cn=admin\x80\x06secret");
    // The next connection may be read before the unbind of this connection.
    assert!(messages.contains(&b"\x30\x05\x02\x01\x02\x42\x00".to_vec()));
}

fn refusal(change: impl Fn(&mut Value), with_people: bool) -> String {
    let people = people(Profile::Small, 5);
    let mut config = config("127.0.0.1:9".parse().unwrap(), &lookups(5));
    change(&mut config);
    let engine = try_start(&config, with_people.then_some(&people));
    engine.err().unwrap_or_else(|| panic!("{config} starts")).to_string()
}

#[test]
fn invalid_configurations_are_refused_with_the_reason_and_the_remedy() {
    let empty = refusal(|_| (), false);
    assert!(
        empty.contains("no people to pick from for data \"person\": give the engine a population"),
        "{empty}"
    );
    for (field, value, expected) in [
        ("threads", json!(0), "threads is 0"),
        ("timeout_ms", json!(0), "timeout_ms is 0"),
        ("schedule", json!({"kind": "open", "rate": 0.0}), "schedule.rate is 0"),
        ("adds", json!({"start": 1, "keys": 0}), "adds.keys is 0"),
    ] {
        let error = refusal(|config| config[field] = value.clone(), true);
        assert!(error.contains(expected), "{error}");
    }
    let error = refusal(|config| config["target"]["host"] = "no.such.host.invalid".into(), true);
    assert!(error.contains("cannot find \"no.such.host.invalid\""), "{error}");
}
