//! A fresh copy of a UPD for each point of a sweep.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no copy. A file that was there before is as it was, unless its last step failed.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// What is in the log would be missing from the copy.
    #[error("{path} is being written to (its -wal file is not empty); stop the site that serves it", path = .0.display())]
    InUse(PathBuf),
    /// The system refuses.
    #[error("cannot copy {from} to {to}: {source}", from = .from.display(), to = .to.display())]
    File {
        /// The original.
        from: PathBuf,
        /// The copy.
        to: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Copies the UPD at `from` to `to`, replacing what is there in one step, and returns its bytes.
///
/// Every point starts from the same file: what a point before it has created and changed is gone.
/// Not while a site serves `to`.
pub fn copy(from: &Path, to: &Path) -> Result<u64, CopyError> {
    let log = sibling(from, "-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        return Err(CopyError::InUse(from.to_owned()));
    }
    let temporary = sibling(to, &format!(".copying-{}", std::process::id()));
    let copied = fs::copy(from, &temporary)
        // What the kernel writes back while the point runs would be in its numbers.
        .and_then(|bytes| File::open(&temporary)?.sync_all().map(|()| bytes))
        .and_then(|bytes| remove_logs(to).map(|()| bytes))
        .and_then(|bytes| fs::rename(&temporary, to).map(|()| bytes));
    copied.map_err(|source| {
        // It may not exist.
        let _ = fs::remove_file(&temporary);
        CopyError::File { from: from.to_owned(), to: to.to_owned(), source }
    })
}

/// Removes the log of a database that is about to be replaced: SQLite would replay it into the new
/// one.
pub(super) fn remove_logs(path: &Path) -> io::Result<()> {
    for suffix in ["-wal", "-shm", "-journal"] {
        match fs::remove_file(sibling(path, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}
