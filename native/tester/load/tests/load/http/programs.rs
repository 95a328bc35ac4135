//! Files, programs and paths of a scenario as classes of requests: one deck, and rows under the scenario's
//! name.

use std::collections::BTreeMap;

use load::Snapshot;
use serde_json::json;

use super::files::file_set;
use super::harness::failures;
use super::scenarios::{Server, ok};
use crate::job::Job;

const PROGRAMS: &str = "
headers.X-Test = 'a b'
connection.main.http = '1.0'
[[operation]]
weight = 60
program = 'cgi'
size = 5
content = 'random'
[[operation]]
name = 'other'
weight = 20
program = 'template'
size_about = 70
[[operation]]
weight = 20
get = '/a%20b?c=1'
expect.status = [200, 304]
";

/// A scenario for a target with two programs, whose operations are classes of requests.
fn programs(port: u16, text: &str) -> Job {
    let programs = json!({"cgi": "/cgi?size={size}&kind={content}", "template": "/copy/{copy}/{size}"});
    Job::site(port, text).scenario(json!({"programs": programs, "classes": true}))
}

fn rows(snapshot: &Snapshot) -> BTreeMap<(String, String), u64> {
    let rows = snapshot.steps.iter().filter(|row| row.count > 0);
    rows.map(|row| ((row.program.to_string(), row.step.to_string()), row.count)).collect()
}

#[test]
fn operations_with_one_request_share_a_deck_and_have_their_own_rows() {
    let server = Server::new(|_, _| ok("12345"));
    let snapshot = server.run_job(&programs(server.port, PROGRAMS), 500);
    let (seen, rows) = (server.requests(), rows(&snapshot));
    let of = |name: &str| rows.get(&("mix".to_owned(), name.to_owned())).copied().unwrap_or_default();
    assert_eq!(of("sequence"), seen.len() as u64);
    assert_eq!(of("connect"), seen.len() as u64, "{rows:?}");
    for deck in seen.chunks_exact(5) {
        let asked = |start: &str| deck.iter().filter(|request| request.target.starts_with(start)).count();
        let counts = [asked("/cgi?size=5&kind=random"), asked("/copy/"), asked("/a%20b?c=1")];
        assert_eq!(counts, [3, 1, 1]);
    }
    assert_eq!(of("cgi") + of("other") + of("get"), seen.len() as u64, "{rows:?}");
    assert!(
        seen.iter()
            .all(|request| request.header("X-Test") == Some("a b") && request.header("Cookie").is_none())
    );
    assert!(seen[0].head.contains(" HTTP/1.0\r\n"), "{}", seen[0].head);
    assert_eq!(failures(&[snapshot]), []);
}

#[test]
fn a_hundred_copies_of_a_file_are_requested_equally_often() {
    let server = Server::new(|_, _| ok(""));
    let text = "[[operation]]\nprogram = 'template'\nsize_about = 70";
    for classes in [true, false] {
        let job = programs(server.port, text).scenario(json!({"classes": classes}));
        server.forget_requests();
        server.run_job(&job, 200);
        let mut first: Vec<_> =
            server.requests().iter().take(100).map(|request| request.target.clone()).collect();
        first.sort();
        let mut all: Vec<_> = (0..100).map(|copy| format!("/copy/{copy}/70")).collect();
        all.sort();
        assert_eq!(first, all, "classes: {classes}");
    }
}

#[test]
fn the_answer_of_a_program_must_have_the_requested_size() {
    let server = Server::new(|_, _| ok("1234"));
    let snapshot = server.run_job(&programs(server.port, PROGRAMS), 50);
    let wrong: Vec<_> = snapshot.steps.iter().filter(|row| !row.failures.is_empty()).collect();
    assert!(wrong.iter().all(|row| ["cgi", "sequence", "request"].contains(&&*row.step)), "{wrong:?}");
    let cgi = wrong.iter().find(|row| &*row.step == "cgi").unwrap();
    assert_eq!(cgi.failures[0].0, "wrong-length");
    assert!(format!("{:?}", cgi.examples).contains("GET /cgi?size=5&kind=random"), "{:?}", cgi.examples);
}

#[test]
fn operations_with_substituted_values_have_their_own_rows() {
    let server = Server::new(|_, _| ok("12345"));
    for (more, steps) in [
        ("", "[[operation]]\nname = 'two'\nstep = [{ program = 'cgi', size = 5 }, { get = '/' }]"),
        ("data.page.values = ['/a', '/b']\n", "[[operation]]\nname = 'two'\nget = '{page}'"),
        ("", "[[operation]]\nname = 'two'\nget = '/'\nheaders.X = '{random:3}'"),
        ("", "[[operation]]\nname = 'two'\ncounts = 'get'\nstep = [{ get = '/' }]"),
        ("start.step = [{ get = '/' }]\n", "[[operation]]\nname = 'two'\nget = '/'"),
        // Results use this name for the opening of connections.
        ("", "[[operation]]\nname = 'connect'\nget = '/'"),
    ] {
        server.forget_requests();
        let snapshot = server.run_job(&programs(server.port, &format!("{more}{steps}")), 4);
        let rows = rows(&snapshot);
        let name = if steps.contains("two") { "two" } else { "connect" };
        assert!(rows.contains_key(&(name.to_owned(), "sequence".to_owned())), "{steps}: {rows:?}");
        assert!(!rows.contains_key(&("mix".to_owned(), "sequence".to_owned())), "{steps}: {rows:?}");
    }
}

#[test]
fn the_keepalive_option_overrides_a_scenario_file_that_closes_connections() {
    for classes in [true, false] {
        let server = Server::new(|_, _| ok("12345"));
        let job = programs(server.port, PROGRAMS).scenario(json!({"classes": classes, "keepalive": true}));
        let snapshot = server.run_job(&job, 50);
        let rows = rows(&snapshot);
        let connects = rows.iter().filter(|((_, step), _)| step.ends_with("connect"));
        assert_eq!(connects.map(|(_, count)| count).sum::<u64>(), 1, "classes: {classes}: {rows:?}");
        assert!(server.requests()[0].head.contains(" HTTP/1.1\r\n"));
    }
}

#[test]
fn requests_for_files_have_the_common_header_lines_of_the_scenario() {
    let set = file_set();
    let path = |number| set.file(number).unwrap().path();
    let file = set.class("large").unwrap().start;
    let server = Server::new(|_, _| ok("another"));
    let text = format!("headers.X-Test = 'a b'\n{}[[operation]]\nfile = 'large'", super::files::SET);
    let job = programs(server.port, &text).target(json!({"files": super::files::spec()}));
    let snapshot = server.run_job(&job, 5);
    let seen = server.requests();
    assert!(
        seen.iter().all(|request| request.target == path(file) && request.header("X-Test") == Some("a b"))
    );
    let rows = rows(&snapshot);
    assert!(rows[&("mix".to_owned(), "large".to_owned())] >= 5, "{rows:?}");

    let text = text.replace("'a b'", "'{uuid}'");
    let problem = job.scenario(json!({"text": text})).refusal();
    assert!(problem.contains("files are asked for without"), "{problem}");
}

#[test]
fn the_refusal_of_a_program_missing_at_the_target_names_its_kind() {
    for classes in [true, false] {
        let job = programs(1, "[[operation]]\nprogram = 'fastcgi'\nsize = 3");
        let problem = job.scenario(json!({"classes": classes})).refusal();
        assert!(problem.contains("the target has no program \"fastcgi\""), "{problem}");
    }
}

#[test]
fn an_invalid_path_of_a_program_is_refused() {
    for (path, expected) in [
        ("cgi?size={size}", "does not begin with /"),
        ("/a b", "write ' ' as %20"),
        ("/a HTTP/1.0\r\nX: y", "write ' ' as %20"),
        ("/a\r\nX:y", "write '\\r' as %0D"),
        ("/copy/{copy}#{size}", "write '#' as %23"),
    ] {
        for classes in [true, false] {
            let changes = json!({"programs": {"cgi": path}, "classes": classes});
            let problem = programs(1, PROGRAMS).scenario(changes).refusal();
            assert!(problem.contains("program \"cgi\"") && problem.contains(expected), "{problem}");
        }
    }
}
