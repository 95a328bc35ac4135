//! SASL binds (RFC 4513 section 5.2). Both mechanisms need TLS.

use serde::{Deserialize, Serialize};
use wire::ldap::request::write_sasl_bind;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mechanism {
    /// The identity comes from the TLS client certificate (RFC 4422 appendix A).
    External,
    /// The client sends a name and a password, as in a simple bind (RFC 4616).
    Plain,
}

impl Mechanism {
    /// Appends a bind request. EXTERNAL does not send the name.
    pub fn write_bind(self, out: &mut Vec<u8>, id: i32, name: &[u8], password: &[u8]) {
        match self {
            Self::External => write_sasl_bind(out, id, b"EXTERNAL", b""),
            Self::Plain => write_sasl_bind(out, id, b"PLAIN", &[b"\0", name, b"\0", password].concat()),
        }
    }
}
