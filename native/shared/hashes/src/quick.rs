//! Quick hashes: `{SCHEME}base64(digest salt)`, one digest over a password and its salt.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use crate::same;

/// The length of the longest digest and the longest salt together.
const MOST_BYTES: usize = 64 + 16;

/// The digest of a quick hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quick {
    /// `{SSHA}`
    Sha1,
    /// `{SSHA256}`
    Sha256,
    /// `{SSHA512}`
    Sha512,
}

impl Quick {
    const fn scheme(self) -> &'static [u8] {
        match self {
            Self::Sha1 => b"{SSHA}",
            Self::Sha256 => b"{SSHA256}",
            Self::Sha512 => b"{SSHA512}",
        }
    }

    const fn digest_bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha512 => 64,
        }
    }

    /// The length of a value with a salt of `salt` bytes.
    pub const fn value_bytes(self, salt: usize) -> usize {
        self.scheme().len() + (self.digest_bytes() + salt).div_ceil(3) * 4
    }

    /// Appends the value of a password with a salt of at most 16 bytes.
    pub fn write_value(self, password: &[u8], salt: &[u8], out: &mut Vec<u8>) {
        let mut room = [0; MOST_BYTES];
        let (digest_bytes, bytes) = (self.digest_bytes(), self.digest_bytes() + salt.len());
        let Some(both) = room.get_mut(..bytes) else { return };
        let (digest, behind) = both.split_at_mut(digest_bytes);
        match self {
            Self::Sha1 => digest.copy_from_slice(&digest_of::<Sha1>(password, salt)),
            Self::Sha256 => digest.copy_from_slice(&digest_of::<Sha256>(password, salt)),
            Self::Sha512 => digest.copy_from_slice(&digest_of::<Sha512>(password, salt)),
        }
        behind.copy_from_slice(salt);
        out.extend_from_slice(self.scheme());
        let start = out.len();
        out.resize(start + bytes.div_ceil(3) * 4, 0);
        // The space is exact: base64 writes four bytes for every three bytes, and for one or two bytes at the
        // end.
        let _ = STANDARD.encode_slice(both, &mut out[start..]);
    }
}

/// Whether `stored` is a value of `password`: plaintext, or one digest with or without a salt.
///
/// Slow hashes and unknown schemes never match: compared as plaintext, the hash itself would become a
/// password.
pub fn is_of(stored: &[u8], password: &[u8]) -> bool {
    let Some((scheme, rest)) = scheme_of(stored) else {
        return same(stored, password);
    };
    match scheme.to_ascii_uppercase().as_slice() {
        b"SHA" | b"SSHA" => is_digest::<Sha1>(rest, password),
        b"SHA256" | b"SSHA256" => is_digest::<Sha256>(rest, password),
        b"SHA512" | b"SSHA512" => is_digest::<Sha512>(rest, password),
        b"CLEARTEXT" => same(rest, password),
        _ => false,
    }
}

fn scheme_of(stored: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = stored.strip_prefix(b"{")?;
    let end = inner.iter().position(|byte| *byte == b'}')?;
    Some((&inner[..end], &inner[end + 1..]))
}

fn digest_of<D: Digest>(password: &[u8], salt: &[u8]) -> sha2::digest::Output<D> {
    D::new().chain_update(password).chain_update(salt).finalize()
}

fn is_digest<D: Digest>(encoded: &[u8], password: &[u8]) -> bool {
    let Ok(bytes) = STANDARD.decode(encoded) else { return false };
    let length = <D as Digest>::output_size();
    let (Some(digest), Some(salt)) = (bytes.get(..length), bytes.get(length..)) else { return false };
    same(digest, &digest_of::<D>(password, salt))
}
