//! The addresses of a target, for both protocols.

use tls::ConfigError;

use crate::connection::security::Security;

/// The addresses of a target, with the endpoints of each address.
pub trait TargetAddress {
    /// Host and port of every endpoint, address by address. Lanes are spread over the addresses.
    fn addresses(&self) -> Vec<Vec<(&str, u16)>>;
    /// The TLS of each endpoint; `None` for endpoints in the clear.
    fn security(&self) -> Result<Vec<Option<Security>>, ConfigError>;
    /// Whether connections to this machine come from many addresses (method rule 13).
    fn spreads_sources(&self) -> bool;
}
