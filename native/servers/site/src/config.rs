//! The configuration of a site.

use std::path::PathBuf;

use tls::ServerSpec;

use crate::limits::Limits;
use crate::upd::Durability;

net::config! {
    /// Each thread has its own reading connection to the database.
    pub struct Config {
        database: PathBuf = "upd.sqlite".into();
        durability: Durability = Durability::Normal;
        /// The number of people that each thread caches. With 0, the default, every page reads the database.
        row_cache: usize = 0;
        /// The file of the access log, if requests are logged.
        access_log: Option<PathBuf> = None;
        /// Certificate and key for TLS (https). With TLS, plaintext is refused.
        tls: Option<ServerSpec> = None;
        limits: Limits = Limits::default();
    }
}
