//! A client's connection to the target: its endpoint, source address, socket, TLS and SASL.

pub(crate) mod endpoint;
pub(crate) mod link;
pub mod sasl;
pub(crate) mod security;
pub(crate) mod source;
