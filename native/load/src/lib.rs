//! The load engine: lanes that run sequences against a target, and the floor they are held against.
//!
//! # How it works
//!
//! An [`Engine`] starts threads. Each has a poller, lanes, recorders, a key chooser of its own, and
//! shares nothing with the others while it runs. A lane is one virtual user: it runs a program
//! ([`program`]) on a connection, one operation at a time, when the schedule ([`schedule`]) says so, and
//! records what became of each operation ([`recorder`]). What the bytes mean is the business of a
//! protocol ([`protocol`]): [`ldap`] or [`http`].
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
//! One request in flight per lane. Names are resolved once. Timeouts are noticed up to 10 ms late.

mod any;
mod batch;
mod clock;
mod config;
mod context;
mod driver;
mod engine;
mod failure;
pub mod floor;
pub mod http;
pub mod keys;
mod lane;
pub mod ldap;
mod link;
pub mod live;
pub mod program;
pub mod protocol;
pub mod recorder;
pub mod ring;
mod sasl;
pub mod schedule;
mod security;
mod snapshot;
pub mod source;
mod target_address;
mod timers;
mod worker;

pub use any::AnyConfig;
pub use clock::{now_ns, thread_cpu_ns};
pub use config::{Adds, Config, ConfigError, KeysConfig, Schedule};
pub use driver::{CommandError, LaunchError};
pub use engine::{Engine, StartError};
pub use failure::Failure;
pub use sasl::Mechanism;
pub use security::Tls;
pub use snapshot::{DeckSnapshot, Snapshot, StepSnapshot};
pub use target_address::TargetAddress;
