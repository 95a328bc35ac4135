//! Where a target is, whatever its protocol.

use tls::ConfigError;

use crate::connection::endpoint::EndpointSpec;

/// The addresses of a target.
pub trait TargetAddress {
    /// Host and port of each; lanes are spread over them.
    fn addresses(&self) -> Vec<(&str, u16)>;
    /// The ports that each of them has: the first is its own.
    fn endpoints(&self) -> Result<Vec<EndpointSpec>, ConfigError>;
    /// Whether connections to this machine come from many addresses (method rule 13).
    fn spreads_sources(&self) -> bool;
}
