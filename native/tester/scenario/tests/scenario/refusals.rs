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

#[test]
fn a_step_with_more_than_64_captures_is_refused() {
    let captures = |count| (1..=count).map(|n| format!("capture.c{n} = 'sn'\n")).collect::<String>();
    let file = |count| format!("[[operation]]\nsearch = '(cn=a)'\n{}", captures(count));
    assert!(!said(&file(64)).contains("captures"));
    assert_eq!(said(&file(65)), "3:1: operation[1].capture: has more than 64 captures");
}
