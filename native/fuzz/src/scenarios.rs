//! Scenario files: a refused file has an error position within its text; an accepted file is complete, and
//! compiles to programs or is refused.

use std::collections::HashSet;
use std::sync::Arc;

use load::{ScenarioSpec, Tables, check_scenario};
use scenario::{Part, Rows, Scenario, Template, read};
use serde_json::json;
use table::{Form, Table};

use crate::cost;

/// Reading looks up every key of the file, and explains every problem.
const READING_NS: u64 = 5_000;

/// A short file can become long: substitution makes values of up to 1 MiB of text each.
const CHECKING_NS: u64 = 2_000_000;

/// The columns of data files for which the scenario names no columns: the columns used in the corpus.
const COLUMNS: [&str; 8] = ["uid", "user", "password", "name", "expected", "mail", "dn", "id"];

pub(crate) fn target(text: &[u8]) {
    cost::bounded(reads, READING_NS, text);
    cost::bounded(checks, CHECKING_NS, text);
}

/// Compiles a file's programs, as a command does before it runs them.
fn checks(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(scenario) = read(text) else { return };
    let env: serde_json::Map<_, _> =
        scenario.variables.iter().map(|name| (name.clone(), json!("cn=x,o=y"))).collect();
    let spec = json!({"name": "mix", "text": text, "base": "o=x", "env": env});
    let spec: ScenarioSpec = serde_json::from_value(spec).expect("a scenario's name and text");
    let result = check_scenario(&spec, &tables(&scenario));
    assert!(result.is_ok() || result.is_err_and(|problems| !problems.shown.is_empty()));
}

/// Makes two rows for each of the scenario's data files.
fn tables(scenario: &Scenario) -> Tables {
    let files = scenario.data.iter().filter(|data| matches!(data.rows, Rows::File { .. }));
    let tables = files.map(|data| {
        let columns = data.columns.clone().unwrap_or_else(|| COLUMNS.map(str::to_owned).into());
        let row = vec!["1"; columns.len()].join(",") + "\n";
        let form = Form { columns: Some(columns), ..Form::default() };
        Some((data.name.clone(), Arc::new(Table::parse(row.repeat(2).into(), &form, |_, _| Ok(())).ok()?)))
    });
    tables.flatten().collect()
}

fn reads(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    match read(text) {
        Ok(scenario) => {
            let names: HashSet<_> = scenario.operations.iter().map(|operation| &operation.name).collect();
            assert_eq!(names.len(), scenario.operations.len(), "operations have names of their own");
            assert!(scenario.operations.iter().all(|operation| !operation.steps.is_empty()));
            for draw in &scenario.draws {
                let operation = draw.block.operation.map(|operation| &scenario.operations[operation]);
                assert!(operation.is_some() || !scenario.start.is_empty(), "a block is a part of the file");
            }
        }
        Err(problems) => {
            assert!(!problems.shown.is_empty());
            for problem in &problems.shown {
                let line = text.split('\n').nth(problem.line - 1).expect("the line of a problem");
                assert!(problem.column <= line.chars().count() + 1, "{problem:?}");
                assert!(!problem.to_string().contains(char::is_control), "{problem:?}");
            }
        }
    }
}

pub(crate) fn templates(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    match Template::read(text) {
        Ok(template) => {
            assert_eq!(template.to_string(), text, "a template is displayed as it was written");
            let texts =
                template.parts.windows(2).filter(|pair| matches!(pair, [Part::Text(_), Part::Text(_)]));
            assert_eq!(texts.count(), 0, "no two texts stand side by side");
        }
        Err(error) => assert!(text[error.at..].starts_with('{'), "{error:?}"),
    }
}
