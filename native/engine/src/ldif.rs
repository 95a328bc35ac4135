//! People into an LDIF file, in pieces: a million people are more than a buffer should hold.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use people::{ContainersError, Population, ldif};

/// Bytes gathered before they are written.
const PIECE: usize = 1 << 20;

/// Why there is no LDIF file, or only a part of one.
#[derive(Debug, thiserror::Error)]
pub enum LdifError {
    /// The entries above the people cannot be made.
    #[error(transparent)]
    Containers(#[from] ContainersError),
    /// The file system refused.
    #[error("cannot write {path}: {cause}; choose a writable place with enough room")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
}

/// Writes `people` of the range, after the entries above them if `with_containers`; returns the bytes.
pub fn write(
    people: &Population,
    path: &Path,
    range: Range<u64>,
    with_containers: bool,
) -> Result<u64, LdifError> {
    let failed = |cause| LdifError::Write { path: path.to_owned(), cause };
    let mut piece = Vec::new();
    if with_containers {
        ldif::write_containers(people, &mut piece)?;
    }
    let mut file = File::create(path).map_err(failed)?;
    let mut written = 0;
    for i in range {
        ldif::write_person(people, i, &mut piece);
        if piece.len() >= PIECE {
            written += piece.len() as u64;
            file.write_all(&piece).map_err(failed)?;
            piece.clear();
        }
    }
    file.write_all(&piece).map_err(failed)?;
    Ok(written + piece.len() as u64)
}
