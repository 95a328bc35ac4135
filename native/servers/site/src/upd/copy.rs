//! Copies a UPD for each point of a sweep.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::temporary::{Temporary, sibling};

/// The UPD was not copied. An existing file is unchanged, unless the last step failed.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The contents of the log would be missing in the copy.
    #[error("{path} is being written to (its -wal file is not empty); stop the site that serves it", path = .0.display())]
    InUse(PathBuf),
    #[error("cannot copy {from} to {to}: {source}", from = .from.display(), to = .to.display())]
    File { from: PathBuf, to: PathBuf, source: io::Error },
}

/// Copies the UPD at `from` to `to`, which is replaced in one step. Returns the size in bytes.
///
/// Every point of a sweep starts with the same file: changes of earlier points are lost. Must not be called
/// while a site serves `to`.
pub fn copy(from: &Path, to: &Path) -> Result<u64, CopyError> {
    let log = sibling(from, "-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        return Err(CopyError::InUse(from.to_owned()));
    }
    replace(from, to).map_err(|source| CopyError::File { from: from.to_owned(), to: to.to_owned(), source })
}

fn replace(from: &Path, to: &Path) -> io::Result<u64> {
    let mut source = File::open(from)?;
    let mut temporary = Temporary::beside(to)?;
    let bytes = io::copy(&mut source, &mut temporary.file)?;
    temporary.file.set_permissions(source.metadata()?.permissions())?;
    // The file is synced: otherwise the kernel would write it back during the point and disturb the
    // measurement.
    temporary.take_place_of(to)?;
    Ok(bytes)
}
