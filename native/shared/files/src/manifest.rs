//! The manifest of a written set: JSON lines that name the set, each file, and the end.
//!
//! ```text
//! {"format":1,"spec":{"name":"large-filemix","seed":1997,...}}
//! {"path":"/large-filemix/256b/0/0.html","size":256,"sha256":"..."}
//! ...
//! {"files":14,"bytes":2022656}
//! ```
//!
//! The manifest is also the writer's journal. A line is written after its file, so after a kill all lines of
//! the manifest name complete files; the last line may be truncated. Apart from digests, the lines and their
//! lengths are known beforehand, so any manifest is read in constant memory.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use crate::set::{File, FileSet};
use crate::spec::Spec;

const FORMAT: u32 = 1;
/// Far longer than the spec of any set: sets of the papers have a dozen classes.
const LONGEST_HEADER: u64 = 1 << 20;
/// Bytes of lines between two writes. After a kill, files whose lines were not written yet are written again.
const BUFFERED: usize = 32 << 10;
const DIGEST: usize = 64;
const AFTER_DIGEST: &str = "\"}\n";

#[derive(Serialize, Deserialize)]
struct Header<S> {
    format: u32,
    spec: S,
}

/// The kind of a manifest, by its first line.
pub(crate) enum Begun {
    Nothing,
    Same,
    Other(Box<Spec>),
    /// No manifest, or a manifest of a later version.
    Unknown,
}

/// Reads lines from the start as long as they are valid, then writes the missing lines.
pub(crate) struct Manifest {
    file: BufReader<fs::File>,
    /// The total length of the valid lines.
    good: u64,
    line: Vec<u8>,
    unwritten: Vec<u8>,
}

impl Drop for Manifest {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that another thread has just forked also holds the
        // lock, until the child calls exec.
        let _ = rustix::fs::flock(self.file.get_ref(), FlockOperation::Unlock);
    }
}

impl Manifest {
    pub(crate) fn new(file: fs::File) -> Self {
        Self { file: BufReader::new(file), good: 0, line: Vec::new(), unwritten: Vec::new() }
    }

    /// Reads the first line.
    pub(crate) fn begun(&mut self, set: &FileSet) -> io::Result<Begun> {
        let ours = header(set)?;
        self.read_line(LONGEST_HEADER)?;
        if self.line == ours {
            self.good = ours.len() as u64;
            return Ok(Begun::Same);
        }
        if ours.starts_with(&self.line) {
            return Ok(Begun::Nothing);
        }
        Ok(match serde_json::from_slice::<Header<Spec>>(&self.line) {
            // Another version has serialised the same spec differently.
            Ok(Header { format: FORMAT, spec }) if spec == *set.spec() && self.line.ends_with(b"\n") => {
                self.good = self.line.len() as u64;
                Begun::Same
            }
            Ok(Header { format: FORMAT, spec }) if spec != *set.spec() => Begun::Other(Box::new(spec)),
            _ => Begun::Unknown,
        })
    }

    /// Writes the first line.
    pub(crate) fn begin(&mut self, set: &FileSet) -> io::Result<()> {
        self.cut()?;
        self.unwritten = header(set)?;
        self.good = self.unwritten.len() as u64;
        self.flush()
    }

    /// Reads the line of a file. Returns the file's digest, or None if the line is missing or invalid.
    pub(crate) fn digest_of(&mut self, file: &File<'_>) -> io::Result<Option<String>> {
        let before = before_digest(file);
        self.read_line((before.len() + DIGEST + AFTER_DIGEST.len()) as u64)?;
        let digest = self
            .line
            .strip_prefix(before.as_bytes())
            .and_then(|rest| rest.strip_suffix(AFTER_DIGEST.as_bytes()))
            .filter(|digest| digest.len() == DIGEST && digest.iter().all(u8::is_ascii_hexdigit))
            .map(|digest| String::from_utf8_lossy(digest).into_owned());
        Ok(digest)
    }

    /// Accepts the line that was read last.
    pub(crate) fn keep(&mut self) {
        self.good += self.line.len() as u64;
    }

    /// Whether the next line is the last line, and the file ends after it.
    pub(crate) fn ended(&mut self, set: &FileSet) -> io::Result<bool> {
        let last = last_line(set);
        self.read_line(last.len() as u64)?;
        Ok(self.line == last.as_bytes() && self.file.fill_buf()?.is_empty())
    }

    /// Truncates the file after the valid lines, so that the next line is written there.
    pub(crate) fn cut(&mut self) -> io::Result<()> {
        self.file.get_ref().set_len(self.good)?;
        self.file.seek(SeekFrom::Start(self.good)).map(|_| ())
    }

    /// Adds the line of a file to the buffer; a full buffer is written.
    pub(crate) fn add(&mut self, file: &File<'_>, digest: &str) -> io::Result<()> {
        self.unwritten.extend_from_slice(before_digest(file).as_bytes());
        self.unwritten.extend_from_slice(digest.as_bytes());
        self.unwritten.extend_from_slice(AFTER_DIGEST.as_bytes());
        if self.unwritten.len() < BUFFERED { Ok(()) } else { self.flush() }
    }

    /// Writes the last line.
    pub(crate) fn end(&mut self, set: &FileSet) -> io::Result<()> {
        self.unwritten.extend_from_slice(last_line(set).as_bytes());
        self.flush()
    }

    /// Writes the buffered lines.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        // The buffer is emptied before the write, so that after a partial write no line is written twice.
        let lines = std::mem::take(&mut self.unwritten);
        self.file.get_mut().write_all(&lines)
    }

    fn read_line(&mut self, longest: u64) -> io::Result<()> {
        self.line.clear();
        self.file.by_ref().take(longest).read_until(b'\n', &mut self.line).map(|_| ())
    }
}

/// A digest as a manifest writes it.
pub(crate) fn hexadecimal(digest: [u8; 32]) -> String {
    format!("{:x}", sha2::digest::Output::<sha2::Sha256>::from(digest))
}

fn header(set: &FileSet) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Header { format: FORMAT, spec: set.spec() })?;
    line.push(b'\n');
    Ok(line)
}

// Names of sets and classes have no characters that JSON escapes.
fn before_digest(file: &File<'_>) -> String {
    format!("{{\"path\":\"{}\",\"size\":{},\"sha256\":\"", file.path(), file.size())
}

fn last_line(set: &FileSet) -> String {
    format!("{{\"files\":{},\"bytes\":{}}}\n", set.count(), set.bytes())
}
