//! Every bound the site keeps, each with its reason and each settable; those on sockets, which every server
//! here has, are in `net`. At a limit the client receives an HTTP status (503 for too many connections);
//! nothing here ends the process.
//!
//! Requests of one connection are answered one after the other, so that one is in flight at most.

use http::RequestLimits;
use wire::http::{MAX_HEAD_BYTES, MAX_HEADERS};

/// A name, an occupation and the like. Pools have values of up to 256 bytes, a page shows 128. A property
/// of people and not a limit that a configuration sets.
pub const TEXT_BYTES: usize = 256;

/// A body may be set to a mebibyte at most: it is held as a whole until it is stored.
const MAX_BODY_BYTES: usize = 1 << 20;

net::limits! {
    /// The limits in force; what a configuration does not name keeps its default.
    pub struct Limits {
        /// A head longer than this is refused (431). The reader of heads stops here; browsers send about
        /// 1 KiB.
        head_bytes: usize = MAX_HEAD_BYTES, in 1..=MAX_HEAD_BYTES;
        /// More header lines than this are refused (431). The reader of heads stops here; browsers send
        /// about 20.
        headers: usize = MAX_HEADERS, in 1..=MAX_HEADERS;
        /// A request target longer than this is refused (414). The longest here has 30 bytes; RFC 9110
        /// section 4.1 recommends to support 8,000.
        target_bytes: usize = 8_000;
        /// A body longer than this is refused (413): all properties at their longest, percent-encoded, take
        /// less than half. A chunked one may come in four times as many bytes: room for chunks of two.
        body_bytes: usize = 16 << 10, in 1..=MAX_BODY_BYTES;
        /// Fields of a form (400): every property, and each of the multi-valued ones many times.
        form_fields: usize = 128;
        /// A connection without a request is closed after this long (nginx: `keepalive_timeout 75s`); 0 for
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
