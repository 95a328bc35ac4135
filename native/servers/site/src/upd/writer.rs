//! Group commit: one thread writes all waiting jobs in one transaction, and answers after the commit.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use net::{ConnectionId, Mailboxes};
use people::visitor::Visitor;
use rusqlite::{Connection, Statement, TransactionBehavior};

use super::build::bind_properties;
use super::commits::Commits;
use super::open::{self, Durability, OpenError};
use super::schema::{CREATE_PERSON, UPDATE_PERSON};

/// The most writes of one transaction. The bound limits how long later writes wait.
const BATCH: usize = 1_024;

/// Writes between two checkpoints. Each write changes a page or two; SQLite's own default is 1,000 pages.
const CHECKPOINT_WRITES: usize = 1_000;

/// A write of a client.
#[derive(Debug)]
pub(crate) enum Write {
    /// A new person, whose number the database chooses.
    Create(Box<Visitor>),
    /// New values of some properties.
    Update(u64, Box<Changes>),
}

impl Write {
    /// The person to change; `None` for a new person, who is in no cache yet.
    const fn changes(&self) -> Option<u64> {
        match self {
            Self::Create(_) => None,
            Self::Update(id, _) => Some(*id),
        }
    }
}

/// New values; absent properties stay unchanged.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) background: Option<String>,
    pub(crate) accent: Option<String>,
    pub(crate) city: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) sections: Option<String>,
    pub(crate) interests: Option<String>,
    pub(crate) stocks: Option<String>,
    pub(crate) newsletter: Option<bool>,
}

/// A write and the connection that waits for its outcome.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) ticket: ConnectionId,
    pub(crate) write: Write,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A new person is stored, with this number.
    Created(u64),
    Updated,
    /// No person has that number.
    Unknown,
    /// Not stored: the disk is full or fails, or another process locks the database.
    Failed,
}

/// The writing thread. It ends when all senders are dropped.
#[derive(Debug)]
pub(crate) struct Writer {
    thread: JoinHandle<()>,
    jobs: Sender<Job>,
}

impl Writer {
    /// Opens the database and starts. `mailboxes` get the outcomes of one transaction at a time.
    pub(crate) fn start(
        path: &Path,
        durability: Durability,
        size: u64,
        commits: Commits,
        mailboxes: Mailboxes<Outcome>,
    ) -> Result<Self, OpenError> {
        let db = open::writing(path, durability)?;
        let (sender, received) = channel();
        let run = move || {
            let mut db = db;
            if let Err(error) = serve(&mut db, size, &received, &commits, &mailboxes) {
                eprintln!("the site's writer stopped: {error}");
            }
        };
        let thread = thread::Builder::new().name("site-writer".into()).spawn(run);
        let thread = thread.map_err(|source: io::Error| OpenError::File { path: path.to_owned(), source })?;
        Ok(Self { thread, jobs: sender })
    }

    /// The sender of jobs to the writing thread.
    pub(crate) fn jobs(&self) -> Sender<Job> {
        self.jobs.clone()
    }

    /// Waits until all jobs are written. The readers must have closed the database: SQLite deletes the
    /// write-ahead log at the last close, if that connection may write.
    pub(crate) fn join(self) {
        drop(self.jobs);
        // The panic message has been printed by the thread.
        let _ = self.thread.join();
    }
}

fn serve(
    db: &mut Connection,
    size: u64,
    jobs: &Receiver<Job>,
    commits: &Commits,
    mailboxes: &Mailboxes<Outcome>,
) -> rusqlite::Result<()> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut since_checkpoint = 0;
    let mut failing = false;
    while let Ok(first) = jobs.recv() {
        batch.push(first);
        batch.extend(jobs.try_iter().take(BATCH - 1));
        since_checkpoint += batch.len();
        let written = write_all(db, size, &batch);
        commits.note(batch.iter().filter_map(|job| job.write.changes()));
        // Only the first failure and the recovery are logged: a full disk fails thousands of writes a second.
        match &written {
            Err(error) if !failing => eprintln!("the site stores no writes: {error}"),
            Ok(_) if failing => eprintln!("the site stores writes again"),
            Ok(_) | Err(_) => {}
        }
        failing = written.is_err();
        let outcomes = written.unwrap_or_else(|_| vec![Outcome::Failed; batch.len()]);
        mailboxes.send(batch.drain(..).map(|job| job.ticket).zip(outcomes));
        // The write-ahead log fills the disk; after a checkpoint, SQLite overwrites it from its start.
        if failing || since_checkpoint >= CHECKPOINT_WRITES {
            since_checkpoint = 0;
            // PASSIVE does not block readers or writers; the next checkpoint does the rest.
            checkpoint(db, "PASSIVE");
        }
    }
    // The database is then a single file again, and can be copied.
    checkpoint(db, "TRUNCATE");
    Ok(())
}

fn checkpoint(db: &Connection, mode: &str) {
    // Best effort: after a failed checkpoint the data is still durable in the log.
    let _ = db.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
}

/// Writes the whole batch or nothing.
fn write_all(db: &mut Connection, size: u64, batch: &[Job]) -> rusqlite::Result<Vec<Outcome>> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut outcomes = Vec::with_capacity(batch.len());
    {
        let mut create = transaction.prepare_cached(CREATE_PERSON)?;
        let mut update = transaction.prepare_cached(UPDATE_PERSON)?;
        for job in batch {
            outcomes.push(match &job.write {
                Write::Create(visitor) => {
                    create.raw_bind_parameter(1, i64::try_from(size).unwrap_or(i64::MAX))?;
                    bind_properties(&mut create, visitor)?;
                    create.raw_execute()?;
                    Outcome::Created(transaction.last_insert_rowid() as u64)
                }
                Write::Update(id, changes) => {
                    bind_update(&mut update, *id, changes)?;
                    if update.raw_execute()? == 0 { Outcome::Unknown } else { Outcome::Updated }
                }
            });
        }
    }
    transaction.commit()?;
    Ok(outcomes)
}

fn bind_update(update: &mut Statement<'_>, id: u64, changes: &Changes) -> rusqlite::Result<()> {
    // Keys have 63 bits: a larger number becomes -1, which matches no row.
    update.raw_bind_parameter(1, i64::try_from(id).unwrap_or(-1))?;
    let texts = [
        &changes.background,
        &changes.accent,
        &changes.city,
        &changes.language,
        &changes.sections,
        &changes.interests,
        &changes.stocks,
    ];
    for (place, text) in (2..).zip(texts) {
        update.raw_bind_parameter(place, text.as_deref())?;
    }
    update.raw_bind_parameter(9, changes.newsletter)
}
