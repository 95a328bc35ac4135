//! A file on its way to the name that it will have.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Beside the file whose place it takes; gone when it is dropped before.
///
/// In a folder that others may write to, such as /tmp, a name that they can guess may be there already, as a link to
/// what they want overwritten. This one nobody can guess, and it is made only where there is nothing.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) path: PathBuf,
    pub(super) file: File,
}

impl Temporary {
    pub(super) fn beside(path: &Path) -> io::Result<Self> {
        let path = sibling(path, &format!(".{:016x}", getrandom::u64()?));
        // As readable as what SQLite makes.
        let file = File::options().write(true).create_new(true).mode(0o644).open(&path)?;
        Ok(Self { path, file })
    }

    /// Takes the place of `to`. The file is on the disk before its name is.
    pub(super) fn take_place_of(&self, to: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        remove_logs(to)?;
        fs::rename(&self.path, to)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Gone already if it has taken its place.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the log of a database that is about to be replaced: SQLite would replay it into the new
/// one.
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
