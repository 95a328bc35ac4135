//! Refused scenarios, with their messages.

use std::fs;
use std::path::PathBuf;

use scenario::{Data, Rows};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn said(text: &str) -> String {
    // Returns the first line of a file, like the caller of the reader.
    let header = |data: &Data| {
        let Rows::File { path, separator, header: true } = &data.rows else { return None };
        let text = fs::read_to_string(folder().join("files").join(path)).ok()?;
        Some(text.lines().next()?.split(*separator).map(str::to_owned).collect())
    };
    scenario::read_with(text, &header).map_or_else(|problems| problems.to_string(), |_| "nothing".to_owned())
}

/// Reads every case of `refused.txt`: the lines after `=> ` are the message for the lines before.
#[test]
fn a_scenario_error_is_reported_with_its_position() {
    let cases = fs::read_to_string(folder().join("refused.txt")).unwrap();
    let mut differ = String::new();
    for case in cases.split("\n## ").skip(1) {
        let (title, lines) = case.split_once('\n').unwrap();
        let (expected, file): (Vec<_>, Vec<_>) = lines.lines().partition(|line| line.starts_with("=> "));
        let file = file.join("\n");
        let expected: Vec<_> = expected.iter().map(|line| &line[3..]).collect();
        let said = said(&file);
        if said != expected.join("\n") {
            differ.push_str(&format!("## {title}\n{file}\n=> {}\n", said.replace('\n', "\n=> ")));
        }
    }
    assert!(differ.is_empty(), "said is:\n{differ}");
}

/// The examples of the scenario format, each with one error.
const BROKEN: [(&str, &str, &str, &str); 24] = [
    (
        "mix-90-10",
        "search = ",
        "serach = ",
        "11:1: operation[1].serach: \"serach\" is not a verb; did you mean \"search\"?",
    ),
    (
        "mix-90-10",
        "weight = 90",
        "wieght = 90",
        "10:1: operation[1].wieght: unknown key; did you mean \"weight\"?",
    ),
    (
        "mix-90-10",
        "{person.uid})\"\nexpect",
        "{person.uyd})\"\nexpect",
        "11:16: operation[1].search: {person.uyd}: no such column; did you mean \"uid\"?; person has uid, user, password, name, expected",
    ),
    (
        "mix-90-10",
        "{person.uid})\"\nexpect",
        "{persn.uid})\"\nexpect",
        "11:16: operation[1].search: {persn.uid}: no data is called \"persn\"; did you mean {person.uid}?",
    ),
    (
        "mix-90-10",
        "deal = \"zipfian\"",
        "deal = \"zipf\"",
        "7:8: data.person.deal: is not one of shuffled, in-order, once, exclusive, uniform, zipfian, hotspot, latest; did you mean \"zipfian\"?",
    ),
    (
        "mix-90-10",
        "change.replace.telephoneNumber",
        "change.set.telephoneNumber",
        "17:8: operation[2].change.set: unknown key; known: replace, add, delete, increment",
    ),
    (
        "mix-90-10",
        "{random:10:0-9}",
        "{random}",
        "17:38: operation[2].change.replace.telephoneNumber: write {random:8}, {random:8:0-9} or {random:1..100}",
    ),
    (
        "opendj-benchmark",
        "on = \"user\"",
        "on = \"usr\"",
        "24:89: operation[1].step[5].on: no connection is called \"usr\"; did you mean \"user\"?",
    ),
    ("opendj-benchmark", ", on = \"user\"", "", "9:13: connection.user: no step uses it"),
    (
        "opendj-benchmark",
        ", keep = true",
        "",
        "26:27: operation[1].step[7].add: adds what no step of the operation deletes: write keep = true if it is to stay",
    ),
    (
        "opendj-benchmark",
        "\"{env.ADMIN_PASSWORD}\"",
        "\"secret\"",
        "7:12: connection.admin.password: is a secret in the file: write \"{env.NAME}\", or a column",
    ),
    (
        "opendj-benchmark",
        "name = \"DELETE\"",
        "name = \"ADD\"",
        "25:12: operation[1].step[6].name: two steps called \"ADD\" have different verbs, add and delete",
    ),
    (
        "login-csrf",
        "csrf = \"{csrf}\"",
        "csrf = \"{crsf}\"",
        "13:113: operation[1].step[2].form.csrf: {crsf} is unknown; did you mean {csrf}?",
    ),
    (
        "login-csrf",
        "post = \"/login\"",
        "post = \"/login\", get = \"/\"",
        "13:21: operation[1].step[2].post: has several verbs: post, get",
    ),
    (
        "login-csrf",
        "get = \"/\"",
        "search = \"(a=b)\"",
        "14:23: operation[1].step[3].search: speaks LDAP (search), and the file HTTP (get): write two files",
    ),
    (
        "logins",
        "on = \"login\"",
        "on = \"service\"",
        "24:58: operation[1].step[2].on: a step cannot bind on a connection that users share (RFC 4511 4.2.1)",
    ),
    (
        "logins",
        "pool = 8",
        "pool = 8\nper = \"user\"",
        "12:7: connection.service.per: has both per and pool: a pool lives as long as the run",
    ),
    (
        "ils-user",
        "counts = \"lookup\"",
        "counts = \"look\"",
        "19:10: operation[1].counts: counts \"look\", which is none of its steps; did you mean \"lookup\"?",
    ),
    (
        "webbench1-heavy",
        "file = \"16k\"",
        "file = \"16kb\"",
        "16:25: operation[7].file: no class of [files] is called \"16kb\"; did you mean \"16k\"?",
    ),
    (
        "search-and-mod-rate",
        "repeat = \"found\"",
        "repeat = \"fund\"",
        "19:10: operation[1].step[2].repeat: \"fund\" is neither a number nor a list that was captured before; did you mean \"found\"?",
    ),
    (
        "paging",
        "\">=1000\"",
        "\"many\"",
        "16:18: operation[1].expect.entries: is not a count: write 1, \">=1\", \"<=500\" or \"all\"",
    ),
    (
        "login-once",
        "per = \"user\"",
        "per = \"iteration\"",
        "15:89: start.step[1].json.user: {account} lives for an iteration only, and [start] is before the first; with per = \"user\" a row lives as long as its user\n15:118: start.step[1].json.password: {account} lives for an iteration only, and [start] is before the first; with per = \"user\" a row lives as long as its user",
    ),
    (
        "logins",
        "bind = \"cn=service,dc=example,dc=com\"",
        "bind = \"uid={account.uid},{base}\"",
        "13:13: connection.service.bind: lives longer than {account}: all users share this connection",
    ),
    (
        "login-once",
        "think = \"1s\"",
        "think = \"1 second\"",
        "4:30: load.think: is not a duration: write 500ms, 2s, 10m or 1h, a year at most",
    ),
];

#[test]
fn a_step_with_more_than_64_captures_is_refused() {
    let captures = |count| (1..=count).map(|n| format!("capture.c{n} = 'sn'\n")).collect::<String>();
    let file = |count| format!("[[operation]]\nsearch = '(cn=a)'\n{}", captures(count));
    assert!(!said(&file(64)).contains("captures"));
    assert_eq!(said(&file(65)), "3:1: operation[1].capture: has more than 64 captures");
}

#[test]
fn an_example_with_one_error_is_refused_with_that_error() {
    for (name, old, new, expected) in BROKEN {
        let text = fs::read_to_string(folder().join("files").join(name).with_extension("toml")).unwrap();
        assert!(text.contains(old), "{name}: {old}");
        assert_eq!(said(&text.replacen(old, new, 1)), expected, "{name}: {new}");
    }
}
