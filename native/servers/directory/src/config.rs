//! What a directory is started with.

use std::path::PathBuf;

use people::Profile;
use serde::{Deserialize, Serialize};
pub use tls::Secret;
use tls::ServerSpec;

use crate::limits::Limits;

/// Life of an entry registered in the ILS profile that does not say how long it lives: the ten
/// minutes that NetMeeting asks for in every refresh (`sttl=10`).
pub const ILS_TTL_S: u32 = 600;

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
    /// The root of the tree.
    pub suffix: String,
    /// How clients talk: `ils` adds the behaviour of an Internet Locator Server.
    pub profile: Profile,
    /// A schema file, of types and classes beside the standard ones.
    pub schema: Option<PathBuf>,
    /// An LDIF file to load.
    pub ldif: Option<PathBuf>,
    /// The administrator; when there is one, only it may write.
    pub admin_dn: Option<String>,
    pub admin_password: Option<Secret>,
    /// Refuse every write.
    pub read_only: bool,
    /// Refuse everything but a bind to clients that have not bound with a name.
    pub require_bind: bool,
    /// Life of an entry registered in the ILS profile without saying how long.
    pub ils_ttl_s: u32,
    /// How it speaks TLS, if it does.
    pub tls: Option<Tls>,
    pub limits: Limits,
}

/// How a directory speaks TLS.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// Its certificate and key, and the CA of its clients.
    pub certificate: ServerSpec,
    /// Whether clients begin without and ask for it (StartTLS); otherwise all begin with it (ldaps).
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
