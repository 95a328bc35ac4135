//! The server: threads, each with its own poll, its own listener and its own connections, around
//! one store.

mod connection;
mod floor;
mod shared;
mod timer;
mod worker;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};

use mio::Waker;
use people::Population;
use tls::Acceptor;

use self::shared::Shared;
use self::worker::Worker;
use crate::clock::Clock;
use crate::config::{self, Config};
use crate::load::{self, LoadError};
use crate::schema::{Schema, SchemaError};
use crate::settings::{self, Settings, normal};
use crate::stats::Stats;
use crate::store::{Bounds, Store};

/// Why a directory did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Nobody can reach it.
    #[error(transparent)]
    Listen(#[from] net::ListenError),
    /// The administrator has no usable name, or no password.
    #[error("the administrator {dn:?} {problem}")]
    Admin {
        /// Its name.
        dn: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// Nobody would serve.
    #[error("a directory needs at least one thread, and {0} are more than it can use; 1 for each core")]
    Threads(usize),
    /// A limit beyond what can be kept.
    #[error(transparent)]
    Limit(#[from] net::OutOfRange),
    /// The schema of the people is not understood.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// Certificate or key are of no use.
    #[error(transparent)]
    Tls(#[from] tls::ConfigError),
    /// The entries to start with.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// No thread, no poll.
    #[error("the system does not give the server what it needs: {0}")]
    System(#[from] io::Error),
}

/// More threads than any machine this runs on has cores is a slip of the pen.
const MAX_THREADS: usize = 1024;

/// A directory that serves. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    addr: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<(JoinHandle<()>, Waker)>,
}

/// Fills a directory and serves it.
pub fn start(config: Config, people: Option<Arc<Population>>) -> Result<Running, StartError> {
    start_at(config, people, Clock::system())
}

/// The same under a clock of the caller's.
pub fn start_at(
    config: Config,
    people: Option<Arc<Population>>,
    clock: Clock,
) -> Result<Running, StartError> {
    check(&config)?;
    // Before the loading, which may take a while: a port in use is told at once, and so is a file that
    // cannot be read.
    let secure = config.tls.as_ref().map(speak_tls).transpose()?;
    let listeners = net::listen(&config.host, config.port, config.threads)?;
    let addr = listeners.first().map_or_else(
        || Err(StartError::Threads(config.threads)),
        |first| first.local_addr().map_err(StartError::System),
    )?;
    let mut schema = Schema::standard();
    schema.load(people::RTPERSON_SCHEMA)?;
    let mut settings = Settings::new(&config, load::ils_names(&config, people.as_deref()));
    settings.tls = secure;
    let mut store = Store::new(schema);
    store.set_bounds(Bounds {
        attributes: config.limits.attributes_per_entry,
        values: config.limits.values_per_entry,
        changes: config.limits.changes_per_modify,
    });
    load::fill(&mut store, &config, &settings, people.as_deref(), clock.now().seconds())?;
    let shared = Arc::new(Shared::new(store, settings, clock, config.threads));
    let mut running = Running { addr, shared, threads: Vec::with_capacity(config.threads) };
    for (index, listener) in listeners.into_iter().enumerate() {
        let (worker, waker) = Worker::new(listener, Arc::clone(&running.shared), index)?;
        let thread = thread::Builder::new().name(format!("directory-{index}")).spawn(move || {
            // A poll that fails is beyond repair; the others go on.
            if let Err(error) = worker.run() {
                eprintln!("directory thread {index} stopped: {error}");
            }
        })?;
        running.threads.push((thread, waker));
    }
    Ok(running)
}

fn speak_tls(config: &config::Tls) -> Result<settings::Tls, tls::ConfigError> {
    let acceptor = Acceptor::new(&config.certificate, &[])?;
    Ok(settings::Tls { acceptor, start: config.start, mutual: config.certificate.client_ca.is_some() })
}

fn check(config: &Config) -> Result<(), StartError> {
    if config.threads == 0 || config.threads > MAX_THREADS {
        return Err(StartError::Threads(config.threads));
    }
    config.limits.check()?;
    let Some(dn) = &config.admin_dn else { return Ok(()) };
    let problem = match &config.admin_password {
        _ if normal(dn.as_bytes()).is_none_or(|dn| dn.is_empty()) => {
            "is no distinguished name; write it like cn=admin,o=Intranet"
        }
        None => "has no password; give it one in a file",
        // RFC 4513 section 5.1.2: such a bind is refused.
        Some(password) if password.as_bytes().is_empty() => {
            "has an empty password, with which nobody can bind"
        }
        Some(_) => return Ok(()),
    };
    Err(StartError::Admin { dn: dn.clone(), problem })
}

impl Running {
    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The authority of its certificate in PEM, if it was made at the start.
    pub fn made_ca(&self) -> Option<&str> {
        self.shared.settings.tls.as_ref()?.acceptor.made_ca()
    }

    /// What it has served so far.
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    /// Closes every connection and ends.
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
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
