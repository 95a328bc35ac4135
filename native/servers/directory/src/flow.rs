//! How a connection goes on.

/// What the connection does once a message has been handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Continue,
    /// It handles the same message again when one may take long.
    Later,
    /// It waits for the outcome of a slow hash.
    Wait,
    /// It closes: the client has unbound.
    Close,
    /// It begins a TLS handshake once the answer has been sent.
    StartTls,
    /// It closes once the notice of disconnection has been read.
    Disconnect,
}
