//! The load engine: lanes that run programs against a target.
//!
//! # How it works
//!
//! An [`Engine`] starts threads (`drive`). Each thread has a poller, lanes, recorders and a key chooser, and
//! shares nothing with other threads while it runs. A lane is one virtual user. It runs a program (`program`)
//! on a connection (`connection`), one operation at a time. The schedule (`choose::schedule`) decides when an
//! operation starts, and recorders (`record`) keep its outcome. Only the protocol (`protocol`), `ldap` or
//! `http`, knows the meaning of the bytes.
//!
//! [`portable`] gives the steps of a scenario to clients with a network stack of their own.
//!
//! # Accuracy
//!
//! Times are taken with CLOCK_MONOTONIC right before a request is written and right after the last bytes of
//! its answer were read. They are kept in nanoseconds at three significant digits. The kernel's reading and
//! writing are part of a service time. Verification is excluded, because it begins after the end of that
//! time. However, while a thread verifies one lane's answer, the answers of its other lanes wait in their
//! sockets, and that wait is part of their service times.
//!
//! # Limitations
//!
//! A lane has one request in flight; a shared connection has up to 64. Names are resolved once. Timeouts are
//! noticed up to 10 ms late.

mod any_config;
mod choose;
mod compile_error;
mod config;
mod connection;
mod drive;
mod engine;
mod fill;
mod http;
mod ldap;
pub mod portable;
mod program;
mod protocol;
mod record;
mod scenario_spec;
mod scripted;
mod target_address;

pub use any_config::AnyConfig;
pub use choose::schedule::Pace;
pub use config::{CONNECT_MS, ConfigError};
pub use connection::sasl;
pub use connection::security::Tls;
pub use connection::source::Sources;
pub use drive::driver::{CommandError, Engine, LaunchError};
pub use drive::snapshot::{Snapshot, StepSnapshot};
pub use engine::{StartError, check_scenario};
pub use fill::Tables;
pub use http::{HttpConfig, TargetError};
pub use ldap::{LdapConfig, NameList, NamesError};
pub use program::ProgramError;
pub use record::clock::{now_ns, thread_cpu_ns};
pub use record::failure::Failure;
pub use record::metric::{Clock, Counter};
pub use record::recorder::histogram;
pub use scenario_spec::ScenarioSpec;
