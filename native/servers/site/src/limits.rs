//! The limits of the site, each with its reason and each configurable. The limits on sockets, which all
//! servers have, are in `net`. At a limit the client receives an HTTP status (503 for too many connections);
//! no limit ends the process.
//!
//! Requests of one connection are answered one after the other, so at most one is in flight.

/// The most bytes of a name, an occupation or another text of a person. Values in pools have up to 256 bytes,
/// of which a page shows 128. The limit cannot be configured.
pub const TEXT_BYTES: usize = 256;

/// The highest configurable limit of a body, as a body is held in memory until it is stored.
const MAX_BODY_BYTES: usize = 1 << 20;

http::limits! {
    /// The configured limits; missing keys have their defaults.
    pub struct Limits {
        /// Longer bodies are refused (413). All properties at their longest, percent-encoded, take less than
        /// half of the limit. A chunked body may take four times the limit on the wire, which is enough for
        /// chunks of two bytes.
        body_bytes: usize = 16 << 10, in 1..=MAX_BODY_BYTES;
        /// A form with more fields is refused (400). The default allows all properties, and multi-valued
        /// properties many times.
        form_fields: usize = 128;
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
