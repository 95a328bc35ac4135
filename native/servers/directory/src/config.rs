//! The configuration of a directory.

use std::path::PathBuf;

use people::Profile;
use serde::{Deserialize, Serialize};
pub use tls::Secret;
use tls::ServerSpec;

use crate::limits::Limits;

/// The default time to live of entries in the ILS profile: ten minutes, which NetMeeting requests in every
/// refresh (`sttl=10`).
pub const ILS_TTL_S: u32 = 600;

net::config! {
    pub struct Config {
        /// The root of the tree.
        suffix: String = "o=Intranet".into();
        /// The protocol of clients: `ils` adds the behaviour of an Internet Locator Server.
        profile: Profile = Profile::Paper;
        /// A schema file with types and classes in addition to the standard types and classes.
        schema: Option<PathBuf> = None;
        /// An LDIF file to load.
        ldif: Option<PathBuf> = None;
        /// The DN of the administrator. If there is an administrator, no other client may write.
        admin_dn: Option<String> = None;
        admin_password: Option<Secret> = None;
        /// Whether every write is refused.
        read_only: bool = false;
        /// Whether clients must bind with a name before they may read or write entries.
        require_bind: bool = false;
        /// The time to live of an entry whose registration in the ILS profile states no time to live.
        ils_ttl_s: u32 = ILS_TTL_S;
        /// `None` without TLS.
        tls: Option<Tls> = None;
        limits: Limits = Limits::default();
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// The server's certificate and key, and the CA that signs the clients' certificates.
    pub certificate: ServerSpec,
    /// Whether clients begin without TLS and request it (StartTLS). Otherwise all clients begin with TLS
    /// (ldaps).
    pub start: bool,
}
