//! Errors of a scenario that no lane could run, with their place in the file.

use scenario::{Block, Problems, Template, problem_at};

pub(crate) type Result<T, E = CompileError> = std::result::Result<T, E>;

/// An error in a file whose form is right: the value of a field is wrong, or the target lacks something.
#[derive(Debug)]
pub(crate) struct CompileError {
    /// The keys of the table with the error; list indexes count from 0. Empty for the file as a whole.
    keys: Vec<String>,
    /// The text with the error, below those keys.
    text: Option<Template>,
    message: String,
}

impl CompileError {
    /// Adds the table of the error, unless the place is already known more exactly.
    pub(crate) fn at<const N: usize>(mut self, keys: [&str; N]) -> Self {
        if self.keys.is_empty() {
            self.keys = keys.map(str::to_owned).into();
        }
        self
    }

    /// Adds the step of the error: step `number` of a block.
    pub(crate) fn at_step(mut self, block: &Block, number: usize) -> Self {
        if self.keys.is_empty() {
            let operation = block.operation.map(|operation| ["operation".to_owned(), operation.to_string()]);
            self.keys = operation.map_or_else(|| vec!["start".to_owned()], Vec::from);
            let steps = block.repeats.iter().chain([&number]);
            self.keys.extend(steps.flat_map(|step| ["step".to_owned(), step.to_string()]));
        }
        self
    }

    /// Adds the text of the error.
    pub(crate) fn of(mut self, text: &Template) -> Self {
        self.text.get_or_insert_with(|| text.clone());
        self
    }

    /// The error with its line and column in the file.
    pub(crate) fn in_file(self, file: &str) -> Problems {
        problem_at(file, &self.keys, self.text.as_ref(), self.message)
    }
}

impl<T: Into<String>> From<T> for CompileError {
    fn from(message: T) -> Self {
        Self { keys: Vec::new(), text: None, message: message.into() }
    }
}
