//! Where one message ends and the next begins.

use crate::ber::{self, BerError};

/// Why a byte stream cannot be cut into LDAP messages any more; the connection has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The first byte opens no LDAPMessage: TLS, HTTP or noise.
    #[error("a message starts with {0:#04x}, not with a SEQUENCE: this is not LDAP")]
    NotLdap(u8),
    /// Longer than the limit in force.
    #[error("a message of {claimed} bytes, over the limit of {limit}")]
    TooLarge { claimed: usize, limit: usize },
    #[error(transparent)]
    Ber(#[from] BerError),
}

/// The length of the first message in `bytes`, header included: `None` while it is not all there.
///
/// The claimed length is checked before the bytes have come, so no memory is allocated for a false length.
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
