//! The configuration of seeding: server and user.

use people::Population;
use serde::Deserialize;
pub use tls::Secret;
use wire::dn::{Dn, Plain};

use super::error::{MAX_CONNECTIONS, MAX_WINDOW, SeedingError};
use load::Tls;
use load::sasl::Sasl;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub host: String,
    pub port: u16,
    /// The entry above the people; must be the base of the population.
    #[serde(default)]
    pub base: Option<String>,
    /// `None` for an anonymous connection.
    #[serde(default)]
    pub bind_dn: Option<String>,
    #[serde(default)]
    pub password: Option<Secret>,
    /// `None` for a simple bind.
    #[serde(default)]
    pub sasl: Option<Sasl>,
    #[serde(default)]
    pub tls: Option<Tls>,
    /// The most connections.
    #[serde(default = "default_connections")]
    pub connections: usize,
    /// The most outstanding requests per connection.
    #[serde(default = "default_window")]
    pub window: usize,
    /// The most time without an answer.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
}

/// More connections would only contend for a server's locks: OpenLDAP has one writer at a time.
const fn default_connections() -> usize {
    4
}

/// OpenLDAP closes an anonymous connection with more than 100 requests pending (`conn_max_pending`).
const fn default_window() -> usize {
    64
}

/// A disk that flushes each write may be busy for a while; a minute without an answer means a failure.
const fn default_timeout_ms() -> u64 {
    60_000
}

impl Config {
    /// The server at `host` and `port`, with an anonymous connection and defaults.
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
            base: None,
            bind_dn: None,
            password: None,
            sasl: None,
            tls: None,
            connections: default_connections(),
            window: default_window(),
            timeout_ms: default_timeout_ms(),
        }
    }

    /// The server's name for messages.
    pub(super) fn server(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Bind DN and password; `None` for an anonymous connection.
    pub(super) fn credentials(&self) -> Option<(&str, &[u8])> {
        let dn = self.bind_dn.as_deref().filter(|dn| !dn.is_empty())?;
        Some((dn, self.password.as_ref().map_or(&b""[..], Secret::as_bytes)))
    }

    pub(super) fn check(&self, people: &Population) -> Result<(), SeedingError> {
        if !(1..=MAX_CONNECTIONS).contains(&self.connections) {
            return Err(SeedingError::Connections(self.connections));
        }
        if !(1..=MAX_WINDOW).contains(&self.window) {
            return Err(SeedingError::Window(self.window));
        }
        if let (Some((dn, b"")), None | Some(Sasl::Plain)) = (self.credentials(), self.sasl) {
            return Err(SeedingError::NoPassword(dn.to_owned()));
        }
        match &self.base {
            Some(base) if normal(base) != normal(&people.spec().base) => {
                Err(SeedingError::OtherBase { base: base.clone(), people: people.spec().base.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// The normalised DN; `None` if invalid.
fn normal(dn: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    Dn::parse(dn.as_bytes()).ok()?.write_normal(&Plain, &mut out);
    Some(out)
}
