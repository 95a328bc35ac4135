//! TLS on the sockets of servers and lanes: one stream type, and its configuration.
//!
//! A connection with TLS has a [`Session`] beside its socket, which reads and writes the socket. The layers
//! above do not see the difference, and this crate does not know their protocols.

mod client;
mod error;
mod fault;
mod generated;
mod pem;
mod records;
mod secret;
mod server;
mod session;
mod stream;

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

pub use client::{ClientSpec, Connector};
pub use error::ConfigError;
pub use fault::Fault;
pub use secret::Secret;
pub use server::{Acceptor, ServerSpec, TURNED_AWAY};
pub use session::Session;
pub use stream::Stream;

/// The implementation of cryptography; docs/decisions/0040-tls.md has the reason.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
