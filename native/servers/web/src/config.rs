//! The configuration of a web server.

use std::path::PathBuf;

use tls::ServerSpec;

use crate::limits::Limits;

net::config! {
    pub struct Config {
        /// The folder of the files; without it there are only dynamic answers.
        docroot: Option<PathBuf> = None;
        /// Whether files and folders whose names begin with a dot are served.
        hidden: bool = false;
        /// The folder of the programs under `/cgi-bin/`; without it these paths are not found.
        cgi: Option<PathBuf> = None;
        /// The file of the access log, if requests are logged.
        access_log: Option<PathBuf> = None;
        /// Certificate and key for TLS (https). With TLS, plaintext is refused.
        tls: Option<ServerSpec> = None;
        limits: Limits = Limits::default();
    }
}
