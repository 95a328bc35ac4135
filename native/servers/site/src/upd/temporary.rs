//! A temporary file that replaces another file.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file beside the file that it replaces. Dropping this value removes the file, unless it has replaced the
/// other file.
///
/// In a folder where others may write, such as /tmp, a predictable name could exist already, as a link to a
/// file to be overwritten. This name is unpredictable, and the file is only created if the name does not
/// exist.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) path: PathBuf,
    pub(super) file: File,
}

impl Temporary {
    pub(super) fn beside(path: &Path) -> io::Result<Self> {
        let path = sibling(path, &format!(".{:016x}", getrandom::u64()?));
        // The file gets the same permissions as SQLite's files.
        let file = File::options().write(true).create_new(true).mode(0o644).open(&path)?;
        Ok(Self { path, file })
    }

    /// Replaces `to`. The file is on the disk before its name is.
    pub(super) fn take_place_of(&self, to: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        remove_logs(to)?;
        fs::rename(&self.path, to)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // The temporary file is absent if it has replaced the other file.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the log of a database that is about to be replaced: SQLite would replay the log into the new
/// database.
fn remove_logs(path: &Path) -> io::Result<()> {
    for suffix in ["-wal", "-shm", "-journal"] {
        match fs::remove_file(sibling(path, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}
