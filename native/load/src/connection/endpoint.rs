//! Where connections of lanes go: one port of the target, in the clear or over TLS.

use std::net::SocketAddr;

use super::security::Security;
use super::source::Sources;

/// One of the ports that each address of a target has.
#[derive(Debug)]
pub struct EndpointSpec {
    /// The port, where it is not the address's own.
    pub(crate) port: Option<u16>,
    /// Present where TLS is spoken.
    pub(crate) security: Option<Security>,
}

/// A port of one address as a thread connects to it.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) sources: Sources,
    pub(crate) security: Option<Security>,
}

impl EndpointSpec {
    /// The endpoint at this address, for one thread.
    pub(crate) fn at(&self, mut address: SocketAddr, spread: bool, thread: u32) -> Endpoint {
        if let Some(port) = self.port {
            address.set_port(port);
        }
        Endpoint {
            sources: Sources::new(address, spread, thread),
            security: self.security.as_ref().map(Security::for_thread),
        }
    }
}
