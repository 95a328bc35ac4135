//! The authorization state of a connection (RFC 4513 section 4).

/// The name that a client has authenticated as.
#[derive(Debug, Default)]
pub(crate) enum Identity {
    /// No name: before the first bind, and after an anonymous or failed bind.
    #[default]
    Anonymous,
    Admin,
    /// The name of an entry.
    Entry(Box<[u8]>),
}
