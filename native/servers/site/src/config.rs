//! The configuration of a site.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tls::ServerSpec;

use crate::limits::Limits;
use crate::upd::Durability;

/// Missing keys have their defaults.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub host: String,
    /// The port; with 0 the system chooses.
    pub port: u16,
    /// Threads that serve clients, each with its own listener and its own reading connection.
    pub threads: usize,
    pub database: PathBuf,
    pub durability: Durability,
    /// People that each thread caches; with 0, the default, every page reads the database.
    pub row_cache: usize,
    /// The file of the access log, if requests are logged.
    pub access_log: Option<PathBuf>,
    /// Certificate and key for TLS (https). With TLS, plaintext is refused.
    pub tls: Option<ServerSpec>,
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".into(),
            port: 0,
            threads: 1,
            database: "upd.sqlite".into(),
            durability: Durability::Normal,
            row_cache: 0,
            access_log: None,
            tls: None,
            limits: Limits::default(),
        }
    }
}
