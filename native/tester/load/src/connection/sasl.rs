//! SASL binds (RFC 4513 section 5.2).

pub use scenario::Sasl;
use wire::ldap::request::write_sasl_bind;

/// Appends a bind request. EXTERNAL does not send the name.
pub fn write_bind(mechanism: Sasl, out: &mut Vec<u8>, id: i32, name: &[u8], password: &[u8]) {
    match mechanism {
        Sasl::External => write_sasl_bind(out, id, b"EXTERNAL", b""),
        Sasl::Plain => write_sasl_bind(out, id, b"PLAIN", &[b"\0", name, b"\0", password].concat()),
    }
}
