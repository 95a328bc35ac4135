//! Scenario files: the steps of users, and the right answers.
//!
//! ```
//! let scenario = scenario::read(r#"
//!     base = "dc=example,dc=com"
//!     data.number.range = [1, 1000]
//!
//!     [[operation]]
//!     search = "(uid=user.{number})"
//!     expect.entries = 1
//! "#)?;
//! assert_eq!(scenario.operations[0].name, "search");
//!
//! let problems = scenario::read("[[operation]]\nserach = \"(uid=a)\"").unwrap_err();
//! let said = r#"2:1: operation[1].serach: "serach" is not a verb; did you mean "search"?"#;
//! assert_eq!(problems.to_string(), said);
//! # Ok::<(), scenario::Problems>(())
//! ```
//!
//! A text is read twice. The first reading checks that every key is in the [form](FORM), and every value is
//! of its key's kind. The second checks that every name is defined, is used, and lives as long as its uses.
//! Nothing here does I/O: the caller may supply the names of a file's columns ([`read_with`]).

mod document;
mod facts;
mod form;
mod grammar;
mod names;
mod problem;
mod reader;
mod schema;
mod shape;
mod template;
mod texts;
mod types;

pub use form::{
    AUTHORIZATION, Answer, FORM, GENERATED, Influence, Key, Kind, Protocol, REQUIRED, VERBS, VerbForm,
};
pub use grammar::stand_for_names;
pub use problem::{MOST_PROBLEMS, Problem, Problems};
pub use reader::MOST_NAMES;
pub use schema::schema;
pub use template::{
    BUILT_IN, Clock, Field, MOST_FIELDS, MOST_RANDOM, Part, Template, TemplateError, characters,
};
pub use texts::{Place, Secrecy, StepText, header_texts, is_named_secret, is_named_secret_on_sites};
pub use types::*;

/// Reads a scenario without the column names of files and people.
pub fn read(text: &str) -> Result<Scenario, Problems> {
    read_with(text, &|_| None)
}

/// Reads a scenario; `columns` returns the column names of a file or of people.
pub fn read_with(text: &str, columns: &dyn Fn(&Data) -> Option<Vec<String>>) -> Result<Scenario, Problems> {
    let problems = problem::FoundProblems::default();
    let Some(document) = document::read(text, &problems) else {
        return Err(problems.into_problems(text, |offsets| vec![String::new(); offsets.len()]));
    };
    let protocol = shape::check(text, &document, &problems);
    let scenario =
        problems.is_empty().then(|| reader::scenario(text, &document, protocol, &problems, columns));
    match scenario.filter(|_| problems.is_empty()) {
        Some(scenario) => Ok(scenario),
        None => Err(problems.into_problems(text, |offsets| document::paths(&document, offsets))),
    }
}

/// A problem that is noticed after reading. Its position is a text below these keys of the file, or the last
/// of these keys that exists.
pub fn problem_at(file: &str, keys: &[String], text: Option<&Template>, what: String) -> Problems {
    let problems = problem::FoundProblems::default();
    let document = document::read(file, &problems).unwrap_or_default();
    problems.push(document::place(&document, keys, text), || what);
    problems.into_problems(file, |offsets| document::paths(&document, offsets))
}
