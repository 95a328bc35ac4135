//! Boundaries of messages.

use crate::ber::{self, BerError};

/// The byte stream cannot be split into LDAP messages any more, so the connection has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The first byte begins no LDAPMessage: TLS, HTTP or random bytes.
    #[error("a message starts with {0:#04x}, not with a SEQUENCE: this is not LDAP")]
    NotLdap(u8),
    #[error("a message of {claimed} bytes, over the limit of {limit}")]
    TooLarge { claimed: usize, limit: usize },
    #[error(transparent)]
    Ber(#[from] BerError),
}

/// The length of the first message in `bytes`, including its header; `None` if the message is incomplete.
///
/// The length field is checked before the bytes have arrived, so no memory is allocated for a false length.
#[inline]
pub fn message_length(bytes: &[u8], limit: usize) -> Result<Option<usize>, FrameError> {
    match bytes.first() {
        None => return Ok(None),
        Some(&ber::tag::SEQUENCE) => {}
        Some(&other) => return Err(FrameError::NotLdap(other)),
    }
    let Some((start, length)) = ber::header(bytes)? else {
        return Ok(None);
    };
    let claimed = start + length;
    if claimed > limit {
        return Err(FrameError::TooLarge { claimed, limit });
    }
    Ok((bytes.len() >= claimed).then_some(claimed))
}
