//! Builds a UPD: writes rows in the order of their keys to a temporary file, which replaces the old file once
//! it is complete.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use people::visitor::{Visitor, Visitors};
use rusqlite::{Connection, OpenFlags, Statement};

use super::manifest::Manifest;
use super::schema::{APPLICATION_ID, CREATE_TABLES, INSERT_PERSON, SCHEMA_VERSION};
use super::temporary::Temporary;

/// The number of rows between two progress reports. There are about a hundred reports a second.
const ROWS_PER_REPORT: u64 = 4_096;

/// The new UPD was not built. An existing file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("building {path} was cancelled; nothing was changed", path = .0.display())]
    Cancelled(PathBuf),
    #[error("the disk is full: {path} could not be built and what was there is unchanged; free some space or \
        choose another folder (1,000,000 people take about 400 MB)", path = .0.display())]
    DiskFull(PathBuf),
    /// Keys of SQLite have 63 bits.
    #[error("{0} people are more than a database can number")]
    TooMany(u64),
    #[error("cannot write {path}: {source}; choose a folder you may write to", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("cannot build {path}: {source}; what was there is unchanged", path = .path.display())]
    Database { path: PathBuf, source: rusqlite::Error },
}

/// Writes a UPD of the first `size` visitors to `path`. The UPD replaces an existing file in one step at the
/// end. `progress` gets the number of written people; if it returns a break, the building stops.
pub fn build(
    path: &Path,
    visitors: &Visitors,
    size: u64,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Manifest, BuildError> {
    if i64::try_from(size).is_err() {
        return Err(BuildError::TooMany(size));
    }
    let site = Site::clear(path)?;
    let manifest = Manifest::new(visitors, size);
    let filled =
        fill(&site.temporary.path, visitors, &manifest, progress).map_err(|source| site.database(source))?;
    if filled.is_break() {
        return Err(BuildError::Cancelled(site.path.clone()));
    }
    site.move_in()?;
    Ok(manifest)
}

/// The temporary file. It is removed however the building ends.
struct Site {
    path: PathBuf,
    temporary: Temporary,
}

impl Site {
    fn clear(path: &Path) -> Result<Self, BuildError> {
        let temporary = Temporary::beside(path).map_err(|source| refused(path, source))?;
        Ok(Self { path: path.to_owned(), temporary })
    }

    /// Replaces the old file. When this function returns, the new file and its name are on the disk.
    fn move_in(&self) -> Result<(), BuildError> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let moved = self.temporary.take_place_of(&self.path);
        moved
            .and_then(|()| File::open(folder.unwrap_or(Path::new(".")))?.sync_all())
            .map_err(|source| refused(&self.path, source))
    }

    fn database(&self, source: rusqlite::Error) -> BuildError {
        match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => BuildError::DiskFull(self.path.clone()),
            _ => BuildError::Database { path: self.path.clone(), source },
        }
    }
}

fn refused(path: &Path, source: io::Error) -> BuildError {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => BuildError::DiskFull(path.to_owned()),
        _ => BuildError::File { path: path.to_owned(), source },
    }
}

fn fill(
    path: &Path,
    visitors: &Visitors,
    manifest: &Manifest,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> rusqlite::Result<ControlFlow<()>> {
    // No other process opens the file, and a failure removes it. So it needs no journal, no sync, no locks
    // and no mutex (docs/decisions/0020).
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.execute_batch(&format!(
        "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
         PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-4096; PRAGMA temp_store=MEMORY;
         PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={SCHEMA_VERSION};
         BEGIN EXCLUSIVE; {CREATE_TABLES}"
    ))?;
    manifest.write(&db)?;
    {
        let mut insert = db.prepare(INSERT_PERSON)?;
        let mut visitor = Visitor::default();
        for i in 0..manifest.size {
            visitors.fill(i, &mut visitor);
            insert.raw_bind_parameter(1, visitor.id as i64)?;
            bind_properties(&mut insert, &visitor)?;
            insert.raw_execute()?;
            if (i + 1) % ROWS_PER_REPORT == 0 && progress(i + 1).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    db.execute_batch("COMMIT")?;
    db.close().map_err(|(_, error)| error)?;
    Ok(progress(manifest.size))
}

/// Binds all columns except the key, which is parameter 1.
pub(super) fn bind_properties(insert: &mut Statement<'_>, visitor: &Visitor) -> rusqlite::Result<()> {
    let texts = [
        &visitor.name,
        &visitor.given,
        &visitor.family,
        &visitor.mail,
        &visitor.city,
        &visitor.country,
        &visitor.language,
        &visitor.occupation,
        &visitor.company,
    ];
    let choices =
        [&visitor.background, &visitor.accent, &visitor.sections, &visitor.interests, &visitor.stocks];
    for (place, text) in (2..).zip(texts) {
        insert.raw_bind_parameter(place, text.as_str())?;
    }
    insert.raw_bind_parameter(11, visitor.birth_year)?;
    for (place, text) in (12..).zip(choices) {
        insert.raw_bind_parameter(place, text.as_str())?;
    }
    insert.raw_bind_parameter(17, visitor.newsletter)?;
    insert.raw_bind_parameter(18, visitor.visits)?;
    insert.raw_bind_parameter(19, visitor.last_visit)
}
