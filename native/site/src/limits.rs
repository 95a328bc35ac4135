//! Every bound the site keeps, each with its reason and each settable. At a limit the client hears
//! an HTTP status; nothing here ends the process.
//!
//! Requests of one connection are answered one after the other, so that one is in flight at most.

use net::{OutOfRange, within};
use serde::{Deserialize, Serialize};
use wire::http::{MAX_HEAD_BYTES, MAX_HEADERS};

/// A head longer than this is refused (431). The reader of heads stops here; browsers send about
/// 1 KiB.
pub const HEAD_BYTES: usize = MAX_HEAD_BYTES;

/// More header lines than this are refused (431). The reader of heads stops here; browsers send
/// about 20.
pub const HEADERS: usize = MAX_HEADERS;

/// A request target longer than this is refused (414). The longest here has 30 bytes; RFC 9110
/// section 4.1 recommends to support 8,000.
pub const TARGET_BYTES: usize = 8_000;

/// A body longer than this is refused (413): all properties at their longest, percent-encoded, take
/// less than half. A chunked one may come in four times as many bytes: room for chunks of two.
pub const BODY_BYTES: usize = 16 << 10;

/// A body may be set to a mebibyte at most: it is held as a whole until it is stored.
const MOST_BODY_BYTES: usize = 1 << 20;

/// Fields of a form (400): every property, and each of the multi-valued ones many times.
pub const FORM_FIELDS: usize = 128;

/// A name, an occupation and the like. Pools have values of up to 256 bytes, a page shows 128: what
/// people are, and no limit that somebody sets.
pub const TEXT_BYTES: usize = 256;

/// Connections of all clients together (503). Every idle one holds a file descriptor and under 1 KiB.
pub const CONNECTIONS: usize = 65_536;

/// Connections of one address (503). No fewer than in all, as a benchmark's clients share one.
pub const CONNECTIONS_PER_ADDRESS: usize = CONNECTIONS;

/// A client that has begun a request and sends less than [`STALL_BYTES`] of it within this, or takes less
/// of its answer, is cut off; so is one whose TLS handshake takes longer.
pub const STALL_MS: u64 = 10_000;

/// What has to move within [`STALL_MS`]: 410 bytes a second (Apache's `mod_reqtimeout`: 500), which any
/// modem did. The longest head takes forty seconds so, and who trickles a byte now and then is cut off.
pub const STALL_BYTES: usize = 4_096;

/// A connection without a request is closed after this long (nginx: `keepalive_timeout 75s`).
pub const IDLE_MS: u64 = 75_000;

/// A client that has been refused gets this long to read why.
pub(crate) const LINGER_MS: u64 = 1_000;

/// The limits in force; what a configuration does not name keeps its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// See [`HEAD_BYTES`].
    pub head_bytes: usize,
    /// See [`HEADERS`].
    pub headers: usize,
    /// See [`TARGET_BYTES`].
    pub target_bytes: usize,
    /// See [`BODY_BYTES`].
    pub body_bytes: usize,
    /// See [`FORM_FIELDS`].
    pub form_fields: usize,
    /// See [`CONNECTIONS`].
    pub connections: usize,
    /// See [`CONNECTIONS_PER_ADDRESS`].
    pub connections_per_address: usize,
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
            head_bytes: HEAD_BYTES,
            headers: HEADERS,
            target_bytes: TARGET_BYTES,
            body_bytes: BODY_BYTES,
            form_fields: FORM_FIELDS,
            connections: CONNECTIONS,
            connections_per_address: CONNECTIONS_PER_ADDRESS,
            stall_ms: STALL_MS,
            stall_bytes: STALL_BYTES,
            idle_ms: IDLE_MS,
        }
    }
}

impl Limits {
    /// Checks that each is within what the site can keep.
    pub(crate) fn check(&self) -> Result<(), OutOfRange> {
        within("head_bytes", self.head_bytes, 1..=MAX_HEAD_BYTES)?;
        within("headers", self.headers, 1..=MAX_HEADERS)?;
        within("body_bytes", self.body_bytes, 1..=MOST_BODY_BYTES)?;
        within("stall_bytes", self.stall_bytes, 1..=usize::MAX)?;
        within("connections", self.connections, 1..=usize::MAX)?;
        within("connections_per_address", self.connections_per_address, 1..=usize::MAX)
    }

    /// A chunked body with its framing.
    pub(crate) const fn chunked_bytes(&self) -> usize {
        4 * self.body_bytes
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
            let row = format!("| `ps` | `{name}` | {value} |");
            assert!(page.contains(&row), "docs/trust.md lacks the row {row}");
        }
    }
}
