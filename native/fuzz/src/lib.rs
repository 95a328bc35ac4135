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

/// What one does with bytes.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// Reads them, at a cost that is bounded for each.
    Reads(fn(&[u8])),
    /// Makes something of them, where one may stand for many.
    Makes(fn(&[u8])),
}

impl Target {
    /// Panics where something that must be true is not, or the bytes cost too much.
    pub fn run(self, bytes: &[u8]) {
        match self {
            Self::Reads(target) => cost::bounded(target, bytes),
            Self::Makes(target) => target(bytes),
        }
    }
}

/// All of them, by name; the folder of that name in `corpus/` is what each begins with.
pub const TARGETS: [(&str, Target); 9] = [
    ("ber", Target::Reads(ber::target)),
    ("messages", Target::Reads(messages::target)),
    ("ldap-made", Target::Makes(ldap_made::target)),
    ("filters", Target::Reads(filters::target)),
    ("names", Target::Reads(names::target)),
    ("ldif", Target::Reads(ldif::target)),
    ("http-requests", Target::Reads(http::requests)),
    ("http-answers", Target::Reads(http::answers)),
    ("http-made", Target::Makes(http_made::target)),
];
