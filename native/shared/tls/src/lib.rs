//! TLS under the sockets of servers and lanes: one stream type, and what it is configured with.
//!
//! A connection that uses TLS has a [`Session`] next to its socket, which is read and written through it;
//! nothing above knows the difference, and nothing here knows what is spoken.

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

/// Where the cryptography comes from; docs/decisions/0040-tls.md says why.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
