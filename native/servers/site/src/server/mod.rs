//! The server: threads that answer, each with a reader of the database, and one that writes. Their sockets
//! are `net`'s and HTTP is `http`'s; here are the answers, and how a site starts and stops.

mod exchange;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use http::{AccessLog, HttpService};
use net::{ConnectionId, Mailboxes, Reactor, Server};
use rusqlite::Connection as Database;
use tls::Acceptor;

use self::exchange::{Outcomes, Site};
use crate::config::Config;
use crate::image::{IMAGE_BYTES, IMAGES};
use crate::limits::Limits;
use crate::people_cache::PeopleCache;
use crate::stats::{Counters, Published, Stats};
use crate::upd::{self, Cache, Commits, Done, Expected, Job, Manifest, OpenError, Reader, Writer};

/// Why a site did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Listen(#[from] net::ListenError),
    /// A limit beyond what can be kept.
    #[error(transparent)]
    Limit(#[from] net::OutOfRange),
    /// Certificate or key are of no use.
    #[error(transparent)]
    Tls(#[from] tls::ConfigError),
    #[error(transparent)]
    Database(#[from] OpenError),
    #[error("the system does not give the site what it needs: {0}")]
    System(#[from] io::Error),
}

/// A site that serves. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    server: Server,
    manifest: Manifest,
    shared: Arc<Shared>,
    writer: Option<Writer<ConnectionId>>,
}

/// What the threads of a site share.
#[derive(Debug)]
struct Shared {
    /// Present where TLS is spoken.
    tls: Option<Acceptor>,
    images: [Picture; IMAGES.len()],
    published: Box<[Published]>,
    limits: Limits,
}

/// A picture and the name of its bytes.
#[derive(Debug)]
struct Picture {
    bytes: &'static [u8; IMAGE_BYTES],
    tag: String,
}

impl Shared {
    fn new(threads: usize, limits: Limits, tls: Option<Acceptor>) -> Self {
        let picture = |bytes: &'static [u8; IMAGE_BYTES]| {
            let sum = bytes.iter().fold(0u32, |sum, &b| sum.wrapping_mul(31).wrapping_add(u32::from(b)));
            Picture { tag: format!("\"{sum:08x}\""), bytes }
        };
        Self {
            tls,
            images: IMAGES.map(picture),
            published: (0..threads).map(|_| Published::default()).collect(),
            limits,
        }
    }
}

/// Opens the database and serves it.
pub fn start(config: Config, expected: &Expected) -> Result<Running, StartError> {
    config.limits.check()?;
    let secure = config.tls.as_ref().map(|spec| Acceptor::new(spec, &[b"http/1.1"])).transpose()?;
    let (server, reactors) =
        Server::listen(&config.host, config.port, config.threads, config.limits.socket())?;
    let manifest = upd::inspect(&config.database, expected)?;
    let shared = Arc::new(Shared::new(config.threads, config.limits, secure));
    let (mailboxes, outcomes) = Mailboxes::new(&reactors);
    let mut parts = Vec::new();
    for (reactor, outcomes) in reactors.into_iter().zip(outcomes) {
        parts.push(ThreadParts { reactor, outcomes, db: upd::reading(&config.database)? });
    }
    let commits = Commits::default();
    let answer = deliver(mailboxes);
    let writer = Writer::start(&config.database, config.durability, manifest.size, commits.clone(), answer)?;
    let writes = writer.jobs();
    let mut running = Running { server, manifest, shared, writer: Some(writer) };
    running.spawn_all(parts, writes, &commits, &config)?;
    Ok(running)
}

/// What a thread takes over.
struct ThreadParts {
    reactor: Reactor,
    outcomes: Receiver<Outcomes>,
    db: Database,
}

/// Hands the outcomes of a transaction to the threads whose clients wait: one wake for each.
fn deliver(mailboxes: Mailboxes<Outcomes>) -> impl FnMut(&mut Vec<Done<ConnectionId>>) + Send + 'static {
    move |done| {
        let mut bundles: Vec<Outcomes> = (0..mailboxes.len()).map(|_| Vec::new()).collect();
        for done in done.drain(..) {
            if let Some(bundle) = bundles.get_mut(done.ticket.thread) {
                bundle.push(done);
            }
        }
        for (thread, bundle) in bundles.into_iter().enumerate().filter(|(_, bundle)| !bundle.is_empty()) {
            mailboxes.send(thread, bundle);
        }
    }
}

impl Running {
    /// Takes the sender by value, so that none is left when a failure here drops the site, which waits for the
    /// writer's end: it ends with the last sender.
    fn spawn_all(
        &mut self,
        parts: Vec<ThreadParts>,
        writes: Sender<Job<ConnectionId>>,
        commits: &Commits,
        config: &Config,
    ) -> Result<(), StartError> {
        for (index, ThreadParts { reactor, outcomes, db }) in parts.into_iter().enumerate() {
            // Here too, so that a database without the table is an error of the start.
            Reader::new(&db, commits.clone())
                .map_err(|source| OpenError::Database { path: config.database.clone(), source })?;
            let (shared, commits, writes) = (Arc::clone(&self.shared), commits.clone(), writes.clone());
            let cache = Cache::new(config.row_cache, commits.clone());
            let log = config.access_log.as_deref().map(AccessLog::open).transpose()?;
            self.server.spawn("site", reactor, move |reactor| {
                let Some(published) = shared.published.get(index) else { return Ok(()) };
                let reader = Reader::new(&db, commits).map_err(io::Error::other)?;
                let people = PeopleCache::new(reader, cache);
                let site = Site::new(&shared, people, writes, outcomes, published);
                reactor.run(HttpService::new(site, shared.limits.request(), log))
            })?;
        }
        Ok(())
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// The authority of its certificate in PEM, if it was made at the start.
    pub fn made_ca(&self) -> Option<&str> {
        self.shared.tls.as_ref()?.made_ca()
    }

    /// The manifest of its database.
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What it has served so far.
    pub fn stats(&self) -> Stats {
        Stats { traffic: self.server.traffic(), served: Counters::sum(&self.shared.published) }
    }

    /// Closes every connection, stores what is left to store, and ends. The database is then one
    /// file again, without a log beside it.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.server.stop();
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
