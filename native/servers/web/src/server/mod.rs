//! The server: threads that answer requests, and threads that wait for programs. The crates `net` and `http`
//! handle sockets and HTTP; this crate has the routes, and the start and stop of a server.

mod exchange;
mod rest;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::{AccessLog, HttpService};
use net::{Mailboxes, Server};
use rustix::process::{PidfdFlags, getpid, pidfd_open};

use self::exchange::Web;
use crate::cgi::{Pool, Rules};
use crate::config::Config;
use crate::dynamic::Templates;
use crate::files::Root;
use crate::limits::Limits;
use crate::stats::{Counters, Published, Stats};

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Listen(#[from] net::ListenError),
    #[error("cannot open the folder {}: {source}; name one that is there", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error(
        "this system cannot wait for CGI programs (pidfd_open: {0}); use Linux 5.3 or later, or name no CGI folder"
    )]
    Programs(io::Error),
    #[error("the system does not give the web server what it needs: {0}")]
    System(#[from] io::Error),
}

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    server: Server,
    shared: Arc<Shared>,
    pool: Option<Pool>,
}

/// State shared by the threads of a server.
#[derive(Debug)]
struct Shared {
    /// The address on which the server listens, for the variables of programs.
    host: String,
    port: u16,
    /// Whether the server uses TLS.
    secure: bool,
    /// The folder of the files.
    root: Option<Arc<Root>>,
    /// Whether names that begin with a dot are served.
    hidden: bool,
    templates: Templates,
    published: Box<[Published]>,
    limits: Limits,
}

/// Opens the folders and starts serving.
pub fn start(config: Config) -> Result<Running, StartError> {
    let root = config.docroot.as_deref().map(open).transpose()?.map(Arc::new);
    let rules = config.cgi.as_deref().map(|folder| rules(folder, &config)).transpose()?;
    let (server, reactors) = config.listen(config.tls.as_ref(), false, &[b"http/1.1"])?;
    let shared = Arc::new(Shared {
        port: server.addr().port(),
        host: config.host.clone(),
        secure: config.tls.is_some(),
        root,
        hidden: config.hidden,
        templates: Templates::new(),
        published: (0..config.threads).map(|_| Default::default()).collect(),
        limits: config.limits,
    });
    let (mailboxes, outcomes) = Mailboxes::new(&reactors);
    let mailboxes = Arc::new(mailboxes);
    let pool = rules.map(|rules| Pool::start(rules, &shared.limits, &mailboxes)).transpose()?;
    let mut running = Running { server, shared, pool };
    for (index, (reactor, outcomes)) in reactors.into_iter().zip(outcomes).enumerate() {
        let (shared, jobs) = (Arc::clone(&running.shared), running.pool.as_ref().and_then(Pool::jobs));
        let log = config.access_log.as_deref().map(AccessLog::open).transpose()?;
        running.server.spawn("web", reactor, move |reactor| {
            let Some(published) = shared.published.get(index) else { return Ok(()) };
            let web = Web::new(&shared, jobs, published);
            reactor.run(HttpService::new(web, shared.limits.request(), log), outcomes)
        })?;
    }
    Ok(running)
}

fn open(folder: &Path) -> Result<Root, StartError> {
    Root::open(folder).map_err(|error| StartError::Folder { path: folder.into(), source: error.into() })
}

fn rules(folder: &Path, config: &Config) -> Result<Rules, StartError> {
    // Some sandboxes forbid this system call, which is needed for every program.
    pidfd_open(getpid(), PidfdFlags::empty()).map_err(|error| StartError::Programs(error.into()))?;
    let root = open(folder)?;
    let failed = |source| StartError::Folder { path: folder.into(), source };
    let folder = folder.canonicalize().map_err(failed)?;
    Ok(Rules { folder, root, most_ms: config.limits.cgi_ms, most_bytes: config.limits.cgi_output_bytes })
}

impl Running {
    /// The address on which the server listens.
    pub const fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// The certificate authority in PEM, if it was generated at the start.
    pub fn made_ca(&self) -> Option<&str> {
        self.server.made_ca()
    }

    /// The counters so far.
    pub fn stats(&self) -> Stats {
        Stats { traffic: self.server.traffic(), served: Counters::sum(&self.shared.published) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Clients are stopped first, so that no further job is queued.
        self.server.stop();
        self.pool = None;
    }
}
