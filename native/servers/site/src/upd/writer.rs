//! Group commit: one thread, one transaction for everything that waits, answers after the commit.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use people::visitor::Visitor;
use rusqlite::{Connection, Statement, TransactionBehavior};

use super::commits::Commits;
use super::durability::Durability;
use super::open::{self, OpenError};
use super::schema::{CREATE_PERSON, UPDATE_PERSON};

/// Writes of one transaction at most: more take longer than those behind them should wait.
const BATCH: usize = 1_024;

/// Writes between two checkpoints. Each changes a page or two; SQLite's own default is 1,000 pages.
const CHECKPOINT_WRITES: usize = 1_000;

/// What a client wants written.
#[derive(Debug)]
pub(crate) enum Write {
    /// A new person; the number is the database's choice.
    Create(Box<Visitor>),
    /// New values of some properties.
    Update(u64, Box<Changes>),
}

impl Write {
    /// The person it changes; `None` for a new one, who is in no cache yet.
    const fn changes(&self) -> Option<u64> {
        match self {
            Self::Create(_) => None,
            Self::Update(id, _) => Some(*id),
        }
    }
}

/// New values; what is absent stays.
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

/// A write and where its outcome goes.
#[derive(Debug)]
pub(crate) struct Job<T> {
    pub(crate) ticket: T,
    pub(crate) write: Write,
}

/// How a write ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Stored, under this number.
    Created(u64),
    /// Stored.
    Updated,
    /// No person has that number.
    Unknown,
    /// Not stored: the disk is full or does not work, or another process holds the database.
    Failed,
}

/// A write that has ended.
#[derive(Debug)]
pub(crate) struct Done<T> {
    pub(crate) ticket: T,
    pub(crate) outcome: Outcome,
}

/// The writing thread. It ends when all senders are gone.
#[derive(Debug)]
pub(crate) struct Writer<T> {
    thread: JoinHandle<()>,
    jobs: Sender<Job<T>>,
}

impl<T: Send + 'static> Writer<T> {
    /// Opens the database and starts. `answer` gets the outcomes of one transaction at a time.
    pub(crate) fn start(
        path: &Path,
        durability: Durability,
        size: u64,
        commits: Commits,
        answer: impl FnMut(&mut Vec<Done<T>>) + Send + 'static,
    ) -> Result<Self, OpenError> {
        let db = open::writing(path, durability)?;
        let (sender, received) = channel();
        let run = move || {
            let mut db = db;
            if let Err(error) = serve(&mut db, size, &received, &commits, answer) {
                eprintln!("the site's writer stopped: {error}");
            }
        };
        let thread = thread::Builder::new().name("site-writer".into()).spawn(run);
        let thread = thread.map_err(|source: io::Error| OpenError::File { path: path.to_owned(), source })?;
        Ok(Self { thread, jobs: sender })
    }

    /// Where to send it something.
    pub(crate) fn jobs(&self) -> Sender<Job<T>> {
        self.jobs.clone()
    }

    /// Waits until everything sent has been written. All readers have closed the database by now: the
    /// log goes with the last that closes it, if that one may write.
    pub(crate) fn join(self) {
        drop(self.jobs);
        // A panic has been printed by its thread.
        let _ = self.thread.join();
    }
}

fn serve<T>(
    db: &mut Connection,
    size: u64,
    jobs: &Receiver<Job<T>>,
    commits: &Commits,
    mut answer: impl FnMut(&mut Vec<Done<T>>),
) -> rusqlite::Result<()> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut done = Vec::with_capacity(BATCH);
    let mut since_checkpoint = 0;
    let mut failing = false;
    while let Ok(first) = jobs.recv() {
        batch.push(first);
        batch.extend(jobs.try_iter().take(BATCH - 1));
        since_checkpoint += batch.len();
        let written = write_all(db, size, &batch);
        commits.note(batch.iter().filter_map(|job| job.write.changes()));
        // Logged when it begins and when it is over: a full disk refuses thousands a second.
        match &written {
            Err(error) if !failing => eprintln!("the site stores no writes: {error}"),
            Ok(_) if failing => eprintln!("the site stores writes again"),
            Ok(_) | Err(_) => {}
        }
        failing = written.is_err();
        let outcomes = written.unwrap_or_else(|_| vec![Outcome::Failed; batch.len()]);
        done.extend(batch.drain(..).zip(outcomes).map(|(job, outcome)| Done { ticket: job.ticket, outcome }));
        answer(&mut done);
        done.clear();
        // The log is what fills a disk: once it is in the database, it begins anew where it began.
        if failing || since_checkpoint >= CHECKPOINT_WRITES {
            since_checkpoint = 0;
            // Passive: readers and writers do not wait for it. What it cannot do now, the next one does.
            checkpoint(db, "PASSIVE");
        }
    }
    // The file alone is then the whole database again, and can be copied.
    checkpoint(db, "TRUNCATE");
    Ok(())
}

fn checkpoint(db: &Connection, mode: &str) {
    // One that fails leaves everything in the log, where it is as durable.
    let _ = db.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
}

/// Writes all of it or nothing.
fn write_all<T>(db: &mut Connection, size: u64, batch: &[Job<T>]) -> rusqlite::Result<Vec<Outcome>> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut outcomes = Vec::with_capacity(batch.len());
    {
        let mut create = transaction.prepare_cached(CREATE_PERSON)?;
        let mut update = transaction.prepare_cached(UPDATE_PERSON)?;
        for job in batch {
            outcomes.push(match &job.write {
                Write::Create(visitor) => {
                    bind_create(&mut create, size, visitor)?;
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

fn bind_create(create: &mut Statement<'_>, size: u64, visitor: &Visitor) -> rusqlite::Result<()> {
    create.raw_bind_parameter(1, i64::try_from(size).unwrap_or(i64::MAX))?;
    super::build::bind_properties(create, visitor)
}

fn bind_update(update: &mut Statement<'_>, id: u64, changes: &Changes) -> rusqlite::Result<()> {
    // No row has a key beyond 63 bits, and none a negative one.
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
