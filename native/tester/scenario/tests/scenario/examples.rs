//! The examples of the scenario format are read, and each name is drawn in its block.

use std::fs;

use scenario::{Drawn, Scenario};

use crate::{folder, header};

fn example(name: &str) -> Scenario {
    let text = fs::read_to_string(folder().join(name).with_extension("toml")).unwrap();
    scenario::read_with(&text, &header).unwrap_or_else(|problems| panic!("{name}: {problems}"))
}

/// Named values and rows, as `name at block`.
fn draws(scenario: &Scenario) -> Vec<String> {
    let named = scenario.draws.iter().filter_map(|draw| match &draw.what {
        Drawn::Value(name) | Drawn::Row(name) => Some((name, scenario.block_name(&draw.block))),
        Drawn::Generator(_) => None,
    });
    let mut all: Vec<_> = named.map(|(name, block)| format!("{name} at {block}")).collect();
    all.sort();
    all
}

/// Generators, as `{field} at block`.
fn generators(scenario: &Scenario) -> Vec<String> {
    let generators = scenario.draws.iter().filter_map(|draw| match &draw.what {
        Drawn::Generator(field) => Some(format!("{field} at {}", scenario.block_name(&draw.block))),
        _ => None,
    });
    generators.collect()
}

/// The block in which each name is drawn, as a trial of the file by `sitebench` prints it.
const DRAWS: [(&str, &[&str]); 20] = [
    ("add", &["newcomer at add"]),
    ("authrate", &["number at authentication"]),
    ("connect", &[]),
    ("ecommerce-cgi", &[]),
    ("everything-ldap", &["account at all", "cn at all", "team at all"]),
    ("ils-user", &["other at ils-user > repeat 3", "self at ils-user"]),
    ("login-csrf", &["account at session"]),
    ("login-once", &[]),
    ("logins", &["account at login"]),
    ("lookup", &["person at lookup"]),
    ("mix-90-10", &["person at modify", "person at search"]),
    ("opendj-benchmark", &["left at entry-life", "mail at entry-life"]),
    ("paging", &["person at group check"]),
    ("paths", &["page at page"]),
    (
        "ps-5-91-4",
        &[
            "accent at page-and-update",
            "colour at page-and-update",
            "newcomer at create",
            "owner at page-and-update",
            "visitor at page",
        ],
    ),
    ("register", &["newcomer at register"]),
    ("search-and-mod-rate", &["number at search-and-modify"]),
    ("searchrate", &["number at search"]),
    ("sssd-login", &["account at login"]),
    ("webbench1-heavy", &[]),
];

#[test]
fn each_name_of_an_example_is_drawn_in_the_smallest_enclosing_block() {
    for (name, expected) in DRAWS {
        assert_eq!(draws(&example(name)), expected, "{name}");
    }
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let scenarios = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    assert_eq!(scenarios.count(), DRAWS.len());
}

#[test]
fn an_inline_generator_is_drawn_for_its_block() {
    assert_eq!(generators(&example("login-csrf")), ["{random:1..500} at session > repeat 4"]);
    assert_eq!(
        generators(&example("search-and-mod-rate")),
        ["{random:12:a-j} at search-and-modify > repeat 2"]
    );
    assert_eq!(generators(&example("login-once")), ["{random:1..1000} at order"]);
    assert!(generators(&example("opendj-benchmark")).is_empty(), "a value's own are part of it");
}
