//! The problems of a file, with their positions.

use std::cell::RefCell;
use std::fmt;

/// The most problems shown per file.
pub const MOST_PROBLEMS: usize = 10;

/// The longest piece of a file that a message repeats, in characters.
const LONGEST_QUOTE: usize = 60;

/// The offset of a problem of the whole file.
pub(crate) const ROOT: usize = usize::MAX;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The number of the line, from 1.
    pub line: usize,
    /// The number of the character in the line, from 1.
    pub column: usize,
    /// The key, such as `operation[2].expect.entries`; lists count from 1. Empty for the file as a whole.
    pub path: String,
    /// The message, with the allowed values.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.what)
    }
}

/// The problems of a file that is not a valid scenario, in their order, [`MOST_PROBLEMS`] at most.
///
/// They may hide further problems: names are only checked if all keys are right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// The shown problems, never empty.
    pub shown: Vec<Problem>,
    pub more: bool,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, problem) in self.shown.iter().enumerate() {
            write!(f, "{}{problem}", if n == 0 { "" } else { "\n" })?;
        }
        if self.more { f.write_str("\nand more") } else { Ok(()) }
    }
}

impl std::error::Error for Problems {}

/// Collects problems by byte offset.
#[derive(Debug, Default)]
pub(crate) struct FoundProblems(RefCell<(Vec<(usize, String)>, bool)>);

impl FoundProblems {
    /// Adds a problem. The message is not built if there are enough problems.
    pub(crate) fn push(&self, at: usize, what: impl FnOnce() -> String) {
        let (problems, more) = &mut *self.0.borrow_mut();
        if problems.len() == MOST_PROBLEMS {
            *more = true;
            return;
        }
        let problem = (at, what());
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().0.is_empty()
    }

    /// Whether further problems are dropped, so that further checks are useless.
    pub(crate) fn is_full(&self) -> bool {
        self.0.borrow().1
    }

    /// The problems for readers; `paths` returns the keys at offsets.
    pub(crate) fn into_problems(self, text: &str, paths: impl FnOnce(&[usize]) -> Vec<String>) -> Problems {
        let (mut problems, more) = self.0.into_inner();
        problems.sort_by_key(|(at, _)| *at);
        let paths = paths(&problems.iter().map(|(at, _)| *at).collect::<Vec<_>>());
        let shown = problems.into_iter().zip(paths).map(|((at, what), path)| {
            let (line, column) = if at == ROOT { (1, 1) } else { place(text, at) };
            Problem { line, column, path, what }
        });
        Problems { shown: shown.collect(), more }
    }
}

/// Line and column of a byte offset, both from 1; columns are characters.
fn place(text: &str, at: usize) -> (usize, usize) {
    let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// A quotation from a file in messages: shortened, with control characters escaped.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Joins words: `a, b, c`.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().collect::<Vec<_>>().join(", ")
}

/// `; did you mean "search"?`, or nothing if no known word is near.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}

/// The known word with the smallest edit distance, if the distance is small enough.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > LONGEST_QUOTE {
        return None;
    }
    let near = |other: &'a str| {
        if length > 2 && other.starts_with(word) {
            return Some((1, other));
        }
        let allowed = 1 + length.min(other.len()) / 5;
        (other.len() <= LONGEST_QUOTE)
            .then(|| (differences(word, other), other))
            .filter(|(n, _)| *n <= allowed)
    };
    known.into_iter().filter_map(near).min_by_key(|(n, _)| *n).map(|(_, word)| word)
}

/// The edit distance, with transpositions of neighbours (optimal string alignment).
fn differences(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut above: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (row[j - 1] + same).min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(above[j - 2] + 1);
            }
            next.push(least);
        }
        above = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suggested_word_is_the_most_similar_one() {
        let known = ["search", "scope", "attributes", "on"];
        assert_eq!(nearest("serach", known), Some("search"));
        assert_eq!(nearest("atributes", known), Some("attributes"));
        assert_eq!(nearest("Search", known), Some("search"));
        assert_eq!(nearest("telephoneNumber", known), None);
        assert_eq!(nearest(&"s".repeat(1 << 20), known), None);
    }

    #[test]
    fn the_column_of_an_error_counts_characters_and_lines_end_at_newlines() {
        let text = "a\n\u{e9}\u{20ac} x";
        assert_eq!(place(text, text.find('x').unwrap()), (2, 4));
        assert_eq!(place(text, 3), (2, 1), "within a character is at it");
        assert_eq!(place("", 0), (1, 1));
    }

    #[test]
    fn quoted_text_has_no_control_characters_and_a_length_limit() {
        assert_eq!(quoted("a\u{1b}[2J\0\u{202e}"), r#""a\u{1b}[2J\0\u{202e}""#);
        assert_eq!(quoted(&"x".repeat(1000)).len(), LONGEST_QUOTE + 5);
    }
}
