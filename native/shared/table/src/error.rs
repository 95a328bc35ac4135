//! Errors of tables.

use std::io;
use std::path::{Path, PathBuf};

/// An error in a text, with the line and the column that an editor shows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct TableError {
    pub line: u64,
    /// In characters, from 1.
    pub column: u64,
    pub problem: Problem,
}

impl TableError {
    pub(crate) fn of(self, path: &Path) -> ReadError {
        ReadError::Content { path: path.to_owned(), error: self }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("over {max} bytes; split the file", max = super::MAX_BYTES)]
    TooLong,
    #[error("over {max} cells; split the file", max = super::MAX_CELLS)]
    TooManyCells,
    #[error("{0:?} cannot separate cells; use one ASCII character, such as ',' ';' or a tab")]
    Separator(char),
    #[error("not UTF-8; save the file as UTF-8")]
    NotUtf8,
    #[error("the columns are not 1 to {max}; is this CSV?", max = super::MAX_COLUMNS)]
    Columns,
    #[error("a second column {0:?}; give each a name of its own")]
    Twice(String),
    #[error("the line ends after {found} of {expected} fields; give each line as many fields")]
    TooFew { found: usize, expected: usize },
    #[error("a field more than the {0} expected; put cells that hold the separator in quotes")]
    TooMany(usize),
    #[error("a quote without an end; close it, and double a quote that belongs to the cell (RFC 4180)")]
    OpenQuote,
    /// Text between a closing quote and the next separator.
    #[error(
        "text behind a closing quote, where a separator was expected; double a quote that belongs to the cell \
         (RFC 4180)"
    )]
    BehindQuote,
    #[error("a carriage return without a line feed; end lines with CR LF or LF, or put the cell in quotes")]
    CarriageReturn,
    #[error("the file ends without a row; write a row in each line")]
    NoRows,
    #[error("{0}")]
    Cell(String),
}

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// A pipe, a folder or a device.
    #[error("{} is no regular file; write the rows into one, as it is read again", .0.display())]
    NotRegular(PathBuf),
    #[error("{} has over {max} bytes; split it", .0.display(), max = super::MAX_BYTES)]
    TooLong(PathBuf),
    #[error("{}, {error}", path.display())]
    Content { path: PathBuf, error: TableError },
}
