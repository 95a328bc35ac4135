//! The built-in workloads, which are scenario files, compile to the programs in `workloads.txt`.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use files::FileSet;
use serde_json::json;

use super::ask::{Ask, Status, Statuses};
use super::request::Request;
use super::target::{SECURE, Target};
use super::{Requests, VisitorColumns};
use crate::config::KeysConfig;
use crate::fill::Tables;
use crate::program::{Branch, ProgramSpec, SEQUENCE, Step};
use crate::scenario_spec::ScenarioSpec;
use crate::scripted;

/// For each workload its name, and a line per kind of request: its row, its cards and its request.
const BEFORE: &str = include_str!("../../tests/load/http/workloads.txt");

fn program(name: &str, text: String) -> ProgramSpec<Request> {
    let programs = json!({
        "cgi-env": "/cgi-bin/env",
        "cgi": "/cgi-bin/program?size={size}&content={content}",
        "inprocess": "/dynamic?size={size}&content={content}",
        "page": "/page?size={size}",
        "template": "/template/{copy}?size={size}",
        "fastcgi": "/fastcgi?size={size}&content={content}",
    });
    let spec: ScenarioSpec =
        serde_json::from_value(json!({"name": name, "text": text, "programs": programs, "classes": true}))
            .unwrap();
    let mut target = Target::any();
    target.connect_as(&spec).unwrap();
    assert!(target.http10 && !target.keepalive, "{name}");
    let classes = classes().map(|name| json!({"name": name, "sizes": [1]})).collect::<Vec<_>>();
    target.files =
        Some(serde_json::from_value(json!({"name": "set", "seed": 1, "classes": classes})).unwrap());
    let files = target.files.clone().map(|files| FileSet::new(files).unwrap());
    let people = Arc::new(VisitorColumns::new(None, 1));
    let (files, next) = (files.as_ref(), Cell::default());
    let lower = Requests { target: &target, files, people, has_visitors: false, is_any: false, next };
    let program = scripted::convert(&lower, &spec, 0, &Tables::default(), KeysConfig::default(), 1);
    program.unwrap_or_else(|problem| panic!("{name}: {problem}")).0
}

/// The file classes of the workloads; the set of this test has one file per class.
fn classes() -> impl Iterator<Item = &'static str> {
    let names: BTreeSet<_> = BEFORE.lines().filter_map(|line| Some(line.split_once(" file ")?.1)).collect();
    names.into_iter()
}

/// The endpoint of a step, and its request line.
fn target(step: &Request) -> (usize, String) {
    match step {
        Request::File(_, file) => {
            let class = classes().nth(usize::try_from(file.files.start).unwrap()).unwrap();
            (usize::from(file.secure), format!("file {class}"))
        }
        Request::Ask(_, ask) => (usize::from(ask.host.secure), line(ask)),
    }
}

fn line(ask: &Ask) -> String {
    let head = String::from_utf8(ask.head.literal().unwrap().to_vec()).unwrap();
    let mut lines = head.lines();
    let request = lines.next().unwrap().strip_suffix(" HTTP/1.0").unwrap().to_owned();
    assert_eq!(lines.collect::<Vec<_>>(), ["Host: localhost"], "no other header lines");
    assert_eq!((&ask.tail[..], ask.body.is_none()), (&b"\r\n"[..], true));
    assert!(!ask.keeps_cookies && ask.needs.is_empty() && ask.contains.is_empty() && ask.identity.is_none());
    let Statuses::Any(statuses) = &ask.statuses else { panic!("no statuses") };
    let [Status::Code(status)] = statuses[..] else { panic!("{statuses:?}") };
    format!(
        "{request} {status} {}",
        ask.length.map_or_else(|| "None".to_owned(), |length| length.to_string())
    )
}

fn card(branch: &Branch<Request>) -> String {
    let [step] = &branch.steps[..] else { panic!("{branch:?}") };
    let (name, (endpoint, line)) = match step {
        Step::Request { name, request } => (name, target(request)),
        Step::Deck { branches } => {
            let one = |branch: &Branch<Request>| match &branch.steps[..] {
                [Step::Request { name, request }] if branch.weight == 1 => (name.clone(), target(request)),
                other => panic!("{other:?}"),
            };
            let all: Vec<_> = branches.iter().map(one).collect();
            let ((name, (endpoint, first)), (_, (_, last))) = (&all[0], &all[all.len() - 1]);
            let [path, status, length] =
                last.strip_prefix("GET ").unwrap().splitn(3, ' ').collect::<Vec<_>>()[..]
            else {
                panic!("{last}")
            };
            let (first, same) = first.split_at(first.len() - status.len() - length.len() - 2);
            assert!(
                last.ends_with(same)
                    && all.iter().all(|request| request.0 == *name && request.1.0 == *endpoint)
            );
            let what = format!("{first} to {path}, {}{same}", all.len());
            return format!("{name} {} http {what}", branch.weight);
        }
        other => panic!("{other:?}"),
    };
    let scheme = if endpoint == SECURE { "https" } else { "http" };
    format!("{name} {} {scheme} {line}", branch.weight)
}

#[test]
fn built_in_workloads_compile_to_the_same_programs_as_in_earlier_versions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../web_bench/workloads");
    let mut now = HashMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let program = program(&name, fs::read_to_string(&path).unwrap());
        assert_eq!((&program.name, program.counts.as_deref()), (&name, Some(SEQUENCE)));
        let [Step::Deck { branches }] = &program.steps[..] else { panic!("{:?}", program.steps) };
        now.insert(name, branches.iter().map(card).collect::<Vec<_>>());
    }
    let mut workloads = 0;
    for before in BEFORE.split('[').skip(1) {
        let (name, lines) = before.split_once("]\n").unwrap();
        assert_eq!(now[name], lines.lines().collect::<Vec<_>>(), "{name}");
        workloads += 1;
    }
    assert_eq!((workloads, now.len()), (18, 18));
}
