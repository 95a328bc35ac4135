//! The continuation of a connection after a message.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Continue,
    /// Handles the same message again, in a turn for long requests.
    Later,
    /// Waits for the outcome of a slow hash.
    Wait,
    /// Closes: the client has unbound.
    Close,
    /// Begins a TLS handshake once the answer has been sent.
    StartTls,
    /// Closes once the client has read the notice of disconnection.
    Disconnect,
}
