//! The configuration of a directory.

use std::path::PathBuf;

use people::Profile;
use serde::{Deserialize, Serialize};
pub use tls::Secret;
use tls::ServerSpec;

use crate::limits::Limits;

/// The default time to live of entries in the ILS profile: the ten minutes that NetMeeting asks for in every
/// refresh (`sttl=10`).
pub const ILS_TTL_S: u32 = 600;

/// Missing keys have their defaults.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub host: String,
    /// The port; with 0 the system chooses.
    pub port: u16,
    /// Threads that serve clients, each with its own listener.
    pub threads: usize,
    /// The root of the tree.
    pub suffix: String,
    /// The protocol of clients: `ils` adds the behaviour of an Internet Locator Server.
    pub profile: Profile,
    /// A schema file with types and classes beside the standard ones.
    pub schema: Option<PathBuf>,
    pub ldif: Option<PathBuf>,
    /// The administrator. If it is set, only the administrator may write.
    pub admin_dn: Option<String>,
    pub admin_password: Option<Secret>,
    /// Whether every write is refused.
    pub read_only: bool,
    /// Whether clients that have not bound with a name may only bind.
    pub require_bind: bool,
    /// The time to live of an entry that registers in the ILS profile without one.
    pub ils_ttl_s: u32,
    /// `None` without TLS.
    pub tls: Option<Tls>,
    pub limits: Limits,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// The certificate and key, and the CA of clients.
    pub certificate: ServerSpec,
    /// Whether clients begin without TLS and request it (StartTLS). Otherwise all clients begin with TLS
    /// (ldaps).
    pub start: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".into(),
            port: 0,
            threads: 1,
            suffix: "o=Intranet".into(),
            profile: Profile::Paper,
            schema: None,
            ldif: None,
            admin_dn: None,
            admin_password: None,
            read_only: false,
            require_bind: false,
            ils_ttl_s: ILS_TTL_S,
            tls: None,
            limits: Limits::default(),
        }
    }
}
