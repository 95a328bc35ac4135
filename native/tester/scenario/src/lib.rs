//! Scenario files: what users do, and which answers are right.
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
//! A text is read twice. First every key must be one of the [form](FORM), and every value of its kind; then every
//! name must mean something, live as long as what uses it, and be used. Nothing here does I/O: what the columns of a
//! file are called, the caller may say ([`read_with`]).

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

/// Reads a scenario whose columns of files and people are not known.
pub fn read(text: &str) -> Result<Scenario, Problems> {
    read_with(text, &|_| None)
}

/// Reads a scenario; `columns` says what those of a file's header, or of people, are called.
pub fn read_with(text: &str, columns: &dyn Fn(&Data) -> Option<Vec<String>>) -> Result<Scenario, Problems> {
    let found = problem::Found::default();
    let Some(document) = document::read(text, &found) else {
        return Err(found.into_problems(text, |offsets| vec![String::new(); offsets.len()]));
    };
    let protocol = shape::check(text, &document, &found);
    let scenario = found.is_empty().then(|| reader::scenario(text, &document, protocol, &found, columns));
    match scenario.filter(|_| found.is_empty()) {
        Some(scenario) => Ok(scenario),
        None => Err(found.into_problems(text, |offsets| document::paths(&document, offsets))),
    }
}

/// What is wrong with a scenario that was read: in a text below these keys of the file, or in the last of the keys that the
/// file has.
pub fn problem_at(file: &str, keys: &[String], text: Option<&Template>, what: String) -> Problems {
    let found = problem::Found::default();
    let document = document::read(file, &found).unwrap_or_default();
    found.push(document::place(&document, keys, text), || what);
    found.into_problems(file, |offsets| document::paths(&document, offsets))
}
