//! Reads the row of a page.

use rusqlite::{Connection, Statement};

use super::commits::Commits;
use super::person::{Person, SELECT_PERSON};

/// Reads several rows under one snapshot while nothing is committed. Beginning and ending a snapshot takes
/// three system calls, which is longer than a read (docs/decisions/0020).
#[derive(Debug)]
pub(crate) struct Reader<'c> {
    select: Statement<'c>,
    begin: Statement<'c>,
    end: Statement<'c>,
    commits: Commits,
    /// The number of commits just before the current snapshot.
    snapshot: Option<u64>,
}

impl<'c> Reader<'c> {
    pub(crate) fn new(db: &'c Connection, commits: Commits) -> rusqlite::Result<Self> {
        Ok(Self {
            select: db.prepare(SELECT_PERSON)?,
            begin: db.prepare("BEGIN")?,
            end: db.prepare("COMMIT")?,
            commits,
            snapshot: None,
        })
    }

    /// Passes the person with this number to `show`; `None` if no person has it.
    pub(crate) fn read<T>(
        &mut self,
        id: u64,
        show: impl FnOnce(&Person<'_>) -> T,
    ) -> rusqlite::Result<Option<T>> {
        let Ok(key) = i64::try_from(id) else { return Ok(None) };
        self.refresh()?;
        self.select.raw_bind_parameter(1, key)?;
        let mut rows = self.select.raw_query();
        Ok(rows.next()?.map(|row| show(&Person::of(id, row))))
    }

    fn refresh(&mut self) -> rusqlite::Result<()> {
        let commits = self.commits.count();
        if self.snapshot != Some(commits) {
            self.release()?;
            self.begin.raw_execute()?;
            self.snapshot = Some(commits);
        }
        Ok(())
    }

    /// Ends the snapshot: during a snapshot SQLite cannot restart the log.
    pub(crate) fn release(&mut self) -> rusqlite::Result<()> {
        if self.snapshot.take().is_some() {
            self.end.raw_execute()?;
        }
        Ok(())
    }
}
