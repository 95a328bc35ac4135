//! The engine of a configuration, with lanes that run its programs.

use std::sync::Arc;

use people::Population;
use people::visitor::Visitors;
use scenario::Problems;

use crate::choose::ring::{Ring, RingCursor};
use crate::config::{Adds, Config, ConfigError, DEFAULT_ADDS};
use crate::drive::driver::{Engine, LaunchError};
use crate::fill::Tables;
use crate::http::{self, Http, HttpConfig, TargetError};
use crate::ldap::{self, Ldap, LdapConfig, NameList, NamesError};
use crate::program::{self, Compiled, MAIN, Op, ProgramError, Rules};
use crate::scenario_spec::ScenarioSpec;
use crate::scripted::{self, Lower, Script};
use crate::target_address::TargetAddress;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("{name}:{problems}")]
    Scenario { name: String, problems: Problems },
    #[error(transparent)]
    Names(#[from] NamesError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Tls(#[from] tls::ConfigError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

impl Engine {
    /// Checks the configuration, compiles its programs and starts the threads; no lane runs yet.
    ///
    /// `people` are needed to verify answers, to add people, and to pick people if the target has no name
    /// template. `names` are the names that replace `{i}` in the template; `None` if numbers replace `{i}`.
    /// `tables` are the data files of scenarios, by the names of the data.
    pub fn start(
        mut config: LdapConfig,
        people: Option<Arc<Population>>,
        names: Option<Arc<NameList>>,
        tables: &Tables,
    ) -> Result<Self, StartError> {
        let (compiled, protocol) = directory(&mut config, people, names, tables)?;
        let security = config.target.security()?;
        Ok(Self::launch(&config, &config.resolve()?, &security, compiled, protocol)?)
    }

    /// Starts an engine for a site, as [`Engine::start`] does for a directory. `visitors` are needed for
    /// templates that name properties of people.
    pub fn start_http(
        mut config: HttpConfig,
        visitors: Option<Arc<Visitors>>,
        tables: &Tables,
    ) -> Result<Self, StartError> {
        config.check()?;
        for spec in &config.scenarios {
            let wrong = |problems| StartError::Scenario { name: spec.name.clone(), problems };
            config.target.connect_as(spec).map_err(wrong)?;
        }
        let mut shared = http::Shared::new(&config, visitors)?;
        let (compiled, scripts) = compile(&shared.requests(), &config, tables)?;
        shared.scripts = scripts;
        let ring = compiled.takes_people().then(|| ring(&config, config.target.size));
        let security = config.target.security()?;
        let protocol =
            |seed, thread| Http::new(shared.clone(), ring.clone().map(RingCursor::new), seed, thread);
        Ok(Self::launch(&config, &config.resolve()?, &security, compiled, protocol)?)
    }
}

/// The compiled programs of a directory, and the maker of a thread's protocol.
type Directory<P> = (Compiled<ldap::Request>, P);

pub(crate) fn directory(
    config: &mut LdapConfig,
    people: Option<Arc<Population>>,
    names: Option<Arc<NameList>>,
    tables: &Tables,
) -> Result<Directory<impl Fn(u64, usize) -> Ldap + use<>>, StartError> {
    config.check()?;
    let mut shared = ldap::Shared::new(config, people, names)?;
    let (compiled, scripts) = compile(&shared.requests(&config.target), config, tables)?;
    shared.take(&compiled, scripts);
    let goes_elsewhere = |op: &Op<_>| matches!(op, Op::Connect { endpoint, .. } if *endpoint != MAIN);
    if !compiled.programs.iter().flat_map(|program| &program.ops).any(goes_elsewhere) {
        // The certificate authorities are read from `choices`. Without a connection to another
        // endpoint they are not needed.
        config.target.choices = None;
    }
    let ring = ldap::adds_people(&compiled).then(|| ring(config, shared.count));
    let protocol =
        move |seed, thread| Ldap::new(shared.clone(), ring.clone().map(RingCursor::new), seed, thread);
    Ok((compiled, protocol))
}

/// Checks that a lane could run the scenario against some target. Returns the step that counts as an
/// operation; `None` if the scenario's operations have counted steps of their own.
pub fn check_scenario(spec: &ScenarioSpec, tables: &Tables) -> Result<Option<String>, Problems> {
    match scenario::read(&spec.text).map(|scenario| scenario.protocol) {
        Ok(scenario::Protocol::Http) => http::check_scenario(spec, tables),
        _ => ldap::check_scenario(spec, tables),
    }
}

/// Compiles the scenarios of an engine.
fn compile<L: Lower, T: TargetAddress>(
    lower: &L,
    config: &Config<T>,
    tables: &Tables,
) -> Result<(Compiled<L::Request>, Vec<Script>), StartError> {
    let (mut programs, mut scripts) = (Vec::new(), Vec::new());
    for (number, spec) in config.scenarios.iter().enumerate() {
        let converted = scripted::convert(lower, spec, number, tables, config.keys, config.threads);
        let wrong = |problems| StartError::Scenario { name: spec.name.clone(), problems };
        let (program, script) = converted.map_err(wrong)?;
        programs.push(program);
        scripts.push(script);
    }
    let (open, connects, phases) = (config.is_open(), lower.connects(), lower.records_phases());
    let rules = Rules { open, connects, endpoint: L::endpoint_of, phases };
    Ok((program::compile(programs, rules)?, scripts))
}

fn ring<T>(config: &Config<T>, count: u64) -> Arc<Ring> {
    let Adds { start, keys } = config.adds.unwrap_or(Adds { start: count, keys: DEFAULT_ADDS });
    Arc::new(Ring::new(start, keys, config.threads as u64))
}
