//! What is sent, byte by byte where another program has to understand it, and what is refused before.

use people::{DEFAULT_BASE, Profile};
use serde_json::{Value, json};
use wire::ldap::filter::{Filter, Kind};
use wire::ldap::{Operation, Request, Scope};

use super::harness::{config, lookups, people, run, session, try_start};
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

/// The searches that were asked, as (base, scope, filter).
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
    run(&config(responder.address, "lookup", lookups(3)), Some(&people), 1, 30);
    let mut name = Vec::new();
    people.write_name(0, &mut name);
    let filter = format!("(&(objectClass=RTPerson)(cn={}))", String::from_utf8(name).unwrap());
    assert_eq!(searches(&responder)[0], (DEFAULT_BASE.to_owned(), Scope::Subtree, filter));
}

#[test]
fn the_ils_profile_speaks_as_netmeeting_does() {
    let people = people(Profile::Ils, 3);
    let responder = Responder::right(&people);
    let steps = session(
        2,
        json!([
            {"op": "add", "person": "new", "name": "register"},
            {"op": "modify", "person": "new", "name": "announce", "changes": [
                {"op": "replace", "attribute": "smodop", "values": ["0"]},
                {"op": "replace", "attribute": "sappid", "values": ["ms-netmeeting"]}]},
            {"op": "lookup", "person": "random"},
            {"op": "lookup", "person": "new", "refresh_minutes": 10, "name": "refresh"},
            {"op": "retrieve", "attributes": ["cn"]},
            {"op": "delete", "person": "new", "name": "leave"},
        ]),
    );
    let mut config = config(responder.address, "refresh", steps);
    config["target"]["profile"] = "ils".into();
    config["verify"] = false.into();
    let totals = run(&config, Some(&people), 1, 50);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    let mut dn = Vec::new();
    people.write_ils_dn(3, &mut dn);
    let dn = String::from_utf8(dn).unwrap();
    assert!(dn.starts_with("c=-,o=Microsoft,cn=") && dn.ends_with(",objectClass=rtPerson"), "{dn}");
    assert_eq!(names(&responder)[..3], [dn.as_str(), &dn, &dn]);
    let asked = searches(&responder);
    assert!(asked.iter().all(|(base, scope, _)| base == "objectClass=rtPerson" && *scope == Scope::Base));
    assert!(asked[1].2.ends_with("(sttl=10))"), "{}", asked[1].2);
    assert_eq!(asked[2].2, "(&(objectClass=RTPerson)(cn=%))");
}

#[test]
fn what_the_run_changes_is_not_held_against_the_target() {
    let people = people(Profile::Paper, 50);
    let change = |attribute| json!({"op": "replace", "attribute": attribute, "values": ["x"]});
    for (attribute, right) in [("carLicense", true), ("description", false)] {
        let responder = Responder::lookups(&people, Do::WithOneAttributeMore);
        let steps = json!([
            {"op": "modify", "person": "random", "changes": [change(attribute)]},
            {"op": "lookup", "person": "current"}]);
        let totals = run(&config(responder.address, "lookup", session(5, steps)), Some(&people), 1, 50);
        assert_eq!(totals.kinds().is_empty(), right, "{attribute}: {totals:?}");
    }
}

#[test]
fn a_directory_of_others_is_searched_by_its_names() {
    let mut config = json!({
        "target": {"host": "127.0.0.1", "port": 0, "base": "ou=people,dc=example",
            "names": {"template": "uid=user.{i}", "count": 10}},
        "programs": [{"name": "p", "counts": "lookup", "steps": lookups(5)}]});
    let people = people(Profile::Small, 5);
    for (what, right) in [(Do::Right, true), (Do::SomebodyElse, false)] {
        let responder = Responder::lookups(&people, what);
        config["target"]["port"] = responder.address.port().into();
        let totals = run(&config, None, 2, 50);
        assert!(totals.count("lookup") > 5);
        assert_eq!(totals.kinds().is_empty(), right, "{totals:?}");
        let (base, _, filter) = searches(&responder).swap_remove(0);
        assert_eq!(base, "ou=people,dc=example");
        assert!(filter.starts_with("(uid=user.") && filter.ends_with(')'), "{filter}");
    }
}

#[test]
fn in_a_directory_of_others_whom_the_run_added_is_looked_up_by_class_and_name() {
    let people = people(Profile::Small, 5);
    let responder = Responder::right(&people);
    let steps = json!([
        {"op": "add", "person": "new"},
        {"op": "lookup", "person": "new"},
        {"op": "lookup", "person": "random", "name": "other"},
        {"op": "delete", "person": "new"}]);
    let mut config = config(responder.address, "lookup", session(2, steps));
    config["target"]["names"] = json!({"template": "uid=user.{i}", "count": 10});
    config["verify"] = false.into();
    run(&config, Some(&people), 1, 50);
    for (at, (_, _, filter)) in searches(&responder).iter().enumerate() {
        let beginning = ["(&(objectClass=RTPerson)(cn=", "(uid=user."][at % 2];
        assert!(filter.starts_with(beginning), "{at}: {filter}");
    }
}

#[test]
fn a_bind_says_who_and_which_version() {
    let people = people(Profile::Small, 5);
    let responder = Responder::right(&people);
    let steps = json!([
        {"op": "connect"},
        {"op": "bind", "dn": "cn=admin", "password": "secret", "version": 2},
        {"op": "unbind"}]);
    run(&config(responder.address, "sequence", steps), Some(&people), 1, 30);
    let messages = responder.seen.messages.lock().unwrap();
    assert_eq!(messages[0], b"\x30\x1a\x02\x01\x01\x60\x15\x02\x01\x02\x04\x08cn=admin\x80\x06secret");
    // The next connection may be read before the goodbye of this one.
    assert!(messages.contains(&b"\x30\x05\x02\x01\x02\x42\x00".to_vec()));
}

fn refusal(change: impl Fn(&mut Value), with_people: bool) -> String {
    let people = people(Profile::Small, 5);
    let mut config = config("127.0.0.1:9".parse().unwrap(), "lookup", lookups(5));
    change(&mut config);
    let engine = try_start(&config, with_people.then_some(&people));
    engine.err().unwrap_or_else(|| panic!("{config} starts")).to_string()
}

fn step_refusal(step: Value) -> String {
    refusal(|config| config["programs"][0]["steps"] = session(5, json!([step])), true)
}

#[test]
fn what_cannot_be_run_is_refused_with_the_reason_and_the_remedy() {
    let empty = refusal(|_| (), false);
    assert!(empty.contains("there are no people to pick from: give the engine a population"), "{empty}");
    for (step, expected) in [
        (json!({"op": "lookup", "person": "new"}), "no \"add\" of \"new\""),
        (json!({"op": "lookup", "person": "random", "refresh_minutes": 5}), "only ILS does"),
        (json!({"op": "bind", "password": "x".repeat(16 << 20)}), "16 MiB"),
        (json!({"op": "bind", "version": 4}), "\"version\" is 4"),
        (json!({"op": "modify", "person": "random", "changes": []}), "\"changes\" is empty"),
        (json!({"op": "search", "base": "", "filter": "(cn=x"}), "filter \"(cn=x\""),
        (json!({"op": "compare", "person": "random", "attribute": "shoeSize"}), "no attribute \"shoeSize\""),
    ] {
        let error = step_refusal(step);
        assert!(error.contains("program \"p\"") && error.contains(expected), "{error}");
    }
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
