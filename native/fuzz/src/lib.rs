//! Fuzz targets: each takes any bytes and panics where something that must be true is not.
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

/// What one does with bytes.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// Reads them, each for so many nanoseconds at most.
    Reads(fn(&[u8]), u64),
    /// Makes something of them, where one may stand for many.
    Makes(fn(&[u8])),
}

impl Target {
    /// Panics where something that must be true is not, or the bytes cost too much.
    pub fn run(self, bytes: &[u8]) {
        match self {
            Self::Reads(target, ns_a_byte) => cost::bounded(target, ns_a_byte, bytes),
            Self::Makes(target) => target(bytes),
        }
    }
}

/// Ten times what the dearest of the corpora takes in a build for tests. Work that grows with the square of its
/// input takes more from a few kilobytes on.
const READING_NS: u64 = 500;

/// A text that needs the tables of Unicode takes up to a microsecond a byte, and is prepared twelve times.
const NORMALISING_NS: u64 = 20_000;

/// A byte may be a column, whose name is kept and compared with the others: a thousand tabs take 2 us each where
/// coverage is counted.
const COLUMNS_NS: u64 = 5_000;

/// A line of one byte may be a redirect from a path of 8,000.
const LOCATION_NS: u64 = 50_000;

/// All of them, by name; the folder of that name in `corpus/` is what each begins with.
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
