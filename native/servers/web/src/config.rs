//! What a server is started with.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tls::ServerSpec;

use crate::limits::Limits;

/// The configuration; what is left out keeps its default.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The address to listen on.
    pub host: String,
    /// The port; 0 lets the system choose.
    pub port: u16,
    /// Threads that serve clients, each with its own listener.
    pub threads: usize,
    /// The folder with the files; without it only the dynamic kinds are there.
    pub docroot: Option<PathBuf>,
    /// Whether files and folders whose names begin with a dot are served, as others are.
    pub hidden: bool,
    /// The folder with the programs under `/cgi-bin/`; without it every such path is not found.
    pub cgi: Option<PathBuf>,
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
            docroot: None,
            hidden: false,
            cgi: None,
            access_log: None,
            tls: None,
            limits: Limits::default(),
        }
    }
}
