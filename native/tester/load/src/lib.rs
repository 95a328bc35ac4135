//! The load engine: lanes that run programs against a target.
//!
//! # How it works
//!
//! An [`Engine`] starts threads (`drive`). Each has a poller, lanes, recorders and a key chooser, and
//! shares nothing with the others while it runs. A lane is one virtual user: it runs a program
//! (`program`) on a connection (`connection`), one operation at a time, when the schedule
//! (`choose::schedule`) says so, and records the outcome of each operation (`record`). What the bytes
//! mean is known only to the protocol (`protocol`): `ldap` or `http`.
//!
//! [`portable`] hands a scenario's steps out to clients that have a network stack of their own.
//!
//! # Accuracy
//!
//! Times are taken with CLOCK_MONOTONIC right before a request is written and right after the answer
//! that completes it was read, kept as nanoseconds at three significant digits. Reading and writing are
//! the kernel's; verification happens after the clock was read and is not part of any service time, but
//! an answer that waits in the socket while the thread works on another lane's waits on the clock.
//!
//! # Limitations
//!
//! One request in flight per lane; up to 64 per connection that lanes share. Names are resolved once. Timeouts are noticed up to 10 ms late.

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
pub use choose::deal::{Deal, Dealer, RowCursor, Sharer};
pub use choose::schedule::Pace;
pub use config::{CONNECT_MS, ConfigError};
pub use connection::sasl::Mechanism;
pub use connection::security::Tls;
pub use connection::source::Sources;
pub use drive::driver::{CommandError, Engine, LaunchError};
pub use drive::snapshot::{DeckSnapshot, Snapshot, StepSnapshot};
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
