//! Every bound the server keeps, each with its reason and each settable.
//!
//! At a limit the client hears the protocol's own refusal; nothing here ends the process, and what
//! one client can make the server hold is the product of these numbers. Of BER itself no depth
//! needs a bound: filters are all of LDAP that nests.

use net::{OutOfRange, within};
use serde::{Deserialize, Serialize};
use wire::dn::MAX_DN_BYTES;
use wire::ldap::MAX_FILTER_DEPTH;

/// A message before its sender has bound. Binds and searches of the paper have 100 bytes; 389-ds and
/// OpenLDAP (`sockbuf_max_incoming`) allow 256 KiB.
pub const MESSAGE_BYTES_BEFORE_BIND: usize = 256 << 10;

/// A message of a bound client: room for an entry with a photograph (OpenLDAP's
/// `sockbuf_max_incoming_auth` is the same 4 MiB).
pub const MESSAGE_BYTES_AFTER_BIND: usize = 4 << 20;

/// A name in a request. Those of people have under 100 bytes, and the reader of names stops here.
pub const NAME_BYTES: usize = MAX_DN_BYTES;

/// A filter's depth. The reader of filters stops here; OpenLDAP fell to deeper ones (CVE-2020-12243).
pub const FILTER_DEPTH: usize = MAX_FILTER_DEPTH;

/// A filter's terms, And, Or and Not among them. With this many, at 50 ns each, a search looks at 5,000
/// entries a second, a few at a time; a message has room for a hundred times as many.
pub const FILTER_TERMS: usize = 4_096;

/// Attributes of an entry, each set of options one of its own. People have 25.
pub const ATTRIBUTES_PER_ENTRY: usize = 1_000;

/// Values of an entry. Adding to a list or deleting from it compares with every value there, under
/// the store's lock; a group of 10,000 members takes seconds, one of a million would take hours.
pub const VALUES_PER_ENTRY: usize = 10_000;

/// Changes of one modify, which is done as a whole under the store's lock.
pub const CHANGES_PER_MODIFY: usize = 1_000;

/// Connections of all clients together. Every idle one holds a file descriptor and under 1 KiB.
pub const CONNECTIONS: usize = 65_536;

/// Connections of one address. No fewer than in all, as a benchmark's clients share one.
pub const CONNECTIONS_PER_ADDRESS: usize = CONNECTIONS;

/// Searches of one connection that are running at the same time, which are all requests of it that
/// can be in flight: others are answered before the next is read. OpenLDAP's `conn_max_pending` is 100.
pub const RUNNING_SEARCHES: usize = 100;

/// Paged searches that one connection may leave unfinished; the oldest goes first.
pub const PAGED_SEARCHES: usize = 16;

/// Entries of one search; 0 for all, as retrieving everybody is one of the paper's operations.
pub const SEARCH_ENTRIES: u32 = 0;

/// Seconds of one search; 0 for as long as it takes.
pub const SEARCH_S: u32 = 0;

/// A client that has begun a message and sends less than [`STALL_BYTES`] of it within this, or takes less
/// of its answers, is cut off; so is one whose TLS handshake takes longer (389-ds:
/// `nsslapd-ioblocktimeout`, 10 s).
pub const STALL_MS: u64 = 10_000;

/// What has to move within [`STALL_MS`]: 410 bytes a second (Apache's `mod_reqtimeout`: 500), which any
/// modem did. The longest message takes three hours so, and who trickles a byte now and then is cut off.
pub const STALL_BYTES: usize = 4_096;

/// A connection on which nothing moves for this long is closed; 0 for never, as LDAP clients keep
/// connections for days.
pub const IDLE_MS: u64 = 0;

/// The limits in force; what a configuration does not name keeps its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// See [`MESSAGE_BYTES_BEFORE_BIND`].
    pub message_bytes_before_bind: usize,
    /// See [`MESSAGE_BYTES_AFTER_BIND`].
    pub message_bytes_after_bind: usize,
    /// See [`NAME_BYTES`].
    pub name_bytes: usize,
    /// See [`FILTER_DEPTH`].
    pub filter_depth: usize,
    /// See [`FILTER_TERMS`].
    pub filter_terms: usize,
    /// See [`ATTRIBUTES_PER_ENTRY`].
    pub attributes_per_entry: usize,
    /// See [`VALUES_PER_ENTRY`].
    pub values_per_entry: usize,
    /// See [`CHANGES_PER_MODIFY`].
    pub changes_per_modify: usize,
    /// See [`CONNECTIONS`].
    pub connections: usize,
    /// See [`CONNECTIONS_PER_ADDRESS`].
    pub connections_per_address: usize,
    /// See [`RUNNING_SEARCHES`].
    pub running_searches: usize,
    /// See [`PAGED_SEARCHES`].
    pub paged_searches: usize,
    /// See [`SEARCH_ENTRIES`].
    pub search_entries: u32,
    /// See [`SEARCH_S`].
    pub search_s: u32,
    /// See [`STALL_MS`].
    pub stall_ms: u64,
    /// See [`STALL_BYTES`].
    pub stall_bytes: usize,
    /// See [`IDLE_MS`].
    pub idle_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes_before_bind: MESSAGE_BYTES_BEFORE_BIND,
            message_bytes_after_bind: MESSAGE_BYTES_AFTER_BIND,
            name_bytes: NAME_BYTES,
            filter_depth: FILTER_DEPTH,
            filter_terms: FILTER_TERMS,
            attributes_per_entry: ATTRIBUTES_PER_ENTRY,
            values_per_entry: VALUES_PER_ENTRY,
            changes_per_modify: CHANGES_PER_MODIFY,
            connections: CONNECTIONS,
            connections_per_address: CONNECTIONS_PER_ADDRESS,
            running_searches: RUNNING_SEARCHES,
            paged_searches: PAGED_SEARCHES,
            search_entries: SEARCH_ENTRIES,
            search_s: SEARCH_S,
            stall_ms: STALL_MS,
            stall_bytes: STALL_BYTES,
            idle_ms: IDLE_MS,
        }
    }
}

impl Limits {
    /// Checks that each is within what the server can keep.
    pub(crate) fn check(&self) -> Result<(), OutOfRange> {
        within("name_bytes", self.name_bytes, 1..=MAX_DN_BYTES)?;
        within("filter_depth", self.filter_depth, 1..=MAX_FILTER_DEPTH)?;
        within("connections", self.connections, 1..=usize::MAX)?;
        within("connections_per_address", self.connections_per_address, 1..=usize::MAX)?;
        within("stall_bytes", self.stall_bytes, 1..=usize::MAX)?;
        within("running_searches", self.running_searches, 1..=usize::MAX)?;
        within("paged_searches", self.paged_searches, 1..=usize::MAX)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "this is a test")]
mod tests {
    use super::*;

    #[test]
    fn the_page_on_trust_says_every_default() {
        let page = include_str!("../../../docs/trust.md");
        let limits = serde_json::to_value(Limits::default()).unwrap();
        for (name, value) in limits.as_object().unwrap() {
            let row = format!("| `ils` | `{name}` | {value} |");
            assert!(page.contains(&row), "docs/trust.md lacks the row {row}");
        }
    }
}
