//! Computes slow hashes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::hash::{CRYPT_ROUNDS, Hash};
use crate::slow::{Failed, Work};

pub const SALT: usize = 16;

const KEY: usize = 32;

/// The characters of SHA-crypt's base64 and of its salts.
const LETTERS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MadeError {
    #[error("there is no memory for {0}; take less of it: argon2:19m:2 is what OWASP advises at least")]
    NoMemory(Hash),
    #[error("{0} is no slow hash")]
    NotSlow(Hash),
}

impl Hash {
    /// The value of `userPassword` for a password. Slow hashes only.
    pub fn value(self, password: &[u8], salt: [u8; SALT]) -> Result<Vec<u8>, MadeError> {
        // The parameters of a `Hash` are within the limits of its algorithm, so only memory can be missing.
        let key = |salt: &[u8], length| {
            Work::new(self, salt.to_vec()).key(length, password).map_err(|Failed| MadeError::NoMemory(self))
        };
        let both = |length| {
            let parts = [&salt[..], &key(&salt, length)?].map(|part| STANDARD_NO_PAD.encode(part));
            Ok(parts.join("$"))
        };
        let text = match self {
            Self::Clear | Self::Ssha | Self::Ssha512 => return Err(MadeError::NotSlow(self)),
            Self::Crypt { rounds } => {
                let salt = salt.map(|byte| LETTERS[usize::from(byte & 63)]);
                let digest = key(&salt, 0)?;
                let said = if rounds == CRYPT_ROUNDS { String::new() } else { format!("rounds={rounds}$") };
                format!("$6${said}{}${}", String::from_utf8_lossy(&salt), String::from_utf8_lossy(&digest))
            }
            // Salt and key in ab64.
            Self::Pbkdf2Sha256 { rounds } => format!("{rounds}${}", both(32)?.replace('+', ".")),
            Self::Pbkdf2Sha512 { rounds } => format!("{rounds}${}", both(64)?.replace('+', ".")),
            Self::Argon2 { kib, passes } => {
                format!("$argon2id$v=19$m={kib},t={passes},p=1${}", both(KEY)?)
            }
        };
        Ok(format!("{}{text}", self.scheme()).into_bytes())
    }
}
