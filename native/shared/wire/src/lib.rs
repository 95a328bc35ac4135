//! The protocols as bytes: BER, LDAP messages, filters, names and LDIF, with the dates and numbers in them.
//!
//! Nothing here does I/O or reads a clock, and decoding does not allocate: a decoded message borrows from the
//! received bytes. All input may be hostile. So every length is checked against its enclosing element, depth
//! is limited, and *incomplete* is distinguished from *malformed*: the first needs more bytes, the second
//! ends the connection.

pub mod ber;
pub mod calendar;
pub mod decimal;
pub mod dn;
pub mod http;
pub mod ldap;
pub mod ldif;
pub mod text;
