//! The server: threads that share one store. The crate `net` handles sockets; this module has the LDAP
//! service, and the start and stop of a directory.

mod service;
mod upkeep;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crossbeam_utils::sync::ShardedLock;
use net::{Mailboxes, Server};
use people::{Groups, Population, Profile};

use self::service::LdapService;
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::Domain;
use crate::limits::NoRoom;
use crate::load::{self, LoadError};
use crate::schema::{ACTIVE_DIRECTORY, Schema, SchemaError};
use crate::settings::{Settings, normal};
use crate::slow_binds::SlowBinds;
use crate::stats::{Counters, Published, Stats};
use crate::store::Store;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Listen(#[from] net::ListenError),
    #[error("the administrator {dn:?} {problem}")]
    Admin { dn: String, problem: &'static str },
    #[error(transparent)]
    Room(#[from] NoRoom),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("the system does not give the server what it needs: {0}")]
    System(#[from] io::Error),
}

/// A running directory. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    server: Server,
    shared: Arc<Shared>,
}

/// The shared state of a directory's threads.
#[derive(Debug)]
struct Shared {
    store: ShardedLock<Store>,
    settings: Settings,
    slow_binds: Arc<SlowBinds>,
    clock: Clock,
    published: Box<[Published]>,
}

/// Fills a directory and serves it.
pub fn start(config: Config, people: Option<Arc<Population>>) -> Result<Running, StartError> {
    start_with(config, people, None, Clock::system())
}

/// Like [`start`], with groups of these people and with the caller's clock.
pub fn start_with(
    config: Config,
    people: Option<Arc<Population>>,
    groups: Option<&Groups>,
    clock: Clock,
) -> Result<Running, StartError> {
    check(&config)?;
    // TLS and the port come before the load, which may take a while, so that an unreadable file or a port in
    // use is reported at once.
    let tls = config.tls.as_ref();
    let (mut server, reactors) =
        config.listen(tls.map(|tls| &tls.certificate), tls.is_some_and(|tls| tls.start), &[])?;
    let mut schema = Schema::standard();
    schema.load(people::RTPERSON_SCHEMA)?;
    if config.profile == Profile::Ad {
        schema.load(ACTIVE_DIRECTORY)?;
    }
    if let Some(path) = &config.schema {
        load::define(&mut schema, path)?;
    }
    let settings = Settings::new(&config, load::ils_names(&config, people.as_deref()), clock.now().seconds());
    let mut store = Store::new(schema);
    store.set_limits(config.limits);
    store.domain = settings.ad.then(|| Domain::new(&config.suffix));
    load::fill(&mut store, &config, &settings, people.as_deref(), groups, clock.now().seconds())?;
    let (mailboxes, outcomes) = Mailboxes::new(&reactors);
    let slow_binds = SlowBinds::new(
        mailboxes,
        config.limits.slow_hash_bytes,
        Duration::from_millis(config.limits.slow_hash_ms),
    );
    let shared = Arc::new(Shared {
        store: ShardedLock::new(store),
        settings,
        slow_binds,
        clock,
        published: (0..config.threads).map(|_| Published::default()).collect(),
    });
    for (index, (reactor, outcomes)) in reactors.into_iter().zip(outcomes).enumerate() {
        let shared = Arc::clone(&shared);
        server.spawn("directory", reactor, move |reactor| {
            let Some(published) = shared.published.get(index) else { return Ok(()) };
            reactor.run(LdapService::new(&shared, published, index == 0), outcomes)
        })?;
    }
    Ok(Running { server, shared })
}

fn check(config: &Config) -> Result<(), StartError> {
    config.limits.check_room()?;
    let Some(dn) = &config.admin_dn else { return Ok(()) };
    let problem = match &config.admin_password {
        _ if normal(dn.as_bytes()).is_none_or(|dn| dn.is_empty()) => {
            "is no distinguished name; write it like cn=admin,o=Intranet"
        }
        None => "has no password",
        // RFC 4513 section 5.1.2: a bind with an empty password is refused.
        Some(password) if password.as_bytes().is_empty() => "has an empty password, so no client could bind",
        Some(_) => return Ok(()),
    };
    Err(StartError::Admin { dn: dn.clone(), problem })
}

impl Running {
    /// The address on which the directory listens.
    pub const fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// The certificate authority in PEM, if it was generated at the start.
    pub fn made_ca(&self) -> Option<&str> {
        self.server.made_ca()
    }

    /// The counters so far.
    pub fn stats(&self) -> Stats {
        let counts = self.shared.store.read().unwrap_or_else(PoisonError::into_inner).counts();
        Stats {
            traffic: self.server.traffic(),
            served: Counters::sum(&self.shared.published),
            entries: counts.entries,
            answer_bytes: counts.body_bytes,
        }
    }

    /// Unknown attributes and matching rules that clients of a domain have requested.
    pub fn unknown_names(&self) -> Vec<String> {
        self.shared.settings.unknown.list()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.slow_binds.stop();
        self.server.stop();
    }
}
