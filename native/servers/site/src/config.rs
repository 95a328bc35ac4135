//! What a site is started with.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tls::ServerSpec;

use crate::limits::Limits;
use crate::upd::Durability;

/// The configuration; what is left out keeps its default.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The address to listen on.
    pub host: String,
    /// The port; 0 lets the system choose.
    pub port: u16,
    /// Threads that serve clients, each with its own listener and its own reading connection.
    pub threads: usize,
    pub database: PathBuf,
    /// When a write counts as stored.
    pub durability: Durability,
    /// People each thread keeps in memory in front of the database; 0, the default, reads the
    /// database on every page.
    pub row_cache: usize,
    /// The file to log requests to, if they are logged.
    pub access_log: Option<PathBuf>,
    /// Its certificate and key, if it speaks TLS (https); it then speaks nothing else.
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
