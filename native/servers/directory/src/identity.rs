//! The authorization state of a connection (RFC 4513 section 4).

/// The name that a client has authenticated as.
#[derive(Debug, Default)]
pub(crate) enum Identity {
    /// No name: before the first bind, and after an anonymous one or one that failed.
    #[default]
    Anonymous,
    Admin,
    /// An entry, by its name.
    Entry(Box<[u8]>),
}
