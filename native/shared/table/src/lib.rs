//! Rows of a CSV file, validated once and stored in one buffer, with four more bytes per cell.
//!
//! ```
//! use table::{Form, Table};
//!
//! let csv = b"uid,mail\r\njsmith,j@example.com\r\n\"Smith, \"\"Ann\"\"\",a@example.com\r\n";
//! let table = Table::parse(csv.to_vec(), &Form::default(), |_, _| Ok(()))?;
//! assert_eq!(table.columns(), ["uid", "mail"]);
//! assert_eq!(table.rows(), 2);
//! assert_eq!(table.cell(1, 0), Some(&b"Smith, \"Ann\""[..]));
//! # Ok::<(), table::TableError>(())
//! ```
//!
//! # Format
//!
//! RFC 4180 in UTF-8, with or without a byte order mark. A separator is any ASCII character but a quote and
//! the ends of lines. Lines end with CR LF or LF, except possibly the last line; empty lines are skipped. A
//! quote inside an unquoted cell is an ordinary character, as in most readers.
//!
//! # Storage
//!
//! Each cell is moved, without its quotes, to the end of the previous cell. So the end of a cell is the
//! start of the next, and one `u32` per cell gives both.
//!
//! # Limits
//!
//! [`MAX_BYTES`], [`MAX_COLUMNS`] and [`MAX_CELLS`]. Time is linear in the file's length. Memory is the file's
//! length and four bytes per cell.

mod error;
mod read;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

pub use error::{Problem, ReadError, TableError};
use read::Reader;

/// Offsets have 32 bits.
pub const MAX_BYTES: u64 = u32::MAX as u64;
/// Far more columns than in files that people write. A first line that is not a list of columns exceeds the
/// limit.
pub const MAX_COLUMNS: usize = 1_000;
/// The offsets of this many cells take 800 MB. A large file that consists of separators exceeds the limit.
pub const MAX_CELLS: usize = 200_000_000;

/// Nearly every first line is shorter.
const FIRST_BYTES: u64 = 64 << 10;

/// The dialect of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// ASCII.
    pub separator: u8,
    /// The names of the columns, if the file has no header line.
    pub columns: Option<Vec<String>>,
}

impl Default for Form {
    fn default() -> Self {
        Self { separator: b',', columns: None }
    }
}

/// The first line that is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// From 1.
    pub line: u64,
    pub fields: Vec<String>,
}

impl Head {
    /// Reads the head of a file; `None` if the file is empty.
    pub fn read(path: &Path, separator: u8) -> Result<Option<Self>, ReadError> {
        let mut start = content(path, FIRST_BYTES)?;
        // Only whole lines are parsed. A row that is complete within these lines is the same row in the whole
        // file.
        start.truncate(memchr::memrchr(b'\n', &start).map_or(0, |last| last + 1));
        if let Ok(Some(head)) = Self::parse(start, separator) {
            return Ok(Some(head));
        }
        Self::parse(content(path, MAX_BYTES)?, separator).map_err(|error| error.of(path))
    }

    /// Like [`Head::read`], but reads a text.
    pub fn parse(text: Vec<u8>, separator: u8) -> Result<Option<Self>, TableError> {
        let mut reader = Reader::new(text, separator)?;
        let found = reader.next(MAX_COLUMNS)?;
        Ok(found.then(|| Self { line: reader.line(), fields: reader.fields() }))
    }
}

/// Rows of cells, each of which is UTF-8.
#[derive(Debug)]
pub struct Table {
    columns: Vec<String>,
    /// The text of all cells, concatenated.
    text: Vec<u8>,
    ends: Vec<u32>,
}

impl Table {
    /// Reads a file. `check` returns the error of a cell in a column, as "message; remedy".
    pub fn read(
        path: &Path,
        form: &Form,
        check: impl FnMut(usize, &[u8]) -> Result<(), String>,
    ) -> Result<Self, ReadError> {
        Self::parse(content(path, MAX_BYTES)?, form, check).map_err(|error| error.of(path))
    }

    /// Like [`Table::read`], but reads a text.
    pub fn parse(
        text: Vec<u8>,
        form: &Form,
        mut check: impl FnMut(usize, &[u8]) -> Result<(), String>,
    ) -> Result<Self, TableError> {
        let mut reader = Reader::new(text, form.separator)?;
        let columns = match &form.columns {
            Some(columns) => columns.clone(),
            None if reader.next(MAX_COLUMNS)? => reader.fields(),
            None => return Err(reader.here(Problem::NoRows)),
        };
        if let Some(at) = twice(&columns) {
            return Err(reader.at_field(at, Problem::Twice(columns[at].clone())));
        }
        let width = columns.len();
        if width == 0 || width > MAX_COLUMNS {
            return Err(reader.here(Problem::Columns));
        }
        while reader.next(width)? {
            reader.keep(width, &mut check)?;
        }
        let (text, ends) = reader.finish()?;
        Ok(Self { columns, text, ends })
    }

    /// The number of rows, at least one.
    pub fn rows(&self) -> usize {
        self.ends.len() / self.columns.len()
    }

    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    #[inline]
    pub fn cell(&self, row: usize, column: usize) -> Option<&[u8]> {
        if column >= self.columns.len() {
            return None;
        }
        let at = row.checked_mul(self.columns.len())?.checked_add(column)?;
        let end = *self.ends.get(at)? as usize;
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.text.get(begin..end)
    }

    /// A digest that is equal only for equal columns: SHA-256 of `name` and of the column's cells, a line
    /// feed before each, in hexadecimal digits.
    pub fn digest(&self, name: &str, column: usize) -> String {
        let mut sha = Sha256::new();
        sha.update(name);
        for row in 0..self.rows() {
            sha.update(b"\n");
            sha.update(self.cell(row, column).unwrap_or_default());
        }
        format!("{:x}", sha.finalize())
    }
}

/// The first column with the name of an earlier column. Columns without a name are ignored.
fn twice(columns: &[String]) -> Option<usize> {
    let mut seen = std::collections::HashSet::new();
    columns.iter().position(|name| !name.is_empty() && !seen.insert(name))
}

/// Reads at most `most` + 1 bytes from the beginning of a file. The file must not exceed [`MAX_BYTES`].
fn content(path: &Path, most: u64) -> Result<Vec<u8>, ReadError> {
    let failed = |source| ReadError::File { path: path.to_owned(), source };
    // The type is checked before the file is opened, because opening a pipe without a writer would wait.
    let found = path.metadata().map_err(failed)?;
    if !found.is_file() {
        return Err(ReadError::NotRegular(path.to_owned()));
    }
    let too_long = || ReadError::TooLong(path.to_owned());
    if found.len() > MAX_BYTES {
        return Err(too_long());
    }
    let mut text = Vec::with_capacity(found.len().min(most) as usize + 1);
    // One byte more than the limit shows that the file has grown.
    File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut text)).map_err(failed)?;
    if text.len() as u64 > MAX_BYTES { Err(too_long()) } else { Ok(text) }
}
