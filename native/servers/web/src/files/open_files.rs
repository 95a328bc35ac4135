//! A cache of open files: a request for a cached file needs a read but no path lookup.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::rc::Rc;
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use wire::http::date::http_date;

use super::kind::{content_type, is_parsed};
use super::root::Root;

/// The time after which a name is looked up again, so that a replaced file is served after at most this
/// delay.
const FRESH_MS: u64 = 1_000;

/// An open file with its properties when it was opened.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    file: File,
    pub(crate) size: u64,
    /// In seconds since 1970.
    pub(crate) modified_s: u64,
    /// `modified_s` in the format of Last-Modified.
    pub(crate) modified: String,
    pub(crate) tag: String,
    pub(crate) content_type: &'static str,
    /// Whether the file is a page that is parsed for each request.
    pub(crate) is_parsed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A percent sign without two hexadecimal digits, or a NUL.
    Malformed,
    /// No entry, no regular file, a hidden file, or a path outside the root.
    NotFound,
    /// A file that this process may not read.
    Forbidden,
    /// No file descriptors are left, or no memory.
    Busy,
    /// An I/O error.
    Failed,
}

impl Missing {
    /// The status and the sentence of the answer.
    pub(crate) const fn answer(self) -> (&'static str, &'static str) {
        match self {
            Self::Malformed => ("400 Bad Request", "a path that cannot be decoded"),
            Self::NotFound => ("404 Not Found", "there is nothing here"),
            Self::Forbidden => ("403 Forbidden", "this file may not be read"),
            Self::Busy => ("503 Service Unavailable", "no file can be opened now, try again later"),
            Self::Failed => ("500 Internal Server Error", "the file cannot be read"),
        }
    }
}

/// The files that one thread keeps open, in two generations of half the configured number each.
///
/// The two generations approximate LRU replacement: when the young generation is full, the files of the old
/// generation are closed and the young generation becomes the old one.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    root: Arc<Root>,
    /// The most files in a generation.
    most: usize,
    young: HashMap<Box<[u8]>, Entry>,
    old: HashMap<Box<[u8]>, Entry>,
}

#[derive(Debug)]
struct Entry {
    file: Rc<OpenedFile>,
    opened_ms: u64,
}

impl OpenFiles {
    pub(crate) fn new(root: Arc<Root>, most: usize) -> Self {
        Self { root, most: most.div_ceil(2), young: HashMap::new(), old: HashMap::new() }
    }

    /// Returns the file of a name; `None` for a folder. A name with a trailing slash means the folder's
    /// `index.html`.
    #[inline]
    pub(crate) fn find(&mut self, name: &[u8], now_ms: u64) -> Result<Option<Rc<OpenedFile>>, Missing> {
        if name.is_empty() || name.ends_with(b"/") {
            return self.file(&[name, b"index.html"].concat(), now_ms)?.ok_or(Missing::NotFound).map(Some);
        }
        self.file(name, now_ms)
    }

    #[inline]
    fn file(&mut self, name: &[u8], now_ms: u64) -> Result<Option<Rc<OpenedFile>>, Missing> {
        let is_fresh = |entry: &Entry| now_ms.saturating_sub(entry.opened_ms) < FRESH_MS;
        match self.young.get(name) {
            Some(entry) if is_fresh(entry) => return Ok(Some(Rc::clone(&entry.file))),
            Some(_) => drop(self.young.remove(name)),
            None => {}
        }
        if let Some((name, entry)) = self.old.remove_entry(name).filter(|(_, entry)| is_fresh(entry)) {
            let file = Rc::clone(&entry.file);
            self.keep(name, entry);
            return Ok(Some(file));
        }
        let file = match self.open(name) {
            Err(Missing::Busy) => {
                // Clearing the cache frees file descriptors for the requested file.
                self.young.clear();
                self.old.clear();
                self.open(name)
            }
            opened => opened,
        }?;
        if let Some(file) = &file {
            self.keep(name.into(), Entry { file: Rc::clone(file), opened_ms: now_ms });
        }
        Ok(file)
    }

    fn keep(&mut self, name: Box<[u8]>, entry: Entry) {
        if self.most == 0 {
            return;
        }
        if self.young.len() >= self.most {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(name, entry);
    }

    /// Removes a file that has changed since it was opened.
    pub(crate) fn forget(&mut self, file: &Rc<OpenedFile>) {
        self.young.retain(|_, entry| !Rc::ptr_eq(&entry.file, file));
    }

    /// `None` for a folder.
    fn open(&self, name: &[u8]) -> Result<Option<Rc<OpenedFile>>, Missing> {
        let file = self.root.file(name).map_err(missing)?;
        let metadata = file.metadata().map_err(|_| Missing::Failed)?;
        if metadata.is_dir() {
            return Ok(None);
        }
        if !metadata.is_file() {
            return Err(Missing::NotFound);
        }
        let (modified_s, size) = (u64::try_from(metadata.mtime()).unwrap_or(0), metadata.len());
        Ok(Some(Rc::new(OpenedFile {
            file,
            size,
            modified_s,
            modified: http_date(modified_s),
            tag: format!("\"{modified_s:x}.{:x}-{size:x}\"", metadata.mtime_nsec()),
            content_type: content_type(name),
            is_parsed: is_parsed(name),
        })))
    }
}

fn missing(error: Errno) -> Missing {
    match error {
        Errno::ACCESS | Errno::PERM => Missing::Forbidden,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN => Missing::Busy,
        Errno::IO => Missing::Failed,
        // All other errors mean that no such file is below the root: ENOENT, ENOTDIR and ENAMETOOLONG are
        // errors of the name, ELOOP and EXDEV are links that are not followed, and ENXIO is a socket.
        _ => Missing::NotFound,
    }
}

impl OpenedFile {
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Appends the bytes from `at` to `end`, at most about `piece` of them. Returns the number of bytes; 0 if
    /// the file has been truncated.
    #[inline]
    pub(crate) fn push(&self, out: &mut Vec<u8>, at: u64, end: u64, piece: usize) -> io::Result<usize> {
        let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
        let start = out.len();
        out.reserve(left.min(piece));
        if end < self.size && left < out.capacity() - start {
            // The kernel fills the whole buffer, so the buffer must not be longer than the wanted bytes.
            out.resize(start + left, 0);
            let read = self.file.read_at(out.get_mut(start..).unwrap_or_default(), at);
            out.truncate(start + *read.as_ref().unwrap_or(&0));
            return read;
        }
        let read = rustix::io::pread(&self.file, spare_capacity(out), at)?;
        out.truncate(start + read.min(left));
        Ok(read.min(left))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "this is a test")]
mod tests {
    use std::fs;

    use super::*;

    fn read(file: Option<Rc<OpenedFile>>) -> Vec<u8> {
        let Some(file) = file else { return Vec::new() };
        let mut out = Vec::new();
        let mut at = 0;
        while at < file.size {
            at += file.push(&mut out, at, file.size, 1_000).unwrap() as u64;
        }
        out
    }

    #[test]
    fn a_replaced_file_is_served_after_a_second_and_few_files_stay_open() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..50 {
            fs::write(folder.path().join(n.to_string()), n.to_string()).unwrap();
        }
        let mut files = OpenFiles::new(Arc::new(Root::open(folder.path()).unwrap()), 10);
        for n in (0..50).chain(0..50) {
            let name = n.to_string();
            assert_eq!(read(files.find(name.as_bytes(), 0).unwrap()), name.as_bytes());
            assert!(files.young.len() + files.old.len() <= 10);
        }
        fs::write(folder.path().join("new"), "new").unwrap();
        fs::rename(folder.path().join("new"), folder.path().join("49")).unwrap();
        assert_eq!(read(files.find(b"49", 999).unwrap()), b"49");
        assert_eq!(read(files.find(b"49", 1_000).unwrap()), b"new");
        fs::remove_file(folder.path().join("49")).unwrap();
        assert_eq!(files.find(b"49", 2_000).unwrap_err(), Missing::NotFound);
    }
}
