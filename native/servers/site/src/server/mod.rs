//! The server: threads that answer requests, each with a reader of the database, and one writing thread. The
//! crates `net` and `http` handle sockets and HTTP; this crate has the routes, and the start and stop of a
//! site.

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

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Listen(#[from] net::ListenError),
    #[error(transparent)]
    Limit(#[from] net::OutOfRange),
    #[error(transparent)]
    Tls(#[from] tls::ConfigError),
    #[error(transparent)]
    Database(#[from] OpenError),
    #[error("the system does not give the site what it needs: {0}")]
    System(#[from] io::Error),
}

/// A running site. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    server: Server,
    manifest: Manifest,
    shared: Arc<Shared>,
    writer: Option<Writer<ConnectionId>>,
}

/// State shared by the threads of a site.
#[derive(Debug)]
struct Shared {
    /// Present if the site uses TLS.
    tls: Option<Acceptor>,
    images: [Picture; IMAGES.len()],
    published: Box<[Published]>,
    limits: Limits,
}

/// A picture and its entity tag.
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

/// The values moved into a thread.
struct ThreadParts {
    reactor: Reactor,
    outcomes: Receiver<Outcomes>,
    db: Database,
}

/// Sends the outcomes of a transaction to the threads of the waiting clients, with one wake-up per thread.
fn deliver(mailboxes: Mailboxes<Outcomes>) -> impl FnMut(&mut Vec<Done<ConnectionId>>) + Send + 'static {
    move |done| {
        let mut bundles: Vec<Outcomes> = (0..mailboxes.threads()).map(|_| Vec::new()).collect();
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
    /// Starts the threads. Takes the sender by value, so that a failure drops it: the writer ends when all
    /// senders are dropped, and the drop of the site waits for the writer.
    fn spawn_all(
        &mut self,
        parts: Vec<ThreadParts>,
        writes: Sender<Job<ConnectionId>>,
        commits: &Commits,
        config: &Config,
    ) -> Result<(), StartError> {
        for (index, ThreadParts { reactor, outcomes, db }) in parts.into_iter().enumerate() {
            // The reader is opened here as well, so that a database without the table is an error of the
            // start.
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
                reactor.run(HttpService::new(site, shared.limits.request(), shared.tls.clone(), log))
            })?;
        }
        Ok(())
    }

    /// The address on which the site listens.
    pub const fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// The certificate authority in PEM, if it was generated at the start.
    pub fn made_ca(&self) -> Option<&str> {
        self.shared.tls.as_ref()?.made_ca()
    }

    /// The manifest of the database.
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The counters so far.
    pub fn stats(&self) -> Stats {
        Stats { traffic: self.server.traffic(), served: Counters::sum(&self.shared.published) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.server.stop();
        if let Some(writer) = self.writer.take() {
            writer.join();
        }
    }
}
