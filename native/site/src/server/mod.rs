//! The server: threads that answer, each with its own poll, listener and reader, and one that
//! writes.

mod connection;
mod exchange;
mod shared;
mod turn;
mod worker;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use mio::net::TcpListener;
use mio::{Poll, Waker};
use rusqlite::Connection as Database;
use tls::Acceptor;

use self::shared::Shared;
use self::turn::Ticket;
use self::worker::Worker;
use crate::config::Config;
use crate::people_at_hand::PeopleAtHand;
use crate::stats::Stats;
use crate::upd::{self, Cache, Commits, Done, Expected, Job, Manifest, OpenError, Reader, Writer};

/// Why a site did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Nobody can reach it.
    #[error(transparent)]
    Listen(#[from] net::ListenError),
    /// Nobody would serve.
    #[error("a site needs at least one thread, and {0} are more than it can use; 1 for each core")]
    Threads(usize),
    /// A limit beyond what can be kept.
    #[error(transparent)]
    Limit(#[from] net::OutOfRange),
    /// Certificate or key are of no use.
    #[error(transparent)]
    Tls(#[from] tls::ConfigError),
    /// There is nothing to serve.
    #[error(transparent)]
    Database(#[from] OpenError),
    /// No thread, no poll.
    #[error("the system does not give the site what it needs: {0}")]
    System(#[from] io::Error),
}

/// More threads than any machine this runs on has cores is a slip of the pen.
const MAX_THREADS: usize = 1024;

/// A site that serves. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    addr: SocketAddr,
    manifest: Manifest,
    shared: Arc<Shared>,
    threads: Vec<(JoinHandle<()>, Arc<Waker>)>,
    writer: Option<Writer<Ticket>>,
}

/// Opens the database and serves it.
pub fn start(config: Config, expected: &Expected) -> Result<Running, StartError> {
    if config.threads == 0 || config.threads > MAX_THREADS {
        return Err(StartError::Threads(config.threads));
    }
    config.limits.check()?;
    let secure = config.tls.as_ref().map(|spec| Acceptor::new(spec, &[b"http/1.1"])).transpose()?;
    let listeners = net::listen(&config.host, config.port, config.threads)?;
    let addr = listeners.first().map_or(Err(StartError::Threads(0)), |first| Ok(first.local_addr()?))?;
    let manifest = upd::inspect(&config.database, expected)?;
    let shared = Arc::new(Shared::new(config.threads, config.limits, secure));
    let (mut desks, mut mailboxes) = (Vec::new(), Vec::new());
    for listener in listeners {
        let poll = Poll::new()?;
        let waker = Arc::new(Worker::waker(&poll)?);
        let (sender, done) = channel();
        mailboxes.push(Mailbox { sender, waker: Arc::clone(&waker) });
        desks.push(Desk { listener, poll, done, waker, db: upd::reading(&config.database)? });
    }
    let commits = Commits::default();
    let answer = deliver(mailboxes);
    let writer = Writer::start(&config.database, config.durability, manifest.size, commits.clone(), answer)?;
    let jobs = writer.jobs();
    let mut running = Running { addr, manifest, shared, threads: Vec::new(), writer: Some(writer) };
    running.staff_all(desks, jobs, &commits, &config)?;
    Ok(running)
}

/// What a thread takes over.
struct Desk {
    listener: TcpListener,
    poll: Poll,
    done: Receiver<Vec<Done<Ticket>>>,
    waker: Arc<Waker>,
    db: Database,
}

/// How the writer reaches a thread.
struct Mailbox {
    sender: Sender<Vec<Done<Ticket>>>,
    waker: Arc<Waker>,
}

/// Hands the outcomes of a transaction to the threads whose clients wait: one wake for each.
fn deliver(mailboxes: Vec<Mailbox>) -> impl FnMut(&mut Vec<Done<Ticket>>) + Send + 'static {
    move |done| {
        let mut bundles: Vec<Vec<Done<Ticket>>> = mailboxes.iter().map(|_| Vec::new()).collect();
        for done in done.drain(..) {
            if let Some(bundle) = bundles.get_mut(done.ticket.worker) {
                bundle.push(done);
            }
        }
        for (mailbox, bundle) in mailboxes.iter().zip(bundles).filter(|(_, bundle)| !bundle.is_empty()) {
            // A thread that is gone has no clients left either; one that cannot be woken wakes by
            // its timer.
            if mailbox.sender.send(bundle).is_ok() {
                let _ = mailbox.waker.wake();
            }
        }
    }
}

impl Running {
    /// Takes the sender, so that none is left here when a failure makes the writer's end be waited for.
    fn staff_all(
        &mut self,
        desks: Vec<Desk>,
        jobs: Sender<Job<Ticket>>,
        commits: &Commits,
        config: &Config,
    ) -> Result<(), StartError> {
        for (index, desk) in desks.into_iter().enumerate() {
            self.staff(index, desk, jobs.clone(), commits.clone(), config)?;
        }
        Ok(())
    }

    fn staff(
        &mut self,
        index: usize,
        desk: Desk,
        jobs: Sender<Job<Ticket>>,
        commits: Commits,
        config: &Config,
    ) -> Result<(), StartError> {
        // Here, so that a database without the table is an error of the start.
        Reader::new(&desk.db, commits.clone())
            .map_err(|source| OpenError::Database { path: config.database.clone(), source })?;
        let Desk { listener, poll, done, waker, db } = desk;
        let worker = Worker::new(listener, poll, Arc::clone(&self.shared), index, jobs, done)?;
        let cache = Cache::new(config.row_cache, commits.clone());
        let run = move || {
            let served = Reader::new(&db, commits)
                .map_err(io::Error::other)
                .and_then(|reader| worker.run(PeopleAtHand::new(reader, cache)));
            // A poll that fails is beyond repair; the other threads go on.
            if let Err(error) = served {
                eprintln!("site thread {index} stopped: {error}");
            }
        };
        let thread = thread::Builder::new().name(format!("site-{index}")).spawn(run)?;
        self.threads.push((thread, waker));
        Ok(())
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The authority of its certificate in PEM, if it was made at the start.
    pub fn made_ca(&self) -> Option<&str> {
        self.shared.tls.as_ref()?.made_ca()
    }

    /// What its database says of itself.
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What it has served so far.
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    /// Closes every connection, stores what is left to store, and ends. The database is then one
    /// file again, without a log beside it.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.shared.stopping.store(true, Relaxed);
        for (_, waker) in &self.threads {
            // A thread that cannot be woken wakes by its timer.
            let _ = waker.wake();
        }
        for (thread, _) in self.threads.drain(..) {
            let _ = thread.join();
        }
        if let Some(writer) = self.writer.take() {
            writer.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
