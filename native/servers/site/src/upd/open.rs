//! Opens a UPD, with an error for every invalid file.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::manifest::Manifest;
use super::schema::{APPLICATION_ID, SCHEMA_VERSION};

/// The moment from which a write counts as stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Committed: the write survives the end of the process.
    #[default]
    Normal,
    /// Committed and synced: the write survives a loss of power, too.
    Full,
}

impl Durability {
    /// SQLite's name of the setting (`PRAGMA synchronous`).
    const fn synchronous(self) -> &'static str {
        match self {
            Self::Normal => "NORMAL",
            Self::Full => "FULL",
        }
    }
}

/// The properties of the expected UPD; a missing property is not checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// The number of people at the build.
    pub size: Option<u64>,
    /// [`Manifest::digest`].
    pub digest: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("there is no user-property database at {path}; make one with `sitebench ps seed`", path = .0.display())]
    Missing(PathBuf),
    #[error("{path} is no user-property database: {why}; make one with `sitebench ps seed`", path = .path.display())]
    NotOne { path: PathBuf, why: &'static str },
    #[error("{path} has schema version {found}, this sitebench uses {SCHEMA_VERSION}; make it again with \
        `sitebench ps seed`", path = .path.display())]
    SchemaVersion { path: PathBuf, found: i64 },
    #[error("{path} holds {found} people, not {wanted}; make one of that size with `sitebench ps seed`", path = .path.display())]
    Size { path: PathBuf, found: u64, wanted: u64 },
    #[error("{path} holds other people (digest {found}, wanted {wanted}); make it again with `sitebench ps seed`", path = .path.display())]
    Digest { path: PathBuf, found: String, wanted: String },
    #[error("{path} is damaged: {why}; make it again with `sitebench ps seed`", path = .path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("{path} is locked by another process; end that one or serve a copy", path = .0.display())]
    Locked(PathBuf),
    #[error("cannot open {path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("cannot use {path}: {source}", path = .path.display())]
    Database { path: PathBuf, source: rusqlite::Error },
}

/// The page cache of a connection, in KiB: the inner pages of 1,000,000 rows take 1 MiB, and reading a leaf
/// from the system's cache takes one read of 4 KiB.
const CACHE_KIB: u32 = 4_096;

/// The time that a writer waits for another writing process.
const BUSY: Duration = Duration::from_secs(5);

/// Checks that `path` is the expected UPD. Returns its manifest.
pub fn inspect(path: &Path, expected: &Expected) -> Result<Manifest, OpenError> {
    let file = std::fs::metadata(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => OpenError::Missing(path.to_owned()),
        _ => OpenError::File { path: path.to_owned(), source },
    })?;
    if !file.is_file() {
        return Err(OpenError::NotOne { path: path.to_owned(), why: "it is not a file" });
    }
    if file.len() == 0 {
        return Err(OpenError::NotOne { path: path.to_owned(), why: "it is empty" });
    }
    let found = check(path).map_err(|source| explain(path, source))??;
    if let Some(wanted) = expected.size.filter(|&wanted| wanted != found.size) {
        return Err(OpenError::Size { path: path.to_owned(), found: found.size, wanted });
    }
    if let Some(wanted) = expected.digest.clone().filter(|wanted| *wanted != found.digest) {
        return Err(OpenError::Digest { path: path.to_owned(), found: found.digest, wanted });
    }
    Ok(found)
}

fn check(path: &Path) -> rusqlite::Result<Result<Manifest, OpenError>> {
    let not_one = |why| Ok(Err(OpenError::NotOne { path: path.to_owned(), why }));
    let damaged = |why: &str| Ok(Err(OpenError::Damaged { path: path.to_owned(), why: why.to_owned() }));
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    db.busy_timeout(Duration::from_millis(200))?;
    let pragma = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if pragma("application_id")? != i64::from(APPLICATION_ID) {
        return not_one("it is another program's SQLite database");
    }
    let version = pragma("user_version")?;
    if version != i64::from(SCHEMA_VERSION) {
        return Ok(Err(OpenError::SchemaVersion { path: path.to_owned(), found: version }));
    }
    let Some(manifest) = Manifest::read(&db)? else {
        return damaged("it does not say what it holds");
    };
    let last = db.query_row("SELECT coalesce(max(id) + 1, 0) FROM people", [], |row| row.get::<_, i64>(0))?;
    // People are never removed, so the highest number is a lower bound of their number. Counting would read
    // the whole file.
    if u64::try_from(last).is_ok_and(|last| last < manifest.size) {
        return damaged("people at its end are missing");
    }
    Ok(Ok(manifest))
}

/// A connection that reads for pages.
pub(crate) fn reading(path: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let db = Connection::open_with_flags(path, flags)?;
        db.busy_timeout(BUSY)?;
        db.execute_batch(&format!("PRAGMA cache_size=-{CACHE_KIB}; PRAGMA mmap_size=0;"))?;
        Ok(db)
    };
    open().map_err(|source| explain(path, source))
}

/// A connection that creates and updates people. Sets the database to WAL mode.
pub(super) fn writing(path: &Path, durability: Durability) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let db = Connection::open_with_flags(path, flags)?;
        db.busy_timeout(BUSY)?;
        let mode: String = db.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))?;
        let synchronous = durability.synchronous();
        // The writer makes checkpoints after its answers; wal_autocheckpoint would make them before the
        // answers.
        db.execute_batch(&format!(
            "PRAGMA synchronous={synchronous}; PRAGMA wal_autocheckpoint=0;
             PRAGMA cache_size=-{CACHE_KIB}; PRAGMA mmap_size=0;"
        ))?;
        // If another process holds the lock, the error occurs here and not at the first update.
        db.execute_batch("BEGIN IMMEDIATE; ROLLBACK;")?;
        Ok((db, mode))
    };
    let (db, mode) = open().map_err(|source| explain(path, source))?;
    if mode != "wal" {
        let source = io::Error::other("its folder does not allow a write-ahead log");
        return Err(OpenError::File { path: path.to_owned(), source });
    }
    Ok(db)
}

fn explain(path: &Path, source: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::NotOne { path, why: "it is no SQLite database" },
        Some(ErrorCode::DatabaseCorrupt) => OpenError::Damaged { path, why: source.to_string() },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => OpenError::Locked(path),
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly | ErrorCode::CannotOpen) => {
            OpenError::File { path, source: io::Error::other(source) }
        }
        _ => OpenError::Database { path, source },
    }
}
