//! Where a target is, whatever its protocol.

use tls::ConfigError;

use crate::connection::security::Security;

/// The addresses of a target, and the endpoints that each of them has.
pub trait TargetAddress {
    /// Host and port of every endpoint, address by address; lanes are spread over the addresses.
    fn addresses(&self) -> Vec<Vec<(&str, u16)>>;
    /// What makes connections to each endpoint secure, if TLS is spoken there.
    fn security(&self) -> Result<Vec<Option<Security>>, ConfigError>;
    /// Whether connections to this machine come from many addresses (method rule 13).
    fn spreads_sources(&self) -> bool;
}
