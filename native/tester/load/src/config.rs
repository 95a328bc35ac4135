//! The configuration of an engine: one structure, read from JSON, checked before anything starts.

use std::net::{SocketAddr, ToSocketAddrs};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::choose::keys::Choice;
use crate::choose::schedule::{Spacing, Stage};
use crate::record::clock::MILLI;
use crate::record::log::LogSpec;
use crate::scenario_spec::ScenarioSpec;
use crate::target_address::TargetAddress;

/// The maximum number of threads, which exceeds the number of cores of usual machines.
const MAX_THREADS: usize = 1024;

/// The default connect timeout. Linux repeats a SYN after 1, 3 and 7 seconds (tcp(7), RFC 6298 section 2), so
/// two SYNs may be lost. A target that takes longer has no room for connections, and a lane should report
/// that instead of waiting.
pub const CONNECT_MS: u64 = 5_000;

/// The longest timeout, a day.
const MAX_TIMEOUT_MS: u64 = 86_400_000;

/// The configuration of a load of one protocol; `T` is the protocol's target.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "T: DeserializeOwned"))]
pub struct Config<T> {
    #[serde(default = "one")]
    pub threads: usize,
    pub target: T,
    #[serde(default)]
    pub verify: Verify,
    /// The timeout of an operation.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
    /// Connect timeout; by default the operation's timeout, at most [`CONNECT_MS`].
    #[serde(default)]
    pub connect_timeout_ms: Option<u64>,
    #[serde(default)]
    pub schedule: Schedule,
    #[serde(default)]
    pub keys: KeysConfig,
    /// By default, a million people whose numbers follow the numbers of the population.
    #[serde(default)]
    pub adds: Option<Adds>,
    #[serde(default)]
    pub(crate) log: LogSpec,
    #[serde(default)]
    pub(crate) scenarios: Vec<ScenarioSpec>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// Compares the first answer about a person in full, and later answers by length and digest.
    #[default]
    Digest,
    Full,
    None,
}

/// When operations start; see [`crate::choose::schedule`].
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Schedule {
    /// An operation starts when the previous operation is over.
    #[default]
    Closed,
    /// A closed schedule with a varying number of users. From the engine's first cut on, operations are
    /// counted in spans.
    Crowd {
        /// Length of a span. An operation belongs to the span in which it starts.
        span_ms: u64,
    },
    /// Operations are due at times independent of the target.
    Open {
        /// Arrivals per second over all threads.
        rate: f64,
        #[serde(default)]
        arrivals: Spacing,
    },
    /// Operations are due by a staged rate, which begins at the first cut.
    Staged {
        /// Successive stages, for all threads together.
        stages: Vec<Stage>,
        /// Length of a span. An operation belongs to the span in which it is due.
        span_ms: u64,
        #[serde(default)]
        arrivals: Spacing,
    },
}

/// The choice of people for operations; see [`crate::choose::keys`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeysConfig {
    pub choice: Choice,
    /// The seed of the people's popularity, common to all engines of a test.
    pub seed: u64,
    /// The index of this engine among the engines of a test. Engines draw independently.
    pub engine: u64,
}

impl Default for KeysConfig {
    fn default() -> Self {
        // The year of the paper.
        Self { choice: Choice::default(), seed: 1997, engine: 0 }
    }
}

/// The people that are added; see [`crate::choose::ring`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adds {
    /// The number of the first person that is added.
    pub start: u64,
    /// The maximum of added people at any time. It should be many times the number of lanes: an add fails
    /// with "already exists" if its key is reused while a slow lane still holds the key.
    pub keys: u64,
}

/// The default of `Adds::keys`.
pub(crate) const DEFAULT_ADDS: u64 = 1_000_000;

const fn one() -> usize {
    1
}

const fn ten_seconds() -> u64 {
    10_000
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{field} is {value}: {remedy}")]
    OutOfRange { field: &'static str, value: String, remedy: &'static str },
    #[error("cannot find {host:?}: {reason}; check the target's name")]
    UnknownHost { host: String, reason: String },
}

impl<T: TargetAddress> Config<T> {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        in_range("threads", self.threads as u64, 1, MAX_THREADS as u64, "give 1 to 1,024")?;
        let timeouts = "give 1 to 86,400,000";
        in_range("timeout_ms", self.timeout_ms, 1, MAX_TIMEOUT_MS, timeouts)?;
        in_range(
            "connect_timeout_ms",
            self.connect_timeout_ms.unwrap_or(CONNECT_MS),
            1,
            MAX_TIMEOUT_MS,
            timeouts,
        )?;
        if let Some(adds) = self.adds {
            in_range("adds.keys", adds.keys, 1, u64::MAX >> 1, "give at least 1")?;
            in_range("adds.start", adds.start, 0, u64::MAX >> 1, "give a smaller one")?;
        }
        match &self.schedule {
            Schedule::Closed => Ok(()),
            Schedule::Crowd { span_ms } => within_a_day(*span_ms),
            Schedule::Open { rate, .. } => {
                let remedy = "give operations per second, 0.000001 to 1,000,000,000";
                in_range("schedule.rate", *rate, 1e-6, 1e9, remedy)
            }
            Schedule::Staged { stages, span_ms, .. } => {
                within_a_day(*span_ms)?;
                stages.iter().try_for_each(|stage| {
                    let remedy = "give operations per second, 0 to 1,000,000,000";
                    in_range("schedule.stages.rate", stage.rate, 0.0, 1e9, remedy)?;
                    let remedy = "give seconds, 0.001 to 86,400";
                    in_range("schedule.stages.lasts_s", stage.lasts_s, 1e-3, 86_400.0, remedy)
                })
            }
        }
    }

    /// Looks up the addresses of the target's endpoints; the result has one list per address.
    pub(crate) fn resolve(&self) -> Result<Vec<Vec<SocketAddr>>, ConfigError> {
        let endpoints = |address: Vec<_>| address.into_iter().map(resolve).collect();
        self.target.addresses().into_iter().map(endpoints).collect()
    }

    /// Whether operations have due times.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.schedule, Schedule::Closed | Schedule::Crowd { .. })
    }

    /// The seed of a thread's protocol, and the generator of the thread's lanes, different for all threads of all
    /// engines. The golden ratio separates the seeds of neighbouring numbers.
    pub(crate) fn seeds(&self, thread: usize) -> (u64, fastrand::Rng) {
        let place = self.keys.engine.wrapping_mul(MAX_THREADS as u64).wrapping_add(thread as u64 + 1);
        let seed = self.keys.seed.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut random = fastrand::Rng::with_seed(seed);
        (random.u64(..), random)
    }

    pub(crate) fn connect_timeout_ns(&self) -> u64 {
        self.connect_timeout_ms.unwrap_or(self.timeout_ms.min(CONNECT_MS)) * MILLI
    }
}

fn resolve((host, port): (&str, u16)) -> Result<SocketAddr, ConfigError> {
    let unknown = |reason: String| ConfigError::UnknownHost { host: host.to_owned(), reason };
    let mut addresses = (host, port).to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
    addresses.next().ok_or_else(|| unknown("it has no address".to_owned()))
}

fn within_a_day(span_ms: u64) -> Result<(), ConfigError> {
    in_range("schedule.span_ms", span_ms, 1, MAX_TIMEOUT_MS, "give 1 to 86,400,000")
}

fn in_range<N: PartialOrd + ToString>(
    field: &'static str,
    value: N,
    least: N,
    most: N,
    remedy: &'static str,
) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ConfigError::OutOfRange { field, value: value.to_string(), remedy })
}
