//! Every bound the server keeps, each with its reason and each settable.
//!
//! At a limit the client hears the protocol's own refusal; nothing here ends the process, and what
//! one client can make the server hold is the product of these numbers.

use serde::{Deserialize, Serialize};

/// A message before its sender has bound. Binds and searches of the paper have 100 bytes; 389-ds and
/// OpenLDAP (`sockbuf_max_incoming`) allow 256 KiB.
pub const MESSAGE_BYTES_BEFORE_BIND: usize = 256 << 10;

/// A message of a bound client: room for an entry with a photograph (OpenLDAP's
/// `sockbuf_max_incoming_auth` is the same 4 MiB).
pub const MESSAGE_BYTES_AFTER_BIND: usize = 4 << 20;

/// Connections of all clients together. Every idle one holds a file descriptor and under 1 KiB.
pub const CONNECTIONS: usize = 65_536;

/// Searches of one connection that are running at the same time. OpenLDAP's
/// `conn_max_pending` is 100.
pub const RUNNING_SEARCHES: usize = 100;

/// Paged searches that one connection may leave unfinished; the oldest goes first.
pub const PAGED_SEARCHES: usize = 16;

/// A client that has begun a message and sends nothing, or leaves its answers unread, is cut off
/// after this long (389-ds: `nsslapd-ioblocktimeout`, 10 s).
pub const STALL_MS: u64 = 10_000;

/// The limits in force; what a configuration does not name keeps its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// See [`MESSAGE_BYTES_BEFORE_BIND`].
    pub message_bytes_before_bind: usize,
    /// See [`MESSAGE_BYTES_AFTER_BIND`].
    pub message_bytes_after_bind: usize,
    /// See [`RUNNING_SEARCHES`].
    pub running_searches: usize,
    /// See [`PAGED_SEARCHES`].
    pub paged_searches: usize,
    /// See [`STALL_MS`].
    pub stall_ms: u64,
    /// A connection on which nothing moves for this long is closed; 0 never, as LDAP clients keep
    /// connections for days.
    pub idle_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes_before_bind: MESSAGE_BYTES_BEFORE_BIND,
            message_bytes_after_bind: MESSAGE_BYTES_AFTER_BIND,
            running_searches: RUNNING_SEARCHES,
            paged_searches: PAGED_SEARCHES,
            stall_ms: STALL_MS,
            idle_ms: 0,
        }
    }
}
