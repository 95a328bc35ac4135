//! Slow hashes, made.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::hash::{CRYPT_ROUNDS, Hash};
use crate::slow::{Argon2Kind, Failed, Work};

/// Bytes of a salt.
pub const SALT: usize = 16;

/// Bytes of argon2's key.
const KEY: usize = 32;

/// Salts of SHA-crypt are letters of its own base64.
const LETTERS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Why a value was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum MadeError {
    #[error("there is no memory for {0}; take less of it: argon2:19m:2 is what OWASP advises at least")]
    NoMemory(Hash),
    #[error("{0} is no slow hash")]
    NotSlow(Hash),
}

impl Hash {
    /// The value of `userPassword` for a password; of slow hashes only.
    pub fn value(self, password: &[u8], salt: [u8; SALT]) -> Result<Vec<u8>, MadeError> {
        let encoded = STANDARD_NO_PAD.encode(salt);
        let letters: Vec<u8> = salt.iter().map(|byte| LETTERS[usize::from(byte & 63)]).collect();
        let text = match self {
            Self::Clear | Self::Ssha | Self::Ssha512 => return Err(MadeError::NotSlow(self)),
            Self::Crypt { rounds } => {
                let key = self.key(Work::Crypt { rounds, salt: letters.clone() }, 0, password)?;
                let said = if rounds == CRYPT_ROUNDS { String::new() } else { format!("rounds={rounds}$") };
                let both = [letters, key].map(|part| String::from_utf8_lossy(&part).into_owned());
                format!("$6${said}{}${}", both[0], both[1])
            }
            Self::Pbkdf2Sha256 { rounds } => {
                let key = self.key(Work::Pbkdf2Sha256 { rounds, salt: salt.to_vec() }, 32, password)?;
                format!("{rounds}${}", ab64(&encoded, &key))
            }
            Self::Pbkdf2Sha512 { rounds } => {
                let key = self.key(Work::Pbkdf2Sha512 { rounds, salt: salt.to_vec() }, 64, password)?;
                format!("{rounds}${}", ab64(&encoded, &key))
            }
            Self::Argon2 { kib, passes } => {
                let (kind, salt) = (Argon2Kind::Id, salt.to_vec());
                let key = self.key(Work::Argon2 { kind, kib, passes, lanes: 1, salt }, KEY, password)?;
                format!("$argon2id$v=19$m={kib},t={passes},p=1${encoded}${}", STANDARD_NO_PAD.encode(key))
            }
        };
        Ok(format!("{}{text}", self.scheme()).into_bytes())
    }

    fn key(self, work: Work, length: usize, password: &[u8]) -> Result<Vec<u8>, MadeError> {
        // Parameters that `Hash` can have are within those of each.
        work.key(length, password).map_err(|Failed| MadeError::NoMemory(self))
    }
}

fn ab64(salt: &str, key: &[u8]) -> String {
    format!("{salt}${}", STANDARD_NO_PAD.encode(key)).replace('+', ".")
}
