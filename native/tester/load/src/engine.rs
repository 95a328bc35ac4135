//! The engine as its users see it: a configuration, and lanes of its programs.

use std::sync::Arc;
use std::time::Duration;

use people::Population;
use people::visitor::Visitors;
use scenario::Problems;

use crate::choose::ring::{Ring, RingCursor};
use crate::choose::schedule::Pace;
use crate::config::{Adds, Config, ConfigError, DEFAULT_ADDS, Verify};
use crate::drive::driver::{CommandError, Driver, LaunchError, Plan};
use crate::drive::snapshot::Snapshot;
use crate::fill::Tables;
use crate::http::{self, Http, HttpConfig, TargetError};
use crate::ldap::{self, Ldap, LdapConfig, NameList, NamesError};
use crate::program::{Compiled, MAIN, Op, ProgramError};
use crate::protocol::Protocol;
use crate::scenario_spec::ScenarioSpec;
use crate::target_address::TargetAddress;

/// Why an engine does not start.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum StartError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A scenario that cannot be run.
    #[error("{name}:{problems}")]
    Scenario { name: String, problems: Problems },
    #[error(transparent)]
    Names(#[from] NamesError),
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A certificate, key or list of authorities that cannot be used.
    #[error(transparent)]
    Tls(#[from] tls::ConfigError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// Lanes running programs against one target, on threads of their own.
///
/// Dropping it stops everything at once.
pub struct Engine {
    driver: Driver,
}

impl Engine {
    /// Checks the configuration, compiles its programs and starts the threads; no lane runs yet.
    ///
    /// `people` are needed to verify, to add, and to pick from unless the target has a name template; `names`
    /// are what its `{i}` stands for, where that is no number. `tables` are the files of scenarios, by the names of
    /// their data.
    pub fn start(
        mut config: LdapConfig,
        people: Option<Arc<Population>>,
        names: Option<Arc<NameList>>,
        tables: &Tables,
    ) -> Result<Self, StartError> {
        let (compiled, speaks) = directory(&mut config, people, names, tables)?;
        Self::launch(&config, compiled, |seed, thread| speaks.protocol(seed, thread))
    }

    /// The same for a site. `visitors` are needed for templates that name properties of people.
    pub fn start_http(
        mut config: HttpConfig,
        visitors: Option<Arc<Visitors>>,
        tables: &Tables,
    ) -> Result<Self, StartError> {
        let (compiled, speaks) = site(&mut config, visitors, tables)?;
        Self::launch(&config, compiled, |seed, thread| speaks.protocol(seed, thread))
    }

    fn launch<P: Protocol, T: TargetAddress>(
        config: &Config<T>,
        compiled: Compiled<P::Request>,
        mut protocol: impl FnMut(u64, usize) -> P,
    ) -> Result<Self, StartError> {
        let plan = Plan {
            threads: config.threads,
            addresses: config.resolve()?,
            security: config.target.security()?,
            spread_sources: config.target.spreads_sources(),
            timeout: config.timeout(),
            connect_timeout: config.connect_timeout(),
            schedule: config.schedule.clone(),
            log: config.log,
            compiled,
        };
        let names = config.scenarios.iter().map(|spec| spec.name.clone()).collect();
        let driver = Driver::launch(plan, names, |thread| {
            let (seed, random) = config.seeds(thread);
            (protocol(seed, thread), random)
        })?;
        Ok(Self { driver })
    }

    /// Starts `n` more lanes of `program`.
    pub fn start_lanes(&mut self, program: &str, n: u64) -> Result<(), CommandError> {
        self.driver.start_lanes(program, n)
    }

    /// Stops `n` lanes of `program`; each ends after the operation it is in.
    pub fn stop_lanes(&mut self, program: &str, n: u64) -> Result<(), CommandError> {
        self.driver.stop_lanes(program, n)
    }

    /// Takes what was recorded since the last drain: each operation is in exactly one snapshot.
    pub fn drain(&mut self) -> Result<Snapshot, CommandError> {
        self.driver.drain(false)
    }

    /// Drains at the edge of a window: later snapshots keep apart what was due before it. The first one begins a
    /// schedule of stages.
    pub fn cut(&mut self) -> Result<Snapshot, CommandError> {
        self.driver.drain(true)
    }

    /// Stops every lane, waits at most `timeout` for answers (what is still missing then counts as
    /// timed out), and returns the last snapshot.
    pub fn stop(&mut self, timeout: Duration) -> Result<Snapshot, CommandError> {
        self.driver.stop(timeout)
    }

    /// The rate of an open schedule, and the origin from which even arrivals are counted. Both are fixed once it
    /// has begun: at the start, or at the first cut if it is of stages.
    pub fn pace(&self) -> Option<Pace> {
        self.driver.pace()
    }
}

/// What all threads need to speak to a directory.
pub(crate) struct SpeaksLdap {
    shared: ldap::Shared,
    ring: Option<Arc<Ring>>,
}

impl SpeaksLdap {
    /// The protocol of a thread.
    pub(crate) fn protocol(&self, seed: u64, thread: usize) -> Ldap {
        let ring = self.ring.clone().map(RingCursor::new);
        Ldap::new(self.shared.clone(), ring, seed, thread)
    }
}

/// What the lanes of a directory run.
pub(crate) fn directory(
    config: &mut LdapConfig,
    people: Option<Arc<Population>>,
    names: Option<Arc<NameList>>,
    tables: &Tables,
) -> Result<(Compiled<ldap::Request>, SpeaksLdap), StartError> {
    config.check()?;
    let mut shared = ldap::Shared::new(&config.target, people, names, config.verify)?;
    let take = |spec: &ScenarioSpec| {
        let program = shared.take(spec, &config.target, tables, config.keys, config.threads);
        program.map_err(|problems| StartError::Scenario { name: spec.name.clone(), problems })
    };
    let programs = config.scenarios.iter().map(take).collect::<Result<_, _>>()?;
    let compiled = shared.compile(programs, config.is_open())?;
    let goes_elsewhere = |op: &Op<_>| matches!(op, Op::Connect { endpoint, .. } if *endpoint != MAIN);
    if !compiled.programs.iter().flat_map(|program| &program.ops).any(goes_elsewhere) {
        // What no connection chooses needs no authorities.
        config.target.choices = None;
    }
    let ring = ldap::adds_people(&compiled).then(|| ring(config, shared.count()));
    Ok((compiled, SpeaksLdap { shared, ring }))
}

/// What all threads need to speak to a site.
pub(crate) struct Speaks {
    shared: http::Shared,
    ring: Option<Arc<Ring>>,
}

impl Speaks {
    /// The protocol of a thread.
    pub(crate) fn protocol(&self, seed: u64, thread: usize) -> Http {
        Http::new(self.shared.clone(), self.ring.clone().map(RingCursor::new), seed, thread)
    }
}

/// What the lanes of a site run.
pub(crate) fn site(
    config: &mut HttpConfig,
    visitors: Option<Arc<Visitors>>,
    tables: &Tables,
) -> Result<(Compiled<http::Request>, Speaks), StartError> {
    config.check()?;
    for spec in &config.scenarios {
        let wrong = |problems| StartError::Scenario { name: spec.name.clone(), problems };
        config.target.connect_as(spec).map_err(wrong)?;
    }
    let mut shared = http::Shared::new(&config.target, visitors, config.verify != Verify::None)?;
    let take = |spec: &ScenarioSpec| {
        let program = shared.take(spec, tables, config.keys, config.threads);
        program.map_err(|problems| StartError::Scenario { name: spec.name.clone(), problems })
    };
    let programs = config.scenarios.iter().map(take).collect::<Result<_, _>>()?;
    let compiled = shared.compile(programs, config.is_open())?;
    let ring = http::creates_people(&compiled).then(|| ring(config, config.target.size));
    Ok((compiled, Speaks { shared, ring }))
}

/// Says what of a scenario no lane could run, whatever its target; returns the step that it counts, if its passes are
/// its operations.
pub fn check_scenario(spec: &ScenarioSpec, tables: &Tables) -> Result<Option<String>, Problems> {
    match scenario::read(&spec.text).map(|scenario| scenario.protocol) {
        Ok(scenario::Protocol::Http) => http::check_scenario(spec, tables),
        _ => ldap::check_scenario(spec, tables),
    }
}

fn ring<T>(config: &Config<T>, count: u64) -> Arc<Ring> {
    let Adds { start, keys } = config.adds.unwrap_or(Adds { start: count, keys: DEFAULT_ADDS });
    Arc::new(Ring::new(start, keys, config.threads as u64))
}
