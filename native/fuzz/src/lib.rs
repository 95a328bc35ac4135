//! Fuzz targets: each accepts any bytes and panics if one of its invariants does not hold.
#![allow(clippy::expect_used, clippy::panic, reason = "a target that fails says so by panicking")]

mod ber;
mod cost;
mod filters;
mod http;
mod http_made;
mod ldap_made;
mod ldif;
mod messages;
mod names;
mod scenarios;
mod table;

/// A fuzz target, by its use of the input bytes.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// Parses the bytes, in at most this many nanoseconds per byte.
    Reads(fn(&[u8]), u64),
    /// Builds a message from the bytes. One byte may become many bytes of the message, so the time is not
    /// limited.
    Makes(fn(&[u8])),
}

impl Target {
    /// Panics if an invariant does not hold or the bytes take too long.
    pub fn run(self, bytes: &[u8]) {
        match self {
            Self::Reads(target, ns_a_byte) => cost::bounded(target, ns_a_byte, bytes),
            Self::Makes(target) => target(bytes),
        }
    }
}

/// Ten times the cost of the most expensive corpus in a build for tests. Work that is quadratic in the length
/// of its input exceeds this limit from a few kilobytes on.
const READING_NS: u64 = 500;

/// Text that needs Unicode tables takes up to a microsecond a byte and is prepared twelve times.
const NORMALISING_NS: u64 = 20_000;

/// Every byte may be a column, whose name is stored and compared with the other names: a thousand tabs take 2
/// us each with coverage counters.
const COLUMNS_NS: u64 = 5_000;

/// A line of one byte may be a redirect from a path of 8,000 bytes.
const LOCATION_NS: u64 = 50_000;

/// All fuzz targets by name. The folder of the same name in `corpus/` holds the initial inputs.
pub const TARGETS: [(&str, Target); 13] = [
    ("ber", Target::Reads(ber::target, READING_NS)),
    ("messages", Target::Reads(messages::target, READING_NS)),
    ("ldap-made", Target::Makes(ldap_made::target)),
    ("filters", Target::Reads(filters::target, READING_NS)),
    ("names", Target::Reads(names::target, NORMALISING_NS)),
    ("ldif", Target::Reads(ldif::target, READING_NS)),
    ("table", Target::Reads(table::target, COLUMNS_NS)),
    ("http-requests", Target::Reads(http::requests, READING_NS)),
    ("http-answers", Target::Reads(http::answers, READING_NS)),
    ("http-locations", Target::Reads(http::locations, LOCATION_NS)),
    ("http-made", Target::Makes(http_made::target)),
    ("scenarios", Target::Makes(scenarios::target)),
    ("templates", Target::Reads(scenarios::templates, READING_NS)),
];
