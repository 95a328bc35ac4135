//! The configuration of a web server.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tls::ServerSpec;

use crate::limits::Limits;

/// Missing keys have their defaults.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub host: String,
    /// The port; with 0 the system chooses.
    pub port: u16,
    /// Threads that serve clients, each with its own listener.
    pub threads: usize,
    /// The folder of the files; without it there are only dynamic answers.
    pub docroot: Option<PathBuf>,
    /// Whether files and folders whose names begin with a dot are served.
    pub hidden: bool,
    /// The folder of the programs under `/cgi-bin/`; without it these paths are not found.
    pub cgi: Option<PathBuf>,
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
            docroot: None,
            hidden: false,
            cgi: None,
            access_log: None,
            tls: None,
            limits: Limits::default(),
        }
    }
}
