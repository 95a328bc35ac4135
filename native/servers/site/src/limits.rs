//! The limits of the site, each with its reason and each configurable. The limits on sockets, which all
//! servers have, are in `net`. At a limit the client receives an HTTP status (503 for too many connections);
//! no limit ends the process.
//!
//! Requests of one connection are answered one after the other, so at most one is in flight.

use http::RequestLimits;
use wire::http::{MAX_HEAD_BYTES, MAX_HEADERS};

/// The most bytes of a name, an occupation or another text of a person. Values in pools have up to 256 bytes,
/// of which a page shows 128. The limit cannot be configured.
pub const TEXT_BYTES: usize = 256;

/// The highest configurable limit of a body, as a body is held in memory until it is stored.
const MAX_BODY_BYTES: usize = 1 << 20;

net::limits! {
    /// The configured limits; missing keys have their defaults.
    pub struct Limits {
        /// Longer heads are refused (431). The parser of heads has this limit; browsers send about 1 KiB.
        head_bytes: usize = MAX_HEAD_BYTES, in 1..=MAX_HEAD_BYTES;
        /// Heads with more header lines are refused (431). The parser of heads has this limit; browsers send
        /// about 20 lines.
        headers: usize = MAX_HEADERS, in 1..=MAX_HEADERS;
        /// Longer request targets are refused (414). The longest target here has 30 bytes; RFC 9110 section
        /// 4.1 recommends to support 8,000.
        target_bytes: usize = 8_000;
        /// Longer bodies are refused (413). All properties at their longest, percent-encoded, take less than
        /// half of the limit. A chunked body may take four times the limit on the wire, which is enough for
        /// chunks of two bytes.
        body_bytes: usize = 16 << 10, in 1..=MAX_BODY_BYTES;
        /// A form with more fields is refused (400). The default allows all properties, and multi-valued
        /// properties many times.
        form_fields: usize = 128;
        /// A connection is closed after this time without a request (nginx: `keepalive_timeout 75s`); 0 for
        /// never.
        idle_ms: u64 = 75_000;
    }
}

impl Limits {
    pub(crate) const fn request(&self) -> RequestLimits {
        RequestLimits {
            head_bytes: self.head_bytes,
            headers: self.headers,
            target_bytes: self.target_bytes,
            body_bytes: self.body_bytes,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "this is a test")]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_page_on_limits_lists_every_default() {
        let page = include_str!("../../../../docs/limits.md");
        let limits = serde_json::to_value(Limits::default()).unwrap();
        for (name, value) in limits.as_object().unwrap() {
            let row = format!("| `ps` | `{name}` | {value} |");
            assert!(page.contains(&row), "docs/limits.md lacks the row {row}");
        }
    }
}
