//! The protocols as bytes: BER, LDAP messages, filters, names, LDIF; and the dates and numbers in them.
//!
//! No I/O, no clock, no allocation on the way in: a decoded message borrows from the buffer it
//! arrived in. Everything here is fed by strangers, so every length is checked against what
//! encloses it before it is believed, depth is capped, and *incomplete* is kept apart from
//! *malformed*: the first asks for more bytes, the second ends the connection.

pub mod ber;
pub mod calendar;
pub mod decimal;
pub mod dn;
pub mod http;
pub mod ldap;
pub mod ldif;
pub mod text;
