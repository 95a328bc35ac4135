//! LDIF, read line by line (RFC 2849).
//!
//! The caller feeds the lines of the file. The parser needs memory for the longest record, whatever the size
//! of the file. A record is borrowed from the parser until the next line is fed.
//!
//! ```
//! use wire::ldif::Parser;
//!
//! let mut parser = Parser::default();
//! let mut names = Vec::new();
//! for line in b"version: 1\n\ndn: o=Intranet\nobjectClass: organization\no: Intranet\n".split(|&b| b == b'\n') {
//!     if let Some(record) = parser.feed(line)? {
//!         assert!(record.entry.is_some());
//!         names.push(record.dn.to_vec());
//!     }
//! }
//! assert!(parser.finish()?.is_none());
//! assert_eq!(names, [b"o=Intranet"]);
//! # Ok::<(), wire::ldif::LdifError>(())
//! ```
//!
//! # Accepted beyond RFC 2849
//!
//! UTF-8 without base64; a byte order mark; carriage returns.
//!
//! # Refused
//!
//! `control:` lines are refused. `:<` with a URL is refused, because a file of entries must not read other
//! files. For changes other than `changetype: add` only the DN is read.

mod error;
mod line;
mod record;

pub use error::{LdifError, Problem};
pub use record::{Attributes, Record};

use line::Line;

/// The longest record: far longer than any accepted LDAP message, and far shorter than the memory that a file
/// without line ends would fill.
pub const MAX_RECORD_BYTES: usize = 16 << 20;

/// Joins lines to records.
#[derive(Debug, Default)]
pub struct Parser {
    /// Physical lines fed so far.
    number: u64,
    /// The current logical line, its number, and its state.
    logical: Vec<u8>,
    logical_number: u64,
    state: State,
    /// Whether a line other than comments and empty lines has been read.
    started: bool,
    /// The lines of the current record.
    lines: Vec<Line>,
    bytes: Vec<u8>,
    /// Whether the record has been returned.
    taken: bool,
}

/// The line that a line with a leading space would continue.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Nothing,
    Line,
    Comment,
}

impl Parser {
    /// Reads the next line, with or without its line end. Returns the record that the line ends.
    pub fn feed(&mut self, line: &[u8]) -> Result<Option<Record<'_>>, LdifError> {
        self.forget_taken();
        self.number += 1;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if self.number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        match line {
            [b' ', more @ ..] => {
                self.extend(more)?;
                return Ok(None);
            }
            [] => {
                self.end_line()?;
                return self.end_record();
            }
            [b'#', ..] => {
                self.end_line()?;
                self.state = State::Comment;
            }
            _ => {
                self.end_line()?;
                self.state = State::Line;
                self.logical_number = self.number;
                self.extend(line)?;
            }
        }
        Ok(None)
    }

    /// Ends the file. Returns the last record, unless `feed` has returned it.
    pub fn finish(&mut self) -> Result<Option<Record<'_>>, LdifError> {
        self.forget_taken();
        self.end_line()?;
        self.end_record()
    }

    fn forget_taken(&mut self) {
        if std::mem::take(&mut self.taken) {
            self.lines.clear();
            self.bytes.clear();
        }
    }

    fn extend(&mut self, more: &[u8]) -> Result<(), LdifError> {
        match self.state {
            State::Comment => Ok(()),
            State::Nothing => Err(Problem::ContinuesNothing.at(self.number)),
            State::Line if self.logical.len() + self.bytes.len() + more.len() > MAX_RECORD_BYTES => {
                Err(Problem::TooLong.at(self.number))
            }
            State::Line => {
                self.logical.extend_from_slice(more);
                Ok(())
            }
        }
    }

    /// Moves the logical line, if there is one, into the record.
    fn end_line(&mut self) -> Result<(), LdifError> {
        if std::mem::take(&mut self.state) != State::Line {
            return Ok(());
        }
        let number = self.logical_number;
        let line =
            Line::read(&self.logical, number, &mut self.bytes).map_err(|problem| problem.at(number))?;
        self.logical.clear();
        let first = !std::mem::replace(&mut self.started, true);
        if first && line.is(&self.bytes, b"version") {
            let version = line.value(&self.bytes);
            if version != b"1" {
                let version = String::from_utf8_lossy(version).into_owned();
                return Err(Problem::Version(version).at(number));
            }
            self.bytes.clear();
            return Ok(());
        }
        self.lines.push(line);
        Ok(())
    }

    fn end_record(&mut self) -> Result<Option<Record<'_>>, LdifError> {
        if self.lines.is_empty() {
            return Ok(None);
        }
        self.taken = true;
        Record::read(&self.lines, &self.bytes).map(Some)
    }
}
