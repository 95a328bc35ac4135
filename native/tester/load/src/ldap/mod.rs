//! LDAP: encodes requests, reads and verifies answers.
//!
//! `ask` compiles a step of a scenario, `writing` writes the frame and the fields of its request, and `judge`
//! verifies answers. `crate::scripted` makes the programs.

mod ask;
mod describe;
mod frame;
mod judge;
mod lower;
mod names;
mod people_rows;
mod receive;
mod start_tls;
mod verify;
mod writing;

use std::sync::Arc;

use people::{Population, Profile};
use serde::{Deserialize, Serialize};
use tls::{ClientSpec, ConfigError};

use crate::choose::ring::RingCursor;
use crate::config::{Config, Verify};
use crate::connection::security::{Security, Tls};
use crate::program::{Compiled, MAIN};
use crate::scripted::{Memory, Running, Script};
use crate::target_address::TargetAddress;

pub(crate) use lower::check as check_scenario;
pub use names::{NameList, NamesError, NamesSpec};

use ask::Ask;
use lower::Requests;
use names::{Names, Template};
use people_rows::PeopleRows;
use verify::{Digests, Verifier};

pub type LdapConfig = Config<Target>;

pub type Request = Box<Ask>;

/// The measured directory, and the names of its people.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub host: String,
    pub port: u16,
    /// The DN of the entry above the people.
    pub base: String,
    /// `ils` uses NetMeeting's variant of LDAP; the other profiles use standard LDAP.
    #[serde(default = "paper")]
    pub profile: Profile,
    /// Whether connections to this machine come from many addresses (method rule 13).
    #[serde(default = "yes")]
    pub spread_sources: bool,
    #[serde(default)]
    pub tls: Option<Tls>,
    /// TLS settings for connections whose scenario sets `tls`.
    #[serde(default)]
    pub choices: Option<Choices>,
    #[serde(default)]
    pub names: Option<NamesSpec>,
}

/// The alternatives to the target's address, for connections that choose TLS.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choices {
    /// Trusted authorities, and the client's own certificate.
    pub trust: ClientSpec,
    /// The port with TLS from the first byte on, if it is another than the target's port.
    #[serde(default)]
    pub ldaps: Option<(String, u16)>,
}

/// The endpoints after [`MAIN`], if the target has alternatives ([`Choices`]).
const CLEAR: usize = 1;
const STARTED: usize = 2;
const LDAPS: usize = 3;

const fn paper() -> Profile {
    Profile::Paper
}

const fn yes() -> bool {
    true
}

impl Target {
    fn endpoint(&self, tls: Option<scenario::Tls>) -> Result<usize, &'static str> {
        let starts = self.tls.as_ref().map(|tls| tls.start);
        Ok(match (tls, starts) {
            (None, _)
            | (Some(scenario::Tls::Never), None)
            | (Some(scenario::Tls::StartTls), Some(true))
            | (Some(scenario::Tls::Always), Some(false)) => MAIN,
            (Some(_), Some(false)) => {
                return Err(
                    "the target speaks TLS from the first byte on: give its ldap:// address as --target, \
                            and this one as --tls-target",
                );
            }
            (Some(_), _) if self.choices.is_none() => {
                return Err("tls of a connection needs authorities to trust");
            }
            (Some(scenario::Tls::Never), Some(true)) => CLEAR,
            (Some(scenario::Tls::StartTls), None) => STARTED,
            (Some(scenario::Tls::Always), _) => match &self.choices {
                Some(Choices { ldaps: Some(_), .. }) => LDAPS,
                _ => return Err("tls = true needs an ldaps:// address: give it as --tls-target"),
            },
        })
    }
}

impl TargetAddress for Target {
    fn addresses(&self) -> Vec<Vec<(&str, u16)>> {
        let main = (self.host.as_str(), self.port);
        let secure = self.choices.as_ref().and_then(|choices| choices.ldaps.as_ref());
        let secure = secure.map_or(main, |(host, port)| (host.as_str(), *port));
        vec![if self.choices.is_some() { vec![main, main, main, secure] } else { vec![main] }]
    }

    fn security(&self) -> Result<Vec<Option<Security>>, ConfigError> {
        let security = self.tls.as_ref().map(|tls| {
            let ask = tls.start.then_some(&start_tls::START_TLS);
            Security::new(&tls.trust, &self.host, &[], ask)
        });
        let mut all = vec![security.transpose()?];
        if let Some(Choices { trust, ldaps }) = &self.choices {
            let secure = ldaps.as_ref().map_or(&self.host, |(host, _)| host);
            let started = Security::new(trust, &self.host, &[], Some(&start_tls::START_TLS))?;
            all.extend([None, Some(started), Some(Security::new(trust, secure, &[], None)?)]);
        }
        Ok(all)
    }

    fn spreads_sources(&self) -> bool {
        self.spread_sources
    }
}

#[derive(Debug, Default)]
pub struct LaneState {
    /// The id of the request in flight, 1 to 127: one byte, so that all requests with the same fields have
    /// the same size.
    id: u8,
    /// The number of the person to add that this lane took last.
    taken: Option<u64>,
    /// Whether the entry of the person `taken` was added before and has to be removed first.
    comes_again: bool,
    /// The DN that the answer to a lookup must have, if it is known.
    dn: Vec<u8>,
    entries: u64,
    /// Whether an entry of the answer was wrong.
    wrong: bool,
    /// The lane's state of its scenario.
    memory: Memory,
}

/// The highest message id: the largest that is one byte in BER.
const LAST_ID: u8 = 127;

impl LaneState {
    fn next_id(&mut self) -> i32 {
        self.id = self.id % LAST_ID + 1;
        i32::from(self.id)
    }
}

/// The state that the protocols of all threads share.
#[derive(Clone)]
pub(crate) struct Shared {
    names: Names,
    /// The number of people to draw from.
    pub(crate) count: u64,
    verify: bool,
    digests: Arc<Digests>,
    changed: Vec<String>,
    scripts: Vec<Script>,
}

/// The LDAP protocol of one thread.
pub struct Ldap {
    shared: Shared,
    ring: Option<RingCursor>,
    rng: fastrand::Rng,
    verifier: Verifier,
    scripts: Vec<Running>,
    name: Vec<u8>,
    scratch: Vec<u8>,
}

impl Shared {
    pub(crate) fn new(
        config: &LdapConfig,
        people: Option<Arc<Population>>,
        list: Option<Arc<NameList>>,
    ) -> Result<Self, NamesError> {
        let (target, verify) = (&config.target, config.verify);
        let template =
            target.names.as_ref().map(|spec| Template::new(spec, &target.base, list)).transpose()?;
        let names = Names { people, template, profile: target.profile };
        let count = names.count(target.names.as_ref());
        let digested = names.people.as_ref().filter(|_| verify == Verify::Digest);
        let digests = Arc::new(Digests::new(digested.map_or(0, |people| people.spec().size)));
        let (verify, changed, scripts) = (verify != Verify::None, Vec::new(), Vec::new());
        Ok(Self { names, count, verify, digests, changed, scripts })
    }

    pub(crate) fn requests<'t>(&self, target: &'t Target) -> Requests<'t> {
        let people = Arc::new(PeopleRows::new(&self.names, self.count));
        Requests { target: Some(target), people: Some(people) }
    }

    /// Takes the compiled scenarios.
    pub(crate) fn take(&mut self, compiled: &Compiled<Request>, scripts: Vec<Script>) {
        self.changed = compiled.requests().flat_map(|ask| &ask.changed).cloned().collect();
        self.scripts = scripts;
    }
}

impl Ldap {
    pub(crate) fn new(shared: Shared, ring: Option<RingCursor>, seed: u64, thread: usize) -> Self {
        let scripts = shared.scripts.iter().map(|script| Running::new(script, thread)).collect();
        let digests = Arc::clone(&shared.digests);
        let verifier = Verifier::new(shared.names.profile, shared.changed.clone(), digests);
        let rng = fastrand::Rng::with_seed(seed);
        Self { shared, ring, rng, verifier, scripts, name: Vec::new(), scratch: Vec::new() }
    }
}

/// Whether any program adds people.
pub(crate) fn adds_people(compiled: &Compiled<Request>) -> bool {
    let takes = |ask: &Request| ask.first.as_ref().is_some_and(|first| first.takes);
    compiled.takes_people() || compiled.requests().any(takes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Tls::{Always, Never, StartTls};

    #[test]
    fn each_tls_setting_of_a_connection_selects_an_address_of_the_target() {
        let target = |tls: serde_json::Value, choices: serde_json::Value| -> Target {
            let text =
                serde_json::json!({"host": "h", "port": 389, "base": "", "tls": tls, "choices": choices});
            serde_json::from_value(text).unwrap()
        };
        let (none, tls) = (serde_json::Value::Null, |start| serde_json::json!({"trust": {}, "start": start}));
        let choices = || serde_json::json!({"trust": {"insecure": true}});
        let ldaps = serde_json::json!({"trust": {"insecure": true}, "ldaps": ["h", 636]});
        let (clear, started, secure) =
            (target(none.clone(), ldaps), target(tls(true), choices()), target(tls(false), choices()));
        for (what, expected) in [
            (None, [Some(MAIN), Some(MAIN), Some(MAIN)]),
            (Some(Never), [Some(MAIN), Some(CLEAR), None]),
            (Some(StartTls), [Some(STARTED), Some(MAIN), None]),
            (Some(Always), [Some(LDAPS), None, Some(MAIN)]),
        ] {
            assert_eq!(
                [&clear, &started, &secure].map(|target| target.endpoint(what).ok()),
                expected,
                "{what:?}"
            );
        }
        assert_eq!(clear.addresses()[0][LDAPS], ("h", 636));
        let secured: Vec<_> = clear.security().unwrap().iter().map(Option::is_some).collect();
        assert_eq!(secured, [false, false, true, true]);
        // A target without choices has one endpoint, and refuses scenarios that choose TLS.
        let plain = target(none.clone(), none);
        assert!(plain.endpoint(Some(StartTls)).is_err() && plain.endpoint(Some(Never)).is_ok());
        assert_eq!(plain.addresses(), [[("h", 389)]]);
    }
}
