//! Parses a text into cells, row by row and in place.
//!
//! A row is split first, and moved only when the whole row is valid. So after an error, the row is
//! unchanged and the error's position can be counted in it.

use memchr::{memchr, memchr_iter, memchr3};

use crate::error::{Problem, TableError};
use crate::{MAX_BYTES, MAX_CELLS, MAX_COLUMNS};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The position of a row's field in the text.
#[derive(Debug, Clone, Copy)]
struct Field {
    /// Start and end of the field, including quotes.
    at: usize,
    stop: usize,
    /// Start and end of the content, without the enclosing quotes.
    begin: usize,
    end: usize,
    /// Whether the content has doubled quotes.
    doubled: bool,
}

#[derive(Debug)]
pub(crate) struct Reader {
    text: Vec<u8>,
    separator: u8,
    /// The last row: its line, its first byte, and its fields.
    line: u64,
    row: usize,
    fields: Vec<Field>,
    /// Start of the next row.
    next_line: u64,
    next: usize,
    /// The number of bytes of all cells so far.
    kept: usize,
    ends: Vec<u32>,
    scratch: Vec<u8>,
}

impl Reader {
    pub(crate) fn new(text: Vec<u8>, separator: u8) -> Result<Self, TableError> {
        let row = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let mut reader = Self {
            text,
            separator,
            line: 1,
            row,
            fields: Vec::new(),
            next_line: 1,
            next: row,
            kept: 0,
            ends: Vec::new(),
            scratch: Vec::new(),
        };
        if reader.text.len() as u64 > MAX_BYTES {
            return Err(reader.here(Problem::TooLong));
        }
        if !separator.is_ascii() || b"\"\r\n".contains(&separator) {
            return Err(reader.here(Problem::Separator(char::from(separator))));
        }
        // Separators, quotes and line ends are ASCII, so cells of valid UTF-8 are valid UTF-8.
        if let Err(error) = std::str::from_utf8(&reader.text[row..]) {
            reader.next = row + error.valid_up_to();
            return Err(reader.here(Problem::NotUtf8));
        }
        Ok(reader)
    }

    pub(crate) const fn line(&self) -> u64 {
        self.line
    }

    /// An error at the current position.
    pub(crate) fn here(&self, problem: Problem) -> TableError {
        self.error(self.next, problem)
    }

    /// An error in a field of the last row.
    pub(crate) fn at_field(&self, number: usize, problem: Problem) -> TableError {
        self.error(self.fields.get(number).map_or(self.row, |field| field.at), problem)
    }

    /// An error at a position in or after the last row.
    fn error(&self, at: usize, problem: Problem) -> TableError {
        let before = &self.text[self.row..at];
        let begun = memchr::memrchr(b'\n', before).map_or(before, |last| &before[last + 1..]);
        // All bytes of a character except the first are 10xxxxxx.
        let characters = begun.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        let line = self.line + memchr_iter(b'\n', before).count() as u64;
        TableError { line, column: characters as u64 + 1, problem }
    }

    /// Splits the next row, of at most `most` fields. Returns whether there is a row.
    pub(crate) fn next(&mut self, most: usize) -> Result<bool, TableError> {
        loop {
            match self.text[self.next..] {
                [b'\n', ..] => self.next += 1,
                [b'\r', b'\n', ..] => self.next += 2,
                _ => break,
            }
            self.next_line += 1;
        }
        if self.next == self.text.len() {
            return Ok(false);
        }
        (self.line, self.row) = (self.next_line, self.next);
        self.fields.clear();
        loop {
            if self.fields.len() == most {
                let problem = if most == MAX_COLUMNS { Problem::Columns } else { Problem::TooMany(most) };
                return Err(self.here(problem));
            }
            let end = self.split()?;
            self.next = end + 1;
            match self.text.get(end) {
                Some(b'\n') => break,
                Some(b'\r') if self.text.get(end + 1) == Some(&b'\n') => {
                    self.next += 1;
                    break;
                }
                Some(b'\r') => return Err(self.error(end, Problem::CarriageReturn)),
                Some(_) => {}
                None => {
                    self.next = end;
                    return Ok(true);
                }
            }
        }
        self.next_line += 1;
        Ok(true)
    }

    /// Reads the field that begins at `next`. Returns the field's end.
    fn split(&mut self) -> Result<usize, TableError> {
        let at = self.next;
        let rest = &self.text[at..];
        if rest.first() != Some(&b'"') {
            let end = at + memchr3(self.separator, b'\n', b'\r', rest).unwrap_or(rest.len());
            self.fields.push(Field { at, stop: end, begin: at, end, doubled: false });
            return Ok(end);
        }
        let begin = at + 1;
        let mut doubled = false;
        let mut from = begin;
        let end = loop {
            let Some(quote) = memchr(b'"', &self.text[from..]) else {
                return Err(self.error(at, Problem::OpenQuote));
            };
            let end = from + quote;
            if self.text.get(end + 1) != Some(&b'"') {
                break end;
            }
            doubled = true;
            from = end + 2;
        };
        let behind = self.text.get(end + 1);
        if behind.is_some_and(|byte| ![self.separator, b'\n', b'\r'].contains(byte)) {
            return Err(self.error(end + 1, Problem::BehindQuote));
        }
        self.next_line += memchr_iter(b'\n', &self.text[begin..end]).count() as u64;
        self.fields.push(Field { at, stop: end + 1, begin, end, doubled });
        Ok(end + 1)
    }

    pub(crate) fn fields(&self) -> Vec<String> {
        let text = |field: &Field| {
            let text = String::from_utf8_lossy(&self.text[field.begin..field.end]);
            if field.doubled { text.replace("\"\"", "\"") } else { text.into_owned() }
        };
        self.fields.iter().map(text).collect()
    }

    /// Checks the last row and keeps it.
    pub(crate) fn keep(
        &mut self,
        width: usize,
        check: &mut impl FnMut(usize, &[u8]) -> Result<(), String>,
    ) -> Result<(), TableError> {
        let found = self.fields.len();
        if found != width {
            let end = self.fields.last().map_or(self.row, |field| field.stop);
            return Err(self.error(end, Problem::TooFew { found, expected: width }));
        }
        if self.ends.len() + width > MAX_CELLS {
            return Err(self.at_field(0, Problem::TooManyCells));
        }
        for (number, field) in self.fields.iter().enumerate() {
            let mut cell = &self.text[field.begin..field.end];
            if field.doubled {
                self.scratch.clear();
                while let Some(quote) = memchr(b'"', cell) {
                    self.scratch.extend_from_slice(&cell[..=quote]);
                    cell = &cell[quote + 2..];
                }
                self.scratch.extend_from_slice(cell);
                cell = &self.scratch;
            }
            if let Err(words) = check(number, cell) {
                return Err(self.at_field(number, Problem::Cell(words)));
            }
        }
        for field in &self.fields {
            let Field { mut begin, end, .. } = *field;
            while field.doubled
                && let Some(quote) = memchr(b'"', &self.text[begin..end])
            {
                self.text.copy_within(begin..=begin + quote, self.kept);
                self.kept += quote + 1;
                begin += quote + 2;
            }
            self.text.copy_within(begin..end, self.kept);
            self.kept += end - begin;
            self.ends.push(self.kept as u32);
        }
        Ok(())
    }

    /// The text of all kept cells, concatenated, and the end of each cell.
    pub(crate) fn finish(mut self) -> Result<(Vec<u8>, Vec<u32>), TableError> {
        if self.ends.is_empty() {
            return Err(self.here(Problem::NoRows));
        }
        self.text.truncate(self.kept);
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        Ok((self.text, self.ends))
    }
}
