//! Examples of failures in words: for each step and kind of failure the first request and its answer.

use crate::record::failure::Failure;
use crate::record::recorder::Slot;

/// Longer texts are cut: an answer may be a whole page.
const MOST_CHARACTERS: usize = 300;

/// The first failure of its kind in a step since the last drain.
#[derive(Debug)]
pub(crate) struct Example {
    pub(crate) slot: Slot,
    pub(crate) failure: Failure,
    pub(crate) text: String,
}

#[derive(Debug, Default)]
pub(crate) struct Examples(Vec<Example>);

impl Examples {
    /// Keeps the text of `describe`, if this is the first failure of its kind.
    pub(crate) fn keep(&mut self, slot: Slot, failure: Failure, describe: impl FnOnce() -> String) {
        // A linear search suffices: kinds are few, and failures are rarer than answers.
        if !self.0.iter().any(|example| example.slot == slot && example.failure == failure) {
            let text = describe().chars().take(MOST_CHARACTERS).collect();
            self.0.push(Example { slot, failure, text });
        }
    }

    /// Removes and returns the examples.
    pub(crate) fn take(&mut self) -> Vec<Example> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_example_of_each_kind_is_stored_until_it_is_reported() {
        let mut examples = Examples::default();
        for text in ["GET /a: 404", "GET /b: 404"] {
            examples.keep(Slot(1), Failure::Status(404), || text.to_owned());
        }
        examples.keep(Slot(2), Failure::Status(404), || "GET /c: 404".to_owned());
        let texts: Vec<_> = examples.take().into_iter().map(|each| each.text).collect();
        assert_eq!(texts, ["GET /a: 404", "GET /c: 404"]);
        examples.keep(Slot(1), Failure::Status(404), || "GET /d: 404".to_owned());
        assert_eq!(examples.take().len(), 1);
        assert!(examples.take().is_empty());
    }

    #[test]
    fn an_example_contains_the_beginning_of_its_text() {
        let mut examples = Examples::default();
        examples.keep(Slot(1), Failure::Malformed, || format!("é{}", "x".repeat(1_000)));
        let [Example { text, .. }] = &examples.take()[..] else { panic!("one example") };
        assert!(text.starts_with("éx"));
        assert_eq!(text.chars().count(), MOST_CHARACTERS);
    }
}
