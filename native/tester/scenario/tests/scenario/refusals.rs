//! Refused scenarios, with their messages.

use crate::header;

fn problems(text: &str) -> String {
    scenario::read_with(text, &header).map_or_else(|error| error.to_string(), |_| "nothing".to_owned())
}

/// Reads every case of `refused.txt`: the lines after `=> ` are the message for the lines before.
#[test]
fn a_scenario_error_is_reported_with_its_position() {
    let cases = include_str!("../refused.txt");
    let mut differ = String::new();
    for case in cases.split("\n## ").skip(1) {
        let (title, lines) = case.split_once('\n').unwrap();
        let (expected, file): (Vec<_>, Vec<_>) = lines.lines().partition(|line| line.starts_with("=> "));
        let file = file.join("\n");
        let expected: Vec<_> = expected.iter().map(|line| &line[3..]).collect();
        let actual = problems(&file);
        if actual != expected.join("\n") {
            differ.push_str(&format!("## {title}\n{file}\n=> {}\n", actual.replace('\n', "\n=> ")));
        }
    }
    assert!(differ.is_empty(), "the messages are:\n{differ}");
}

#[test]
fn a_step_with_more_than_64_captures_is_refused() {
    let captures = |count| (1..=count).map(|n| format!("capture.c{n} = 'sn'\n")).collect::<String>();
    let file = |count| format!("[[operation]]\nsearch = '(cn=a)'\n{}", captures(count));
    assert!(!problems(&file(64)).contains("captures"));
    assert_eq!(problems(&file(65)), "3:1: operation[1].capture: has more than 64 captures");
}
