//! The in-memory directory: a store of encoded entries, and the LDAP server around it.

mod access;
mod answer;
mod auth;
mod clock;
mod config;
mod controls;
pub mod entry;
mod expiry;
pub mod filter;
mod flow;
mod identity;
mod ils;
mod ils_names;
mod index;
pub mod limits;
mod load;
pub mod matching;
mod operation;
mod request_bounds;
mod scan;
pub mod schema;
pub mod search;
mod server;
mod session;
mod settings;
mod slow_binds;
mod special;
mod stats;
pub mod store;
mod subject;
mod turn;

pub use clock::{Ahead, Clock};
pub use config::{Config, ILS_TTL_S, Secret, Tls};
pub use load::LoadError;
pub use server::{Running, StartError, start, start_at, start_with_groups};
pub use stats::Stats;
