//! What a directory is started with.

use std::fmt;
use std::path::PathBuf;

use people::Profile;
use serde::{Deserialize, Serialize};

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
    /// An LDIF file to load.
    pub ldif: Option<PathBuf>,
    /// The administrator; when there is one, only it may write.
    pub admin_dn: Option<String>,
    /// The administrator's password.
    pub admin_password: Option<Secret>,
    /// Refuse every write.
    pub read_only: bool,
    /// Refuse everything but a bind to clients that have not bound with a name.
    pub require_bind: bool,
    /// Life of an entry registered in the ILS profile without saying how long.
    pub ils_ttl_s: u32,
    /// All bounds.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".into(),
            port: 0,
            threads: 1,
            suffix: "o=Intranet".into(),
            profile: Profile::Paper,
            ldif: None,
            admin_dn: None,
            admin_password: None,
            read_only: false,
            require_bind: false,
            ils_ttl_s: ILS_TTL_S,
            limits: Limits::default(),
        }
    }
}

/// A password, which no log or error message shows.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Keeps a password.
    pub fn new(password: impl Into<String>) -> Self {
        Self(password.into())
    }

    /// The password.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}
