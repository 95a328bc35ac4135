//! The server: threads that answer requests, each with a reader of the database, and one writing thread. The
//! crates `net` and `http` handle sockets and HTTP; this crate has the routes, and the start and stop of a
//! site.

mod exchange;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use http::{AccessLog, HttpService};
use net::{Mailboxes, Server};

use self::exchange::Site;
use crate::config::Config;
use crate::image::{IMAGE_BYTES, IMAGES};
use crate::limits::Limits;
use crate::people_cache::PeopleCache;
use crate::stats::{Counters, Published, Stats};
use crate::upd::{self, Commits, Expected, Manifest, OpenError, Reader, Writer};

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Listen(#[from] net::ListenError),
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
    writer: Option<Writer>,
}

/// State shared by the threads of a site.
#[derive(Debug)]
struct Shared {
    /// The entity tags of the pictures.
    image_tags: [String; IMAGES.len()],
    published: Box<[Published]>,
    limits: Limits,
}

/// Opens the database and serves it.
pub fn start(config: Config, expected: &Expected) -> Result<Running, StartError> {
    let (server, reactors) = config.listen(config.tls.as_ref(), false, &[b"http/1.1"])?;
    let manifest = upd::inspect(&config.database, expected)?;
    let tag = |bytes: &[u8; IMAGE_BYTES]| {
        let sum = bytes.iter().fold(0u32, |sum, &b| sum.wrapping_mul(31).wrapping_add(u32::from(b)));
        format!("\"{sum:08x}\"")
    };
    let shared = Arc::new(Shared {
        image_tags: IMAGES.map(tag),
        published: (0..config.threads).map(|_| Published::default()).collect(),
        limits: config.limits,
    });
    let (mailboxes, outcomes) = Mailboxes::new(&reactors);
    let commits = Commits::default();
    let writer =
        Writer::start(&config.database, config.durability, manifest.size, commits.clone(), mailboxes)?;
    let writes = writer.jobs();
    let mut running = Running { server, manifest, shared, writer: Some(writer) };
    // `writes` is declared after `running`, so that a failure drops `writes` first. The writer ends
    // when all senders are dropped.
    let writes = writes;
    for (index, (reactor, outcomes)) in reactors.into_iter().zip(outcomes).enumerate() {
        let db = upd::reading(&config.database)?;
        // The reader is opened here as well, so that a database without the table is an error of the start.
        Reader::new(&db, commits.clone())
            .map_err(|source| OpenError::Database { path: config.database.clone(), source })?;
        let (shared, commits, writes) = (Arc::clone(&running.shared), commits.clone(), writes.clone());
        let row_cache = config.row_cache;
        let log = config.access_log.as_deref().map(AccessLog::open).transpose()?;
        running.server.spawn("site", reactor, move |reactor| {
            let Some(published) = shared.published.get(index) else { return Ok(()) };
            let reader = Reader::new(&db, commits.clone()).map_err(io::Error::other)?;
            let site = Site::new(&shared, PeopleCache::new(reader, commits, row_cache), writes, published);
            reactor.run(HttpService::new(site, shared.limits.request(), log), outcomes)
        })?;
    }
    Ok(running)
}

impl Running {
    /// The address on which the site listens.
    pub const fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// The certificate authority in PEM, if it was generated at the start.
    pub fn made_ca(&self) -> Option<&str> {
        self.server.made_ca()
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
