//! Scenario files: whatever is refused is refused with a place in the text, and whatever is read is whole.

use std::collections::HashSet;

use scenario::{Part, Template, read};

pub(crate) fn target(text: &[u8]) {
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
