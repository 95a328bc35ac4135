//! What of a scenario no lane could run, and where it stands.

use scenario::{Block, Problems, Template, problem_at};

/// What compiling a part of a scenario comes to.
pub(crate) type Result<T, E = CompileError> = std::result::Result<T, E>;

/// A mistake in a file whose form is right: in what its fields stand for, or in what a target has.
#[derive(Debug)]
pub(crate) struct CompileError {
    /// The keys of the table that it is in, lists by numbers from 0; none of the file as a whole.
    keys: Vec<String>,
    /// The text that it is in, below those keys.
    text: Option<Template>,
    what: String,
}

impl CompileError {
    /// Says in which table the mistake is, unless that was said nearer to it.
    pub(crate) fn at<const N: usize>(mut self, keys: [&str; N]) -> Self {
        if self.keys.is_empty() {
            self.keys = keys.map(str::to_owned).into();
        }
        self
    }

    /// Says in which step the mistake is, the `number`th of a block.
    pub(crate) fn at_step(mut self, block: &Block, number: usize) -> Self {
        if self.keys.is_empty() {
            let operation = block.operation.map(|operation| ["operation".to_owned(), operation.to_string()]);
            self.keys = operation.map_or_else(|| vec!["start".to_owned()], Vec::from);
            let steps = block.repeats.iter().chain([&number]);
            self.keys.extend(steps.flat_map(|step| ["step".to_owned(), step.to_string()]));
        }
        self
    }

    /// Says in which text the mistake is.
    pub(crate) fn of(mut self, text: &Template) -> Self {
        self.text.get_or_insert_with(|| text.clone());
        self
    }

    /// The mistake with its line and column in the file.
    pub(crate) fn in_file(self, file: &str) -> Problems {
        problem_at(file, &self.keys, self.text.as_ref(), self.what)
    }
}

impl<T: Into<String>> From<T> for CompileError {
    fn from(what: T) -> Self {
        Self { keys: Vec::new(), text: None, what: what.into() }
    }
}
