//! Where a target is, whatever its protocol.

/// The address of a target.
pub trait TargetAddress {
    fn host(&self) -> &str;
    fn port(&self) -> u16;
    /// Whether connections to this machine come from many addresses (method rule 13).
    fn spreads_sources(&self) -> bool;
}
