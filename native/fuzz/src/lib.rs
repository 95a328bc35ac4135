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

pub use cost::within_cost;

/// What one does with bytes.
pub type Target = fn(&[u8]);

/// All of them, by name; the folder of that name in `corpus/` is what each begins with.
pub const TARGETS: [(&str, Target); 9] = [
    ("ber", ber::target),
    ("messages", messages::target),
    ("ldap-made", ldap_made::target),
    ("filters", filters::target),
    ("names", names::target),
    ("ldif", ldif::target),
    ("http-requests", http::requests),
    ("http-answers", http::answers),
    ("http-made", http_made::target),
];
